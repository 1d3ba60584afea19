from typing import Literal

ProjectedSgdRunBatches = Literal["cyclic", "shuffled", "without-replacement"]

PROJECTED_SGD_RUN_BATCHES_VALUES: set[ProjectedSgdRunBatches] = {
    "cyclic",
    "shuffled",
    "without-replacement",
}


def check_projected_sgd_run_batches(value: str) -> ProjectedSgdRunBatches:
    if value in PROJECTED_SGD_RUN_BATCHES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_RUN_BATCHES_VALUES!r}")

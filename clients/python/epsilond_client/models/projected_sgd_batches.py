from typing import Literal

ProjectedSgdBatches = Literal["cyclic", "shuffled", "without-replacement"]

PROJECTED_SGD_BATCHES_VALUES: set[ProjectedSgdBatches] = {
    "cyclic",
    "shuffled",
    "without-replacement",
}


def check_projected_sgd_batches(value: str) -> ProjectedSgdBatches:
    if value in PROJECTED_SGD_BATCHES_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_BATCHES_VALUES!r}")

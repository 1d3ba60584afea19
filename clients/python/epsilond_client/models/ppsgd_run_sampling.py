from typing import Literal

PpsgdRunSampling = Literal["full", "poisson", "without-replacement"]

PPSGD_RUN_SAMPLING_VALUES: set[PpsgdRunSampling] = {
    "full",
    "poisson",
    "without-replacement",
}


def check_ppsgd_run_sampling(value: str) -> PpsgdRunSampling:
    if value in PPSGD_RUN_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_RUN_SAMPLING_VALUES!r}")

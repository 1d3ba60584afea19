from typing import Literal

PpsgdSweepProblemSampling = Literal["full", "poisson", "without-replacement"]

PPSGD_SWEEP_PROBLEM_SAMPLING_VALUES: set[PpsgdSweepProblemSampling] = {
    "full",
    "poisson",
    "without-replacement",
}


def check_ppsgd_sweep_problem_sampling(value: str) -> PpsgdSweepProblemSampling:
    if value in PPSGD_SWEEP_PROBLEM_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_SWEEP_PROBLEM_SAMPLING_VALUES!r}")

from typing import Literal

PpsgdProblemSampling = Literal["full", "poisson", "without-replacement"]

PPSGD_PROBLEM_SAMPLING_VALUES: set[PpsgdProblemSampling] = {
    "full",
    "poisson",
    "without-replacement",
}


def check_ppsgd_problem_sampling(value: str) -> PpsgdProblemSampling:
    if value in PPSGD_PROBLEM_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_PROBLEM_SAMPLING_VALUES!r}")

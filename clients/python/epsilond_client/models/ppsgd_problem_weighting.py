from typing import Literal

PpsgdProblemWeighting = Literal["clients", "samples"]

PPSGD_PROBLEM_WEIGHTING_VALUES: set[PpsgdProblemWeighting] = {
    "clients",
    "samples",
}


def check_ppsgd_problem_weighting(value: str) -> PpsgdProblemWeighting:
    if value in PPSGD_PROBLEM_WEIGHTING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_PROBLEM_WEIGHTING_VALUES!r}")

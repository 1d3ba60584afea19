from typing import Literal

PpsgdSweepProblemWeighting = Literal["clients", "samples"]

PPSGD_SWEEP_PROBLEM_WEIGHTING_VALUES: set[PpsgdSweepProblemWeighting] = {
    "clients",
    "samples",
}


def check_ppsgd_sweep_problem_weighting(value: str) -> PpsgdSweepProblemWeighting:
    if value in PPSGD_SWEEP_PROBLEM_WEIGHTING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_SWEEP_PROBLEM_WEIGHTING_VALUES!r}")

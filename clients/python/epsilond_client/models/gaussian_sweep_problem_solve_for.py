from typing import Literal

GaussianSweepProblemSolveFor = Literal["delta", "epsilon", "noise_multiplier", "rate", "rounds"]

GAUSSIAN_SWEEP_PROBLEM_SOLVE_FOR_VALUES: set[GaussianSweepProblemSolveFor] = {
    "delta",
    "epsilon",
    "noise_multiplier",
    "rate",
    "rounds",
}


def check_gaussian_sweep_problem_solve_for(value: str) -> GaussianSweepProblemSolveFor:
    if value in GAUSSIAN_SWEEP_PROBLEM_SOLVE_FOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GAUSSIAN_SWEEP_PROBLEM_SOLVE_FOR_VALUES!r}")

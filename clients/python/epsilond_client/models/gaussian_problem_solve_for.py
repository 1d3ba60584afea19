from typing import Literal

GaussianProblemSolveFor = Literal["delta", "epsilon", "noise_multiplier", "rate", "rounds"]

GAUSSIAN_PROBLEM_SOLVE_FOR_VALUES: set[GaussianProblemSolveFor] = {
    "delta",
    "epsilon",
    "noise_multiplier",
    "rate",
    "rounds",
}


def check_gaussian_problem_solve_for(value: str) -> GaussianProblemSolveFor:
    if value in GAUSSIAN_PROBLEM_SOLVE_FOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GAUSSIAN_PROBLEM_SOLVE_FOR_VALUES!r}")

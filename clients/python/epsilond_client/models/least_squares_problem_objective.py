from typing import Literal

LeastSquaresProblemObjective = Literal["empirical", "population"]

LEAST_SQUARES_PROBLEM_OBJECTIVE_VALUES: set[LeastSquaresProblemObjective] = {
    "empirical",
    "population",
}


def check_least_squares_problem_objective(value: str) -> LeastSquaresProblemObjective:
    if value in LEAST_SQUARES_PROBLEM_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LEAST_SQUARES_PROBLEM_OBJECTIVE_VALUES!r}")

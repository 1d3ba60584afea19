from typing import Literal

LowerBoundProblem = Literal["empirical", "population"]

LOWER_BOUND_PROBLEM_VALUES: set[LowerBoundProblem] = {
    "empirical",
    "population",
}


def check_lower_bound_problem(value: str) -> LowerBoundProblem:
    if value in LOWER_BOUND_PROBLEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LOWER_BOUND_PROBLEM_VALUES!r}")

from typing import Literal

LinearProblemObjective = Literal["empirical", "population"]

LINEAR_PROBLEM_OBJECTIVE_VALUES: set[LinearProblemObjective] = {
    "empirical",
    "population",
}


def check_linear_problem_objective(value: str) -> LinearProblemObjective:
    if value in LINEAR_PROBLEM_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LINEAR_PROBLEM_OBJECTIVE_VALUES!r}")

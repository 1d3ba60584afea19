from typing import Literal

LogisticProblemObjective = Literal["empirical", "population"]

LOGISTIC_PROBLEM_OBJECTIVE_VALUES: set[LogisticProblemObjective] = {
    "empirical",
    "population",
}


def check_logistic_problem_objective(value: str) -> LogisticProblemObjective:
    if value in LOGISTIC_PROBLEM_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LOGISTIC_PROBLEM_OBJECTIVE_VALUES!r}")

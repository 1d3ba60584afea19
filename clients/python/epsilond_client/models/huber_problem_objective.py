from typing import Literal

HuberProblemObjective = Literal["empirical", "population"]

HUBER_PROBLEM_OBJECTIVE_VALUES: set[HuberProblemObjective] = {
    "empirical",
    "population",
}


def check_huber_problem_objective(value: str) -> HuberProblemObjective:
    if value in HUBER_PROBLEM_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {HUBER_PROBLEM_OBJECTIVE_VALUES!r}")

from typing import Literal

AcceleratedRiskProblemProblem = Literal["empirical", "population"]

ACCELERATED_RISK_PROBLEM_PROBLEM_VALUES: set[AcceleratedRiskProblemProblem] = {
    "empirical",
    "population",
}


def check_accelerated_risk_problem_problem(value: str) -> AcceleratedRiskProblemProblem:
    if value in ACCELERATED_RISK_PROBLEM_PROBLEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCELERATED_RISK_PROBLEM_PROBLEM_VALUES!r}")

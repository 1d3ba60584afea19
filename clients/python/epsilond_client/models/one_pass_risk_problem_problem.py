from typing import Literal

OnePassRiskProblemProblem = Literal["empirical", "population"]

ONE_PASS_RISK_PROBLEM_PROBLEM_VALUES: set[OnePassRiskProblemProblem] = {
    "empirical",
    "population",
}


def check_one_pass_risk_problem_problem(value: str) -> OnePassRiskProblemProblem:
    if value in ONE_PASS_RISK_PROBLEM_PROBLEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ONE_PASS_RISK_PROBLEM_PROBLEM_VALUES!r}")

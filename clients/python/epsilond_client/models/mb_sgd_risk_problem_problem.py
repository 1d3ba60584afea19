from typing import Literal

MbSgdRiskProblemProblem = Literal["empirical", "population"]

MB_SGD_RISK_PROBLEM_PROBLEM_VALUES: set[MbSgdRiskProblemProblem] = {
    "empirical",
    "population",
}


def check_mb_sgd_risk_problem_problem(value: str) -> MbSgdRiskProblemProblem:
    if value in MB_SGD_RISK_PROBLEM_PROBLEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MB_SGD_RISK_PROBLEM_PROBLEM_VALUES!r}")

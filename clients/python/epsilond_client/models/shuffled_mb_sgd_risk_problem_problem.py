from typing import Literal

ShuffledMbSgdRiskProblemProblem = Literal["empirical", "population"]

SHUFFLED_MB_SGD_RISK_PROBLEM_PROBLEM_VALUES: set[ShuffledMbSgdRiskProblemProblem] = {
    "empirical",
    "population",
}


def check_shuffled_mb_sgd_risk_problem_problem(value: str) -> ShuffledMbSgdRiskProblemProblem:
    if value in SHUFFLED_MB_SGD_RISK_PROBLEM_PROBLEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHUFFLED_MB_SGD_RISK_PROBLEM_PROBLEM_VALUES!r}")

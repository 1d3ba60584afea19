from typing import Literal

ShuffledMbSgdRiskProblemTrust = Literal["central", "local", "shuffle"]

SHUFFLED_MB_SGD_RISK_PROBLEM_TRUST_VALUES: set[ShuffledMbSgdRiskProblemTrust] = {
    "central",
    "local",
    "shuffle",
}


def check_shuffled_mb_sgd_risk_problem_trust(value: str) -> ShuffledMbSgdRiskProblemTrust:
    if value in SHUFFLED_MB_SGD_RISK_PROBLEM_TRUST_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHUFFLED_MB_SGD_RISK_PROBLEM_TRUST_VALUES!r}")

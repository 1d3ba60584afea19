from typing import Literal

AcceleratedRiskProblemTrust = Literal["central", "local", "shuffle"]

ACCELERATED_RISK_PROBLEM_TRUST_VALUES: set[AcceleratedRiskProblemTrust] = {
    "central",
    "local",
    "shuffle",
}


def check_accelerated_risk_problem_trust(value: str) -> AcceleratedRiskProblemTrust:
    if value in ACCELERATED_RISK_PROBLEM_TRUST_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCELERATED_RISK_PROBLEM_TRUST_VALUES!r}")

from typing import Literal

MbSgdRiskProblemTrust = Literal["central", "local", "shuffle"]

MB_SGD_RISK_PROBLEM_TRUST_VALUES: set[MbSgdRiskProblemTrust] = {
    "central",
    "local",
    "shuffle",
}


def check_mb_sgd_risk_problem_trust(value: str) -> MbSgdRiskProblemTrust:
    if value in MB_SGD_RISK_PROBLEM_TRUST_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MB_SGD_RISK_PROBLEM_TRUST_VALUES!r}")

from typing import Literal

OnePassRiskProblemTrust = Literal["central", "local", "shuffle"]

ONE_PASS_RISK_PROBLEM_TRUST_VALUES: set[OnePassRiskProblemTrust] = {
    "central",
    "local",
    "shuffle",
}


def check_one_pass_risk_problem_trust(value: str) -> OnePassRiskProblemTrust:
    if value in ONE_PASS_RISK_PROBLEM_TRUST_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ONE_PASS_RISK_PROBLEM_TRUST_VALUES!r}")

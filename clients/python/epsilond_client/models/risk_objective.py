from typing import Literal

RiskObjective = Literal["empirical", "personalized", "population"]

RISK_OBJECTIVE_VALUES: set[RiskObjective] = {
    "empirical",
    "personalized",
    "population",
}


def check_risk_objective(value: str) -> RiskObjective:
    if value in RISK_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RISK_OBJECTIVE_VALUES!r}")

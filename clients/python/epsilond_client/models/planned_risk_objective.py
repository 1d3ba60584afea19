from typing import Literal

PlannedRiskObjective = Literal["empirical", "personalized", "population"]

PLANNED_RISK_OBJECTIVE_VALUES: set[PlannedRiskObjective] = {
    "empirical",
    "personalized",
    "population",
}


def check_planned_risk_objective(value: str) -> PlannedRiskObjective:
    if value in PLANNED_RISK_OBJECTIVE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLANNED_RISK_OBJECTIVE_VALUES!r}")

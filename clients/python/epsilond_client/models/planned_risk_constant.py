from typing import Literal

PlannedRiskConstant = Literal["explicit", "hidden"]

PLANNED_RISK_CONSTANT_VALUES: set[PlannedRiskConstant] = {
    "explicit",
    "hidden",
}


def check_planned_risk_constant(value: str) -> PlannedRiskConstant:
    if value in PLANNED_RISK_CONSTANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLANNED_RISK_CONSTANT_VALUES!r}")

from typing import Literal

PlannedRiskValueType1 = Literal["-unbounded", "unbounded"]

PLANNED_RISK_VALUE_TYPE_1_VALUES: set[PlannedRiskValueType1] = {
    "-unbounded",
    "unbounded",
}


def check_planned_risk_value_type_1(value: str) -> PlannedRiskValueType1:
    if value in PLANNED_RISK_VALUE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLANNED_RISK_VALUE_TYPE_1_VALUES!r}")

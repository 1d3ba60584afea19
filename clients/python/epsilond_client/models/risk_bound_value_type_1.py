from typing import Literal

RiskBoundValueType1 = Literal["-unbounded", "unbounded"]

RISK_BOUND_VALUE_TYPE_1_VALUES: set[RiskBoundValueType1] = {
    "-unbounded",
    "unbounded",
}


def check_risk_bound_value_type_1(value: str) -> RiskBoundValueType1:
    if value in RISK_BOUND_VALUE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RISK_BOUND_VALUE_TYPE_1_VALUES!r}")

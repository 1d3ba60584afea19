from typing import Literal

TriedRiskType1 = Literal["-unbounded", "unbounded"]

TRIED_RISK_TYPE_1_VALUES: set[TriedRiskType1] = {
    "-unbounded",
    "unbounded",
}


def check_tried_risk_type_1(value: str) -> TriedRiskType1:
    if value in TRIED_RISK_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TRIED_RISK_TYPE_1_VALUES!r}")

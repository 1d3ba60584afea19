from typing import Literal

SharingPointExcessRiskType1 = Literal["-unbounded", "unbounded"]

SHARING_POINT_EXCESS_RISK_TYPE_1_VALUES: set[SharingPointExcessRiskType1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_point_excess_risk_type_1(value: str) -> SharingPointExcessRiskType1:
    if value in SHARING_POINT_EXCESS_RISK_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHARING_POINT_EXCESS_RISK_TYPE_1_VALUES!r}")

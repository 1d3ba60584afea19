from typing import Literal

SharingPointProvedExcessRiskType1 = Literal["-unbounded", "unbounded"]

SHARING_POINT_PROVED_EXCESS_RISK_TYPE_1_VALUES: set[SharingPointProvedExcessRiskType1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_point_proved_excess_risk_type_1(value: str) -> SharingPointProvedExcessRiskType1:
    if value in SHARING_POINT_PROVED_EXCESS_RISK_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHARING_POINT_PROVED_EXCESS_RISK_TYPE_1_VALUES!r}")

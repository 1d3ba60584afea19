from typing import Literal

SharingPointExcessRiskAtStepType0Type1 = Literal["-unbounded", "unbounded"]

SHARING_POINT_EXCESS_RISK_AT_STEP_TYPE_0_TYPE_1_VALUES: set[SharingPointExcessRiskAtStepType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_point_excess_risk_at_step_type_0_type_1(value: str) -> SharingPointExcessRiskAtStepType0Type1:
    if value in SHARING_POINT_EXCESS_RISK_AT_STEP_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SHARING_POINT_EXCESS_RISK_AT_STEP_TYPE_0_TYPE_1_VALUES!r}"
    )

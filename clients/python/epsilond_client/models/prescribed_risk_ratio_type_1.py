from typing import Literal

PrescribedRiskRatioType1 = Literal["-unbounded", "unbounded"]

PRESCRIBED_RISK_RATIO_TYPE_1_VALUES: set[PrescribedRiskRatioType1] = {
    "-unbounded",
    "unbounded",
}


def check_prescribed_risk_ratio_type_1(value: str) -> PrescribedRiskRatioType1:
    if value in PRESCRIBED_RISK_RATIO_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRESCRIBED_RISK_RATIO_TYPE_1_VALUES!r}")

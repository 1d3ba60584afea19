from typing import Literal

PrescribedRiskCertifiedNoiseType1 = Literal["-unbounded", "unbounded"]

PRESCRIBED_RISK_CERTIFIED_NOISE_TYPE_1_VALUES: set[PrescribedRiskCertifiedNoiseType1] = {
    "-unbounded",
    "unbounded",
}


def check_prescribed_risk_certified_noise_type_1(value: str) -> PrescribedRiskCertifiedNoiseType1:
    if value in PRESCRIBED_RISK_CERTIFIED_NOISE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRESCRIBED_RISK_CERTIFIED_NOISE_TYPE_1_VALUES!r}")

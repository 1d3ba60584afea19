from typing import Literal

PrescribedRiskPrintedNoiseType1 = Literal["-unbounded", "unbounded"]

PRESCRIBED_RISK_PRINTED_NOISE_TYPE_1_VALUES: set[PrescribedRiskPrintedNoiseType1] = {
    "-unbounded",
    "unbounded",
}


def check_prescribed_risk_printed_noise_type_1(value: str) -> PrescribedRiskPrintedNoiseType1:
    if value in PRESCRIBED_RISK_PRINTED_NOISE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRESCRIBED_RISK_PRINTED_NOISE_TYPE_1_VALUES!r}")

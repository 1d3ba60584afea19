from typing import Literal

RiskBoundConstant = Literal["explicit", "hidden"]

RISK_BOUND_CONSTANT_VALUES: set[RiskBoundConstant] = {
    "explicit",
    "hidden",
}


def check_risk_bound_constant(value: str) -> RiskBoundConstant:
    if value in RISK_BOUND_CONSTANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RISK_BOUND_CONSTANT_VALUES!r}")

from typing import Literal

UpperBoundConstant = Literal["explicit", "hidden"]

UPPER_BOUND_CONSTANT_VALUES: set[UpperBoundConstant] = {
    "explicit",
    "hidden",
}


def check_upper_bound_constant(value: str) -> UpperBoundConstant:
    if value in UPPER_BOUND_CONSTANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UPPER_BOUND_CONSTANT_VALUES!r}")

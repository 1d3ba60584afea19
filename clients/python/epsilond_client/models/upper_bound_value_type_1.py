from typing import Literal

UpperBoundValueType1 = Literal["-unbounded", "unbounded"]

UPPER_BOUND_VALUE_TYPE_1_VALUES: set[UpperBoundValueType1] = {
    "-unbounded",
    "unbounded",
}


def check_upper_bound_value_type_1(value: str) -> UpperBoundValueType1:
    if value in UPPER_BOUND_VALUE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UPPER_BOUND_VALUE_TYPE_1_VALUES!r}")

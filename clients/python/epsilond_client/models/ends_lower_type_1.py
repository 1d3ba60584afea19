from typing import Literal

EndsLowerType1 = Literal["-unbounded", "unbounded"]

ENDS_LOWER_TYPE_1_VALUES: set[EndsLowerType1] = {
    "-unbounded",
    "unbounded",
}


def check_ends_lower_type_1(value: str) -> EndsLowerType1:
    if value in ENDS_LOWER_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENDS_LOWER_TYPE_1_VALUES!r}")

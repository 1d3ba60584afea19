from typing import Literal

EndsUpperType1 = Literal["-unbounded", "unbounded"]

ENDS_UPPER_TYPE_1_VALUES: set[EndsUpperType1] = {
    "-unbounded",
    "unbounded",
}


def check_ends_upper_type_1(value: str) -> EndsUpperType1:
    if value in ENDS_UPPER_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENDS_UPPER_TYPE_1_VALUES!r}")

from typing import Literal

SpreadLargestType1 = Literal["-unbounded", "unbounded"]

SPREAD_LARGEST_TYPE_1_VALUES: set[SpreadLargestType1] = {
    "-unbounded",
    "unbounded",
}


def check_spread_largest_type_1(value: str) -> SpreadLargestType1:
    if value in SPREAD_LARGEST_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SPREAD_LARGEST_TYPE_1_VALUES!r}")

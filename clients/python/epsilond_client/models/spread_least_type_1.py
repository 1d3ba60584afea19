from typing import Literal

SpreadLeastType1 = Literal["-unbounded", "unbounded"]

SPREAD_LEAST_TYPE_1_VALUES: set[SpreadLeastType1] = {
    "-unbounded",
    "unbounded",
}


def check_spread_least_type_1(value: str) -> SpreadLeastType1:
    if value in SPREAD_LEAST_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SPREAD_LEAST_TYPE_1_VALUES!r}")

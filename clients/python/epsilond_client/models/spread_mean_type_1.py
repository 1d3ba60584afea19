from typing import Literal

SpreadMeanType1 = Literal["-unbounded", "unbounded"]

SPREAD_MEAN_TYPE_1_VALUES: set[SpreadMeanType1] = {
    "-unbounded",
    "unbounded",
}


def check_spread_mean_type_1(value: str) -> SpreadMeanType1:
    if value in SPREAD_MEAN_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SPREAD_MEAN_TYPE_1_VALUES!r}")

from typing import Literal

MeasuredMeanType1 = Literal["-unbounded", "unbounded"]

MEASURED_MEAN_TYPE_1_VALUES: set[MeasuredMeanType1] = {
    "-unbounded",
    "unbounded",
}


def check_measured_mean_type_1(value: str) -> MeasuredMeanType1:
    if value in MEASURED_MEAN_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MEASURED_MEAN_TYPE_1_VALUES!r}")

from typing import Literal

MeasuredUpperType1 = Literal["-unbounded", "unbounded"]

MEASURED_UPPER_TYPE_1_VALUES: set[MeasuredUpperType1] = {
    "-unbounded",
    "unbounded",
}


def check_measured_upper_type_1(value: str) -> MeasuredUpperType1:
    if value in MEASURED_UPPER_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MEASURED_UPPER_TYPE_1_VALUES!r}")

from typing import Literal

MeasuredLowerType1 = Literal["-unbounded", "unbounded"]

MEASURED_LOWER_TYPE_1_VALUES: set[MeasuredLowerType1] = {
    "-unbounded",
    "unbounded",
}


def check_measured_lower_type_1(value: str) -> MeasuredLowerType1:
    if value in MEASURED_LOWER_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MEASURED_LOWER_TYPE_1_VALUES!r}")

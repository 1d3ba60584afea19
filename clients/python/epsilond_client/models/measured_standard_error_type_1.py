from typing import Literal

MeasuredStandardErrorType1 = Literal["-unbounded", "unbounded"]

MEASURED_STANDARD_ERROR_TYPE_1_VALUES: set[MeasuredStandardErrorType1] = {
    "-unbounded",
    "unbounded",
}


def check_measured_standard_error_type_1(value: str) -> MeasuredStandardErrorType1:
    if value in MEASURED_STANDARD_ERROR_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MEASURED_STANDARD_ERROR_TYPE_1_VALUES!r}")

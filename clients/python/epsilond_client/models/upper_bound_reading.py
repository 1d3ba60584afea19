from typing import Literal

UpperBoundReading = Literal["complete", "corrected", "informal", "statement"]

UPPER_BOUND_READING_VALUES: set[UpperBoundReading] = {
    "complete",
    "corrected",
    "informal",
    "statement",
}


def check_upper_bound_reading(value: str) -> UpperBoundReading:
    if value in UPPER_BOUND_READING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UPPER_BOUND_READING_VALUES!r}")

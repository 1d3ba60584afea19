from typing import Literal

Reading = Literal["corrected", "printed"]

READING_VALUES: set[Reading] = {
    "corrected",
    "printed",
}


def check_reading(value: str) -> Reading:
    if value in READING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {READING_VALUES!r}")

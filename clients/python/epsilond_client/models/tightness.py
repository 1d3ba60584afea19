from typing import Literal

Tightness = Literal["proved", "unknown", "witnessed"]

TIGHTNESS_VALUES: set[Tightness] = {
    "proved",
    "unknown",
    "witnessed",
}


def check_tightness(value: str) -> Tightness:
    if value in TIGHTNESS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TIGHTNESS_VALUES!r}")

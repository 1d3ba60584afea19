from typing import Literal

AxisScale = Literal["categories", "linear", "log"]

AXIS_SCALE_VALUES: set[AxisScale] = {
    "categories",
    "linear",
    "log",
}


def check_axis_scale(value: str) -> AxisScale:
    if value in AXIS_SCALE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AXIS_SCALE_VALUES!r}")

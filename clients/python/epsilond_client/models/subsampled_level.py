from typing import Literal

SubsampledLevel = Literal["clients", "records"]

SUBSAMPLED_LEVEL_VALUES: set[SubsampledLevel] = {
    "clients",
    "records",
}


def check_subsampled_level(value: str) -> SubsampledLevel:
    if value in SUBSAMPLED_LEVEL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SUBSAMPLED_LEVEL_VALUES!r}")

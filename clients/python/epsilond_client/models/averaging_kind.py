from typing import Literal

AveragingKind = Literal["geometric", "uniform"]

AVERAGING_KIND_VALUES: set[AveragingKind] = {
    "geometric",
    "uniform",
}


def check_averaging_kind(value: str) -> AveragingKind:
    if value in AVERAGING_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {AVERAGING_KIND_VALUES!r}")

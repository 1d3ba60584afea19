from typing import Literal

PpsgdRunWeighting = Literal["clients", "samples"]

PPSGD_RUN_WEIGHTING_VALUES: set[PpsgdRunWeighting] = {
    "clients",
    "samples",
}


def check_ppsgd_run_weighting(value: str) -> PpsgdRunWeighting:
    if value in PPSGD_RUN_WEIGHTING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_RUN_WEIGHTING_VALUES!r}")

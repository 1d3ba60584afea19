from typing import Literal

PpsgdSweepProblemReadingsItem = Literal["experimental", "statement"]

PPSGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES: set[PpsgdSweepProblemReadingsItem] = {
    "experimental",
    "statement",
}


def check_ppsgd_sweep_problem_readings_item(value: str) -> PpsgdSweepProblemReadingsItem:
    if value in PPSGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES!r}")

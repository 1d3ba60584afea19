from typing import Literal

PpsgdProblemReadingsItem = Literal["experimental", "statement"]

PPSGD_PROBLEM_READINGS_ITEM_VALUES: set[PpsgdProblemReadingsItem] = {
    "experimental",
    "statement",
}


def check_ppsgd_problem_readings_item(value: str) -> PpsgdProblemReadingsItem:
    if value in PPSGD_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_PROBLEM_READINGS_ITEM_VALUES!r}")

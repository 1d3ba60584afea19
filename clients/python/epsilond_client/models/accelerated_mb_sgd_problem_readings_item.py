from typing import Literal

AcceleratedMbSgdProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

ACCELERATED_MB_SGD_PROBLEM_READINGS_ITEM_VALUES: set[AcceleratedMbSgdProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_accelerated_mb_sgd_problem_readings_item(value: str) -> AcceleratedMbSgdProblemReadingsItem:
    if value in ACCELERATED_MB_SGD_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCELERATED_MB_SGD_PROBLEM_READINGS_ITEM_VALUES!r}")

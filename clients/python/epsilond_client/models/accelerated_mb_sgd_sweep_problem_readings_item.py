from typing import Literal

AcceleratedMbSgdSweepProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

ACCELERATED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES: set[AcceleratedMbSgdSweepProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_accelerated_mb_sgd_sweep_problem_readings_item(value: str) -> AcceleratedMbSgdSweepProblemReadingsItem:
    if value in ACCELERATED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ACCELERATED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES!r}"
    )

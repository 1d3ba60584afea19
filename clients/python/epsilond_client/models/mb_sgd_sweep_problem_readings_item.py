from typing import Literal

MbSgdSweepProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES: set[MbSgdSweepProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_mb_sgd_sweep_problem_readings_item(value: str) -> MbSgdSweepProblemReadingsItem:
    if value in MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES!r}")

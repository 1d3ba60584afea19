from typing import Literal

ShuffledMbSgdSweepProblemReadingsItem = Literal["corrected", "statement"]

SHUFFLED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES: set[ShuffledMbSgdSweepProblemReadingsItem] = {
    "corrected",
    "statement",
}


def check_shuffled_mb_sgd_sweep_problem_readings_item(value: str) -> ShuffledMbSgdSweepProblemReadingsItem:
    if value in SHUFFLED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SHUFFLED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES!r}"
    )

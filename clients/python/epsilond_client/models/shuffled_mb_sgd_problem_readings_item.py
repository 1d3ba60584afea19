from typing import Literal

ShuffledMbSgdProblemReadingsItem = Literal["corrected", "statement"]

SHUFFLED_MB_SGD_PROBLEM_READINGS_ITEM_VALUES: set[ShuffledMbSgdProblemReadingsItem] = {
    "corrected",
    "statement",
}


def check_shuffled_mb_sgd_problem_readings_item(value: str) -> ShuffledMbSgdProblemReadingsItem:
    if value in SHUFFLED_MB_SGD_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHUFFLED_MB_SGD_PROBLEM_READINGS_ITEM_VALUES!r}")

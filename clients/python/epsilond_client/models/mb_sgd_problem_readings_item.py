from typing import Literal

MbSgdProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

MB_SGD_PROBLEM_READINGS_ITEM_VALUES: set[MbSgdProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_mb_sgd_problem_readings_item(value: str) -> MbSgdProblemReadingsItem:
    if value in MB_SGD_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MB_SGD_PROBLEM_READINGS_ITEM_VALUES!r}")

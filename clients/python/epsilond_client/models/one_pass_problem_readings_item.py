from typing import Literal

OnePassProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

ONE_PASS_PROBLEM_READINGS_ITEM_VALUES: set[OnePassProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_one_pass_problem_readings_item(value: str) -> OnePassProblemReadingsItem:
    if value in ONE_PASS_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ONE_PASS_PROBLEM_READINGS_ITEM_VALUES!r}")

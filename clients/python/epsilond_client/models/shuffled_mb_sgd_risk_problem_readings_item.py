from typing import Literal

ShuffledMbSgdRiskProblemReadingsItem = Literal["corrected", "statement"]

SHUFFLED_MB_SGD_RISK_PROBLEM_READINGS_ITEM_VALUES: set[ShuffledMbSgdRiskProblemReadingsItem] = {
    "corrected",
    "statement",
}


def check_shuffled_mb_sgd_risk_problem_readings_item(value: str) -> ShuffledMbSgdRiskProblemReadingsItem:
    if value in SHUFFLED_MB_SGD_RISK_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {SHUFFLED_MB_SGD_RISK_PROBLEM_READINGS_ITEM_VALUES!r}"
    )

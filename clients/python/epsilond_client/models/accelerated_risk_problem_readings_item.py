from typing import Literal

AcceleratedRiskProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

ACCELERATED_RISK_PROBLEM_READINGS_ITEM_VALUES: set[AcceleratedRiskProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_accelerated_risk_problem_readings_item(value: str) -> AcceleratedRiskProblemReadingsItem:
    if value in ACCELERATED_RISK_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ACCELERATED_RISK_PROBLEM_READINGS_ITEM_VALUES!r}")

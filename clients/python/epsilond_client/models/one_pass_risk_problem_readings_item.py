from typing import Literal

OnePassRiskProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

ONE_PASS_RISK_PROBLEM_READINGS_ITEM_VALUES: set[OnePassRiskProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_one_pass_risk_problem_readings_item(value: str) -> OnePassRiskProblemReadingsItem:
    if value in ONE_PASS_RISK_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ONE_PASS_RISK_PROBLEM_READINGS_ITEM_VALUES!r}")

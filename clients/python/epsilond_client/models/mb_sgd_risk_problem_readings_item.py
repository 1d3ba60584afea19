from typing import Literal

MbSgdRiskProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

MB_SGD_RISK_PROBLEM_READINGS_ITEM_VALUES: set[MbSgdRiskProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_mb_sgd_risk_problem_readings_item(value: str) -> MbSgdRiskProblemReadingsItem:
    if value in MB_SGD_RISK_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MB_SGD_RISK_PROBLEM_READINGS_ITEM_VALUES!r}")

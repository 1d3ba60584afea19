from typing import Literal

Mu2SgdProblemReadingsItem = Literal["corrected", "statement"]

MU_2_SGD_PROBLEM_READINGS_ITEM_VALUES: set[Mu2SgdProblemReadingsItem] = {
    "corrected",
    "statement",
}


def check_mu_2_sgd_problem_readings_item(value: str) -> Mu2SgdProblemReadingsItem:
    if value in MU_2_SGD_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MU_2_SGD_PROBLEM_READINGS_ITEM_VALUES!r}")

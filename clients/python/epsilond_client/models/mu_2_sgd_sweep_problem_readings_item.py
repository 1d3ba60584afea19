from typing import Literal

Mu2SgdSweepProblemReadingsItem = Literal["corrected", "statement"]

MU_2_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES: set[Mu2SgdSweepProblemReadingsItem] = {
    "corrected",
    "statement",
}


def check_mu_2_sgd_sweep_problem_readings_item(value: str) -> Mu2SgdSweepProblemReadingsItem:
    if value in MU_2_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MU_2_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES!r}")

from typing import Literal

OnePassAcceleratedMbSgdSweepProblemReadingsItem = Literal["complete", "corrected", "experimental", "informal", "proof"]

ONE_PASS_ACCELERATED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES: set[OnePassAcceleratedMbSgdSweepProblemReadingsItem] = {
    "complete",
    "corrected",
    "experimental",
    "informal",
    "proof",
}


def check_one_pass_accelerated_mb_sgd_sweep_problem_readings_item(
    value: str,
) -> OnePassAcceleratedMbSgdSweepProblemReadingsItem:
    if value in ONE_PASS_ACCELERATED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ONE_PASS_ACCELERATED_MB_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES!r}"
    )

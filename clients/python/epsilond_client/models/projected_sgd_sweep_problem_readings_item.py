from typing import Literal

ProjectedSgdSweepProblemReadingsItem = Literal[
    "experimental", "lipschitz", "proof", "smooth", "statement", "strongly-convex"
]

PROJECTED_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES: set[ProjectedSgdSweepProblemReadingsItem] = {
    "experimental",
    "lipschitz",
    "proof",
    "smooth",
    "statement",
    "strongly-convex",
}


def check_projected_sgd_sweep_problem_readings_item(value: str) -> ProjectedSgdSweepProblemReadingsItem:
    if value in PROJECTED_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_SWEEP_PROBLEM_READINGS_ITEM_VALUES!r}")

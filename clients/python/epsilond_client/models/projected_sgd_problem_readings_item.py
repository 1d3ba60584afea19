from typing import Literal

ProjectedSgdProblemReadingsItem = Literal[
    "experimental", "lipschitz", "proof", "smooth", "statement", "strongly-convex"
]

PROJECTED_SGD_PROBLEM_READINGS_ITEM_VALUES: set[ProjectedSgdProblemReadingsItem] = {
    "experimental",
    "lipschitz",
    "proof",
    "smooth",
    "statement",
    "strongly-convex",
}


def check_projected_sgd_problem_readings_item(value: str) -> ProjectedSgdProblemReadingsItem:
    if value in PROJECTED_SGD_PROBLEM_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_PROBLEM_READINGS_ITEM_VALUES!r}")

from typing import Literal

TheoremDetailReadingsItem = Literal["corrected", "printed"]

THEOREM_DETAIL_READINGS_ITEM_VALUES: set[TheoremDetailReadingsItem] = {
    "corrected",
    "printed",
}


def check_theorem_detail_readings_item(value: str) -> TheoremDetailReadingsItem:
    if value in THEOREM_DETAIL_READINGS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {THEOREM_DETAIL_READINGS_ITEM_VALUES!r}")

from typing import Literal

ListedConditionKind = Literal["checked", "declared", "undecidable"]

LISTED_CONDITION_KIND_VALUES: set[ListedConditionKind] = {
    "checked",
    "declared",
    "undecidable",
}


def check_listed_condition_kind(value: str) -> ListedConditionKind:
    if value in LISTED_CONDITION_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LISTED_CONDITION_KIND_VALUES!r}")

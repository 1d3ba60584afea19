from typing import Literal

Relation = Literal["add-or-remove-one", "replace-one", "zero-out-one"]

RELATION_VALUES: set[Relation] = {
    "add-or-remove-one",
    "replace-one",
    "zero-out-one",
}


def check_relation(value: str) -> Relation:
    if value in RELATION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RELATION_VALUES!r}")

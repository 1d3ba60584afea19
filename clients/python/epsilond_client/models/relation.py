from enum import StrEnum


class Relation(StrEnum):
    ADD_OR_REMOVE_ONE = "add-or-remove-one"
    REPLACE_ONE = "replace-one"
    ZERO_OUT_ONE = "zero-out-one"

    def __str__(self) -> str:
        return str(self.value)

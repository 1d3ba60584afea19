from typing import Literal

GuaranteeKindDefinition = Literal["central", "joint", "local", "shuffle"]

GUARANTEE_KIND_DEFINITION_VALUES: set[GuaranteeKindDefinition] = {
    "central",
    "joint",
    "local",
    "shuffle",
}


def check_guarantee_kind_definition(value: str) -> GuaranteeKindDefinition:
    if value in GUARANTEE_KIND_DEFINITION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GUARANTEE_KIND_DEFINITION_VALUES!r}")

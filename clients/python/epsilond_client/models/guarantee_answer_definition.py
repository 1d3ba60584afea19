from typing import Literal

GuaranteeAnswerDefinition = Literal["central", "joint", "local", "shuffle"]

GUARANTEE_ANSWER_DEFINITION_VALUES: set[GuaranteeAnswerDefinition] = {
    "central",
    "joint",
    "local",
    "shuffle",
}


def check_guarantee_answer_definition(value: str) -> GuaranteeAnswerDefinition:
    if value in GUARANTEE_ANSWER_DEFINITION_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GUARANTEE_ANSWER_DEFINITION_VALUES!r}")

from typing import Literal

ConditionDocumentLeftType1 = Literal["-unbounded", "unbounded"]

CONDITION_DOCUMENT_LEFT_TYPE_1_VALUES: set[ConditionDocumentLeftType1] = {
    "-unbounded",
    "unbounded",
}


def check_condition_document_left_type_1(value: str) -> ConditionDocumentLeftType1:
    if value in CONDITION_DOCUMENT_LEFT_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONDITION_DOCUMENT_LEFT_TYPE_1_VALUES!r}")

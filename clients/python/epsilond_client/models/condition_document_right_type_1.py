from typing import Literal

ConditionDocumentRightType1 = Literal["-unbounded", "unbounded"]

CONDITION_DOCUMENT_RIGHT_TYPE_1_VALUES: set[ConditionDocumentRightType1] = {
    "-unbounded",
    "unbounded",
}


def check_condition_document_right_type_1(value: str) -> ConditionDocumentRightType1:
    if value in CONDITION_DOCUMENT_RIGHT_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONDITION_DOCUMENT_RIGHT_TYPE_1_VALUES!r}")

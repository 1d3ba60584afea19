from typing import Literal

BoundAnswerValueType1 = Literal["-unbounded", "unbounded"]

BOUND_ANSWER_VALUE_TYPE_1_VALUES: set[BoundAnswerValueType1] = {
    "-unbounded",
    "unbounded",
}


def check_bound_answer_value_type_1(value: str) -> BoundAnswerValueType1:
    if value in BOUND_ANSWER_VALUE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {BOUND_ANSWER_VALUE_TYPE_1_VALUES!r}")

from typing import Literal

ConditionAnswerLeftType1 = Literal["-unbounded", "unbounded"]

CONDITION_ANSWER_LEFT_TYPE_1_VALUES: set[ConditionAnswerLeftType1] = {
    "-unbounded",
    "unbounded",
}


def check_condition_answer_left_type_1(value: str) -> ConditionAnswerLeftType1:
    if value in CONDITION_ANSWER_LEFT_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONDITION_ANSWER_LEFT_TYPE_1_VALUES!r}")

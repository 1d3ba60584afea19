from typing import Literal

ConditionAnswerRightType1 = Literal["-unbounded", "unbounded"]

CONDITION_ANSWER_RIGHT_TYPE_1_VALUES: set[ConditionAnswerRightType1] = {
    "-unbounded",
    "unbounded",
}


def check_condition_answer_right_type_1(value: str) -> ConditionAnswerRightType1:
    if value in CONDITION_ANSWER_RIGHT_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONDITION_ANSWER_RIGHT_TYPE_1_VALUES!r}")

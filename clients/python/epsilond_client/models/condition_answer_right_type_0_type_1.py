from typing import Literal

ConditionAnswerRightType0Type1 = Literal["-unbounded", "unbounded"]

CONDITION_ANSWER_RIGHT_TYPE_0_TYPE_1_VALUES: set[ConditionAnswerRightType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_condition_answer_right_type_0_type_1(value: str) -> ConditionAnswerRightType0Type1:
    if value in CONDITION_ANSWER_RIGHT_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONDITION_ANSWER_RIGHT_TYPE_0_TYPE_1_VALUES!r}")

from typing import Literal

RatioAnswerValueType1 = Literal["-unbounded", "unbounded"]

RATIO_ANSWER_VALUE_TYPE_1_VALUES: set[RatioAnswerValueType1] = {
    "-unbounded",
    "unbounded",
}


def check_ratio_answer_value_type_1(value: str) -> RatioAnswerValueType1:
    if value in RATIO_ANSWER_VALUE_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RATIO_ANSWER_VALUE_TYPE_1_VALUES!r}")

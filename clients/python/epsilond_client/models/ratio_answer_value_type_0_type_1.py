from typing import Literal

RatioAnswerValueType0Type1 = Literal["-unbounded", "unbounded"]

RATIO_ANSWER_VALUE_TYPE_0_TYPE_1_VALUES: set[RatioAnswerValueType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_ratio_answer_value_type_0_type_1(value: str) -> RatioAnswerValueType0Type1:
    if value in RATIO_ANSWER_VALUE_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RATIO_ANSWER_VALUE_TYPE_0_TYPE_1_VALUES!r}")

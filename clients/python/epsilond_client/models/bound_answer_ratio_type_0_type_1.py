from typing import Literal

BoundAnswerRatioType0Type1 = Literal["-unbounded", "unbounded"]

BOUND_ANSWER_RATIO_TYPE_0_TYPE_1_VALUES: set[BoundAnswerRatioType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_bound_answer_ratio_type_0_type_1(value: str) -> BoundAnswerRatioType0Type1:
    if value in BOUND_ANSWER_RATIO_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {BOUND_ANSWER_RATIO_TYPE_0_TYPE_1_VALUES!r}")

from typing import Literal

BoundAnswerRatioType1 = Literal["-unbounded", "unbounded"]

BOUND_ANSWER_RATIO_TYPE_1_VALUES: set[BoundAnswerRatioType1] = {
    "-unbounded",
    "unbounded",
}


def check_bound_answer_ratio_type_1(value: str) -> BoundAnswerRatioType1:
    if value in BOUND_ANSWER_RATIO_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {BOUND_ANSWER_RATIO_TYPE_1_VALUES!r}")

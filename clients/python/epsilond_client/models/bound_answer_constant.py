from typing import Literal

BoundAnswerConstant = Literal["explicit", "hidden"]

BOUND_ANSWER_CONSTANT_VALUES: set[BoundAnswerConstant] = {
    "explicit",
    "hidden",
}


def check_bound_answer_constant(value: str) -> BoundAnswerConstant:
    if value in BOUND_ANSWER_CONSTANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {BOUND_ANSWER_CONSTANT_VALUES!r}")

from typing import Literal

BoundAnswerHolds = Literal["false", "true", "undecidable"]

BOUND_ANSWER_HOLDS_VALUES: set[BoundAnswerHolds] = {
    "false",
    "true",
    "undecidable",
}


def check_bound_answer_holds(value: str) -> BoundAnswerHolds:
    if value in BOUND_ANSWER_HOLDS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {BOUND_ANSWER_HOLDS_VALUES!r}")

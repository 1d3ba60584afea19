from typing import Literal

GuaranteeAnswerMinimal = Literal["proved", "searched"]

GUARANTEE_ANSWER_MINIMAL_VALUES: set[GuaranteeAnswerMinimal] = {
    "proved",
    "searched",
}


def check_guarantee_answer_minimal(value: str) -> GuaranteeAnswerMinimal:
    if value in GUARANTEE_ANSWER_MINIMAL_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GUARANTEE_ANSWER_MINIMAL_VALUES!r}")

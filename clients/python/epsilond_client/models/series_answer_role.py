from typing import Literal

SeriesAnswerRole = Literal["alternative", "non-private", "private"]

SERIES_ANSWER_ROLE_VALUES: set[SeriesAnswerRole] = {
    "alternative",
    "non-private",
    "private",
}


def check_series_answer_role(value: str) -> SeriesAnswerRole:
    if value in SERIES_ANSWER_ROLE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERIES_ANSWER_ROLE_VALUES!r}")

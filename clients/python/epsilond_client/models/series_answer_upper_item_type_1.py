from typing import Literal

SeriesAnswerUpperItemType1 = Literal["-unbounded", "unbounded"]

SERIES_ANSWER_UPPER_ITEM_TYPE_1_VALUES: set[SeriesAnswerUpperItemType1] = {
    "-unbounded",
    "unbounded",
}


def check_series_answer_upper_item_type_1(value: str) -> SeriesAnswerUpperItemType1:
    if value in SERIES_ANSWER_UPPER_ITEM_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERIES_ANSWER_UPPER_ITEM_TYPE_1_VALUES!r}")

from typing import Literal

SeriesAnswerLowerItemType1 = Literal["-unbounded", "unbounded"]

SERIES_ANSWER_LOWER_ITEM_TYPE_1_VALUES: set[SeriesAnswerLowerItemType1] = {
    "-unbounded",
    "unbounded",
}


def check_series_answer_lower_item_type_1(value: str) -> SeriesAnswerLowerItemType1:
    if value in SERIES_ANSWER_LOWER_ITEM_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERIES_ANSWER_LOWER_ITEM_TYPE_1_VALUES!r}")

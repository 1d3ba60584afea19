from typing import Literal

SeriesAnswerMeanItemType1 = Literal["-unbounded", "unbounded"]

SERIES_ANSWER_MEAN_ITEM_TYPE_1_VALUES: set[SeriesAnswerMeanItemType1] = {
    "-unbounded",
    "unbounded",
}


def check_series_answer_mean_item_type_1(value: str) -> SeriesAnswerMeanItemType1:
    if value in SERIES_ANSWER_MEAN_ITEM_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERIES_ANSWER_MEAN_ITEM_TYPE_1_VALUES!r}")

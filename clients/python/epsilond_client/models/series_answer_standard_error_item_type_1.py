from typing import Literal

SeriesAnswerStandardErrorItemType1 = Literal["-unbounded", "unbounded"]

SERIES_ANSWER_STANDARD_ERROR_ITEM_TYPE_1_VALUES: set[SeriesAnswerStandardErrorItemType1] = {
    "-unbounded",
    "unbounded",
}


def check_series_answer_standard_error_item_type_1(value: str) -> SeriesAnswerStandardErrorItemType1:
    if value in SERIES_ANSWER_STANDARD_ERROR_ITEM_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SERIES_ANSWER_STANDARD_ERROR_ITEM_TYPE_1_VALUES!r}")

from typing import Literal

CellAnswerEpsilonLowerType1 = Literal["-unbounded", "unbounded"]

CELL_ANSWER_EPSILON_LOWER_TYPE_1_VALUES: set[CellAnswerEpsilonLowerType1] = {
    "-unbounded",
    "unbounded",
}


def check_cell_answer_epsilon_lower_type_1(value: str) -> CellAnswerEpsilonLowerType1:
    if value in CELL_ANSWER_EPSILON_LOWER_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CELL_ANSWER_EPSILON_LOWER_TYPE_1_VALUES!r}")

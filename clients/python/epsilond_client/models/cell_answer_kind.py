from typing import Literal

CellAnswerKind = Literal["audit", "risk"]

CELL_ANSWER_KIND_VALUES: set[CellAnswerKind] = {
    "audit",
    "risk",
}


def check_cell_answer_kind(value: str) -> CellAnswerKind:
    if value in CELL_ANSWER_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CELL_ANSWER_KIND_VALUES!r}")

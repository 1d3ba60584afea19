from typing import Literal

QtdlProblemMethod = Literal["concentrated", "concentrated-coupled", "escape", "hockey-stick"]

QTDL_PROBLEM_METHOD_VALUES: set[QtdlProblemMethod] = {
    "concentrated",
    "concentrated-coupled",
    "escape",
    "hockey-stick",
}


def check_qtdl_problem_method(value: str) -> QtdlProblemMethod:
    if value in QTDL_PROBLEM_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QTDL_PROBLEM_METHOD_VALUES!r}")

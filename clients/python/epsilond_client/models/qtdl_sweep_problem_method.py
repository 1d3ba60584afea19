from typing import Literal

QtdlSweepProblemMethod = Literal["concentrated", "concentrated-coupled", "escape", "hockey-stick"]

QTDL_SWEEP_PROBLEM_METHOD_VALUES: set[QtdlSweepProblemMethod] = {
    "concentrated",
    "concentrated-coupled",
    "escape",
    "hockey-stick",
}


def check_qtdl_sweep_problem_method(value: str) -> QtdlSweepProblemMethod:
    if value in QTDL_SWEEP_PROBLEM_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QTDL_SWEEP_PROBLEM_METHOD_VALUES!r}")

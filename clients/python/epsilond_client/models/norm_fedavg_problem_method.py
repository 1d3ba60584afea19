from typing import Literal

NormFedavgProblemMethod = Literal["concentrated", "concentrated-coupled", "escape", "hockey-stick"]

NORM_FEDAVG_PROBLEM_METHOD_VALUES: set[NormFedavgProblemMethod] = {
    "concentrated",
    "concentrated-coupled",
    "escape",
    "hockey-stick",
}


def check_norm_fedavg_problem_method(value: str) -> NormFedavgProblemMethod:
    if value in NORM_FEDAVG_PROBLEM_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NORM_FEDAVG_PROBLEM_METHOD_VALUES!r}")

from typing import Literal

NormFedavgSweepProblemMethod = Literal["concentrated", "concentrated-coupled", "escape", "hockey-stick"]

NORM_FEDAVG_SWEEP_PROBLEM_METHOD_VALUES: set[NormFedavgSweepProblemMethod] = {
    "concentrated",
    "concentrated-coupled",
    "escape",
    "hockey-stick",
}


def check_norm_fedavg_sweep_problem_method(value: str) -> NormFedavgSweepProblemMethod:
    if value in NORM_FEDAVG_SWEEP_PROBLEM_METHOD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NORM_FEDAVG_SWEEP_PROBLEM_METHOD_VALUES!r}")

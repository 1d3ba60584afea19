from typing import Literal

FrontierRunRiskType1 = Literal["-unbounded", "unbounded"]

FRONTIER_RUN_RISK_TYPE_1_VALUES: set[FrontierRunRiskType1] = {
    "-unbounded",
    "unbounded",
}


def check_frontier_run_risk_type_1(value: str) -> FrontierRunRiskType1:
    if value in FRONTIER_RUN_RISK_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FRONTIER_RUN_RISK_TYPE_1_VALUES!r}")

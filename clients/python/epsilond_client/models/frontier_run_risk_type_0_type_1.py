from typing import Literal

FrontierRunRiskType0Type1 = Literal["-unbounded", "unbounded"]

FRONTIER_RUN_RISK_TYPE_0_TYPE_1_VALUES: set[FrontierRunRiskType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_frontier_run_risk_type_0_type_1(value: str) -> FrontierRunRiskType0Type1:
    if value in FRONTIER_RUN_RISK_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FRONTIER_RUN_RISK_TYPE_0_TYPE_1_VALUES!r}")

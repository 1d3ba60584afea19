from typing import Literal

ConsideredBoundLog10DeltaType1 = Literal["-unbounded", "unbounded"]

CONSIDERED_BOUND_LOG_10_DELTA_TYPE_1_VALUES: set[ConsideredBoundLog10DeltaType1] = {
    "-unbounded",
    "unbounded",
}


def check_considered_bound_log_10_delta_type_1(value: str) -> ConsideredBoundLog10DeltaType1:
    if value in CONSIDERED_BOUND_LOG_10_DELTA_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CONSIDERED_BOUND_LOG_10_DELTA_TYPE_1_VALUES!r}")

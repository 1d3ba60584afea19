from typing import Literal

SharingThresholdEpsilonType1 = Literal["-unbounded", "unbounded"]

SHARING_THRESHOLD_EPSILON_TYPE_1_VALUES: set[SharingThresholdEpsilonType1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_threshold_epsilon_type_1(value: str) -> SharingThresholdEpsilonType1:
    if value in SHARING_THRESHOLD_EPSILON_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHARING_THRESHOLD_EPSILON_TYPE_1_VALUES!r}")

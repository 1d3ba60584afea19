from typing import Literal

SharingThresholdEpsilonType0Type1 = Literal["-unbounded", "unbounded"]

SHARING_THRESHOLD_EPSILON_TYPE_0_TYPE_1_VALUES: set[SharingThresholdEpsilonType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_threshold_epsilon_type_0_type_1(value: str) -> SharingThresholdEpsilonType0Type1:
    if value in SHARING_THRESHOLD_EPSILON_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHARING_THRESHOLD_EPSILON_TYPE_0_TYPE_1_VALUES!r}")

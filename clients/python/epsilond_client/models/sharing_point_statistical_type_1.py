from typing import Literal

SharingPointStatisticalType1 = Literal["-unbounded", "unbounded"]

SHARING_POINT_STATISTICAL_TYPE_1_VALUES: set[SharingPointStatisticalType1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_point_statistical_type_1(value: str) -> SharingPointStatisticalType1:
    if value in SHARING_POINT_STATISTICAL_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHARING_POINT_STATISTICAL_TYPE_1_VALUES!r}")

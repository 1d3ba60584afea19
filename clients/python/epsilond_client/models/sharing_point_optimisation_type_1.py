from typing import Literal

SharingPointOptimisationType1 = Literal["-unbounded", "unbounded"]

SHARING_POINT_OPTIMISATION_TYPE_1_VALUES: set[SharingPointOptimisationType1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_point_optimisation_type_1(value: str) -> SharingPointOptimisationType1:
    if value in SHARING_POINT_OPTIMISATION_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHARING_POINT_OPTIMISATION_TYPE_1_VALUES!r}")

from typing import Literal

SharingPointPrivacyType1 = Literal["-unbounded", "unbounded"]

SHARING_POINT_PRIVACY_TYPE_1_VALUES: set[SharingPointPrivacyType1] = {
    "-unbounded",
    "unbounded",
}


def check_sharing_point_privacy_type_1(value: str) -> SharingPointPrivacyType1:
    if value in SHARING_POINT_PRIVACY_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHARING_POINT_PRIVACY_TYPE_1_VALUES!r}")

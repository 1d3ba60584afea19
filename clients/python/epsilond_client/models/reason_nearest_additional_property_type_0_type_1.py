from typing import Literal

ReasonNearestAdditionalPropertyType0Type1 = Literal["-unbounded", "unbounded"]

REASON_NEAREST_ADDITIONAL_PROPERTY_TYPE_0_TYPE_1_VALUES: set[ReasonNearestAdditionalPropertyType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_reason_nearest_additional_property_type_0_type_1(value: str) -> ReasonNearestAdditionalPropertyType0Type1:
    if value in REASON_NEAREST_ADDITIONAL_PROPERTY_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {REASON_NEAREST_ADDITIONAL_PROPERTY_TYPE_0_TYPE_1_VALUES!r}"
    )

from typing import Literal

ReasonNearestAdditionalPropertyType1 = Literal["-unbounded", "unbounded"]

REASON_NEAREST_ADDITIONAL_PROPERTY_TYPE_1_VALUES: set[ReasonNearestAdditionalPropertyType1] = {
    "-unbounded",
    "unbounded",
}


def check_reason_nearest_additional_property_type_1(value: str) -> ReasonNearestAdditionalPropertyType1:
    if value in REASON_NEAREST_ADDITIONAL_PROPERTY_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REASON_NEAREST_ADDITIONAL_PROPERTY_TYPE_1_VALUES!r}")

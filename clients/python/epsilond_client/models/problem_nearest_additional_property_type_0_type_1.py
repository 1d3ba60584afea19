from typing import Literal

ProblemNearestAdditionalPropertyType0Type1 = Literal["-unbounded", "unbounded"]

PROBLEM_NEAREST_ADDITIONAL_PROPERTY_TYPE_0_TYPE_1_VALUES: set[ProblemNearestAdditionalPropertyType0Type1] = {
    "-unbounded",
    "unbounded",
}


def check_problem_nearest_additional_property_type_0_type_1(value: str) -> ProblemNearestAdditionalPropertyType0Type1:
    if value in PROBLEM_NEAREST_ADDITIONAL_PROPERTY_TYPE_0_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PROBLEM_NEAREST_ADDITIONAL_PROPERTY_TYPE_0_TYPE_1_VALUES!r}"
    )

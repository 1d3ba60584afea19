from typing import Literal

ProblemNearestAdditionalPropertyType1 = Literal["-unbounded", "unbounded"]

PROBLEM_NEAREST_ADDITIONAL_PROPERTY_TYPE_1_VALUES: set[ProblemNearestAdditionalPropertyType1] = {
    "-unbounded",
    "unbounded",
}


def check_problem_nearest_additional_property_type_1(value: str) -> ProblemNearestAdditionalPropertyType1:
    if value in PROBLEM_NEAREST_ADDITIONAL_PROPERTY_TYPE_1_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {PROBLEM_NEAREST_ADDITIONAL_PROPERTY_TYPE_1_VALUES!r}"
    )

from typing import Literal

EscapeEpsilonLowerType1 = Literal["-unbounded", "unbounded"]

ESCAPE_EPSILON_LOWER_TYPE_1_VALUES: set[EscapeEpsilonLowerType1] = {
    "-unbounded",
    "unbounded",
}


def check_escape_epsilon_lower_type_1(value: str) -> EscapeEpsilonLowerType1:
    if value in ESCAPE_EPSILON_LOWER_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ESCAPE_EPSILON_LOWER_TYPE_1_VALUES!r}")

from typing import Literal

TheoremDetailConstants = Literal["explicit", "hidden"]

THEOREM_DETAIL_CONSTANTS_VALUES: set[TheoremDetailConstants] = {
    "explicit",
    "hidden",
}


def check_theorem_detail_constants(value: str) -> TheoremDetailConstants:
    if value in THEOREM_DETAIL_CONSTANTS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {THEOREM_DETAIL_CONSTANTS_VALUES!r}")

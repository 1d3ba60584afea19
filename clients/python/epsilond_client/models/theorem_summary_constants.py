from typing import Literal

TheoremSummaryConstants = Literal["explicit", "hidden"]

THEOREM_SUMMARY_CONSTANTS_VALUES: set[TheoremSummaryConstants] = {
    "explicit",
    "hidden",
}


def check_theorem_summary_constants(value: str) -> TheoremSummaryConstants:
    if value in THEOREM_SUMMARY_CONSTANTS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {THEOREM_SUMMARY_CONSTANTS_VALUES!r}")

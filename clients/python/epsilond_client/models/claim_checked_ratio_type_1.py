from typing import Literal

ClaimCheckedRatioType1 = Literal["-unbounded", "unbounded"]

CLAIM_CHECKED_RATIO_TYPE_1_VALUES: set[ClaimCheckedRatioType1] = {
    "-unbounded",
    "unbounded",
}


def check_claim_checked_ratio_type_1(value: str) -> ClaimCheckedRatioType1:
    if value in CLAIM_CHECKED_RATIO_TYPE_1_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CLAIM_CHECKED_RATIO_TYPE_1_VALUES!r}")

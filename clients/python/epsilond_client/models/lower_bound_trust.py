from typing import Literal

LowerBoundTrust = Literal["central", "local", "shuffle"]

LOWER_BOUND_TRUST_VALUES: set[LowerBoundTrust] = {
    "central",
    "local",
    "shuffle",
}


def check_lower_bound_trust(value: str) -> LowerBoundTrust:
    if value in LOWER_BOUND_TRUST_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LOWER_BOUND_TRUST_VALUES!r}")

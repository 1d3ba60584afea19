from typing import Literal

DrawnInputsWeighting = Literal["clients", "samples"]

DRAWN_INPUTS_WEIGHTING_VALUES: set[DrawnInputsWeighting] = {
    "clients",
    "samples",
}


def check_drawn_inputs_weighting(value: str) -> DrawnInputsWeighting:
    if value in DRAWN_INPUTS_WEIGHTING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DRAWN_INPUTS_WEIGHTING_VALUES!r}")

from typing import Literal

SmoothInputsVariant = Literal["complete", "informal"]

SMOOTH_INPUTS_VARIANT_VALUES: set[SmoothInputsVariant] = {
    "complete",
    "informal",
}


def check_smooth_inputs_variant(value: str) -> SmoothInputsVariant:
    if value in SMOOTH_INPUTS_VARIANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SMOOTH_INPUTS_VARIANT_VALUES!r}")

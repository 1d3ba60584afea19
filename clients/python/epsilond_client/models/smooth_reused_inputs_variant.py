from typing import Literal

SmoothReusedInputsVariant = Literal["complete", "informal"]

SMOOTH_REUSED_INPUTS_VARIANT_VALUES: set[SmoothReusedInputsVariant] = {
    "complete",
    "informal",
}


def check_smooth_reused_inputs_variant(value: str) -> SmoothReusedInputsVariant:
    if value in SMOOTH_REUSED_INPUTS_VARIANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SMOOTH_REUSED_INPUTS_VARIANT_VALUES!r}")

from typing import Literal

NonsmoothInputsVariant = Literal["complete", "informal"]

NONSMOOTH_INPUTS_VARIANT_VALUES: set[NonsmoothInputsVariant] = {
    "complete",
    "informal",
}


def check_nonsmooth_inputs_variant(value: str) -> NonsmoothInputsVariant:
    if value in NONSMOOTH_INPUTS_VARIANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NONSMOOTH_INPUTS_VARIANT_VALUES!r}")

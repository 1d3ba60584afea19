from typing import Literal

EnvelopedInputsVariant = Literal["complete", "informal"]

ENVELOPED_INPUTS_VARIANT_VALUES: set[EnvelopedInputsVariant] = {
    "complete",
    "informal",
}


def check_enveloped_inputs_variant(value: str) -> EnvelopedInputsVariant:
    if value in ENVELOPED_INPUTS_VARIANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENVELOPED_INPUTS_VARIANT_VALUES!r}")

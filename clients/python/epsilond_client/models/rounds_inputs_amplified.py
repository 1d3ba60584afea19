from typing import Literal

RoundsInputsAmplified = Literal["client", "none", "record"]

ROUNDS_INPUTS_AMPLIFIED_VALUES: set[RoundsInputsAmplified] = {
    "client",
    "none",
    "record",
}


def check_rounds_inputs_amplified(value: str) -> RoundsInputsAmplified:
    if value in ROUNDS_INPUTS_AMPLIFIED_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ROUNDS_INPUTS_AMPLIFIED_VALUES!r}")

from typing import Literal

EnvelopedInputsSampling = Literal["with-replacement", "without-replacement"]

ENVELOPED_INPUTS_SAMPLING_VALUES: set[EnvelopedInputsSampling] = {
    "with-replacement",
    "without-replacement",
}


def check_enveloped_inputs_sampling(value: str) -> EnvelopedInputsSampling:
    if value in ENVELOPED_INPUTS_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ENVELOPED_INPUTS_SAMPLING_VALUES!r}")

from typing import Literal

DrawnInputsSampling = Literal["full", "poisson", "without-replacement"]

DRAWN_INPUTS_SAMPLING_VALUES: set[DrawnInputsSampling] = {
    "full",
    "poisson",
    "without-replacement",
}


def check_drawn_inputs_sampling(value: str) -> DrawnInputsSampling:
    if value in DRAWN_INPUTS_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DRAWN_INPUTS_SAMPLING_VALUES!r}")

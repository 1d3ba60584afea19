from typing import Literal

SmoothInputsSampling = Literal["with-replacement", "without-replacement"]

SMOOTH_INPUTS_SAMPLING_VALUES: set[SmoothInputsSampling] = {
    "with-replacement",
    "without-replacement",
}


def check_smooth_inputs_sampling(value: str) -> SmoothInputsSampling:
    if value in SMOOTH_INPUTS_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SMOOTH_INPUTS_SAMPLING_VALUES!r}")

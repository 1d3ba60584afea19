from typing import Literal

SmoothReusedInputsSampling = Literal["with-replacement", "without-replacement"]

SMOOTH_REUSED_INPUTS_SAMPLING_VALUES: set[SmoothReusedInputsSampling] = {
    "with-replacement",
    "without-replacement",
}


def check_smooth_reused_inputs_sampling(value: str) -> SmoothReusedInputsSampling:
    if value in SMOOTH_REUSED_INPUTS_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SMOOTH_REUSED_INPUTS_SAMPLING_VALUES!r}")

from typing import Literal

NonsmoothInputsSampling = Literal["with-replacement", "without-replacement"]

NONSMOOTH_INPUTS_SAMPLING_VALUES: set[NonsmoothInputsSampling] = {
    "with-replacement",
    "without-replacement",
}


def check_nonsmooth_inputs_sampling(value: str) -> NonsmoothInputsSampling:
    if value in NONSMOOTH_INPUTS_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NONSMOOTH_INPUTS_SAMPLING_VALUES!r}")

from typing import Literal

NoiseInputsSampling = Literal["with-replacement", "without-replacement"]

NOISE_INPUTS_SAMPLING_VALUES: set[NoiseInputsSampling] = {
    "with-replacement",
    "without-replacement",
}


def check_noise_inputs_sampling(value: str) -> NoiseInputsSampling:
    if value in NOISE_INPUTS_SAMPLING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NOISE_INPUTS_SAMPLING_VALUES!r}")

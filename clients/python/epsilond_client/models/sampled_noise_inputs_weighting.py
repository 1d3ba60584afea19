from typing import Literal

SampledNoiseInputsWeighting = Literal["clients", "samples"]

SAMPLED_NOISE_INPUTS_WEIGHTING_VALUES: set[SampledNoiseInputsWeighting] = {
    "clients",
    "samples",
}


def check_sampled_noise_inputs_weighting(value: str) -> SampledNoiseInputsWeighting:
    if value in SAMPLED_NOISE_INPUTS_WEIGHTING_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SAMPLED_NOISE_INPUTS_WEIGHTING_VALUES!r}")

from typing import Literal

GaussianSweepValuesField = Literal[
    "batch_size",
    "delta",
    "epsilon",
    "log10_delta",
    "noise_multiplier",
    "observer",
    "population",
    "rate",
    "relation",
    "rounds",
    "sampling",
    "solve_for",
    "unit",
]

GAUSSIAN_SWEEP_VALUES_FIELD_VALUES: set[GaussianSweepValuesField] = {
    "batch_size",
    "delta",
    "epsilon",
    "log10_delta",
    "noise_multiplier",
    "observer",
    "population",
    "rate",
    "relation",
    "rounds",
    "sampling",
    "solve_for",
    "unit",
}


def check_gaussian_sweep_values_field(value: str) -> GaussianSweepValuesField:
    if value in GAUSSIAN_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GAUSSIAN_SWEEP_VALUES_FIELD_VALUES!r}")

from typing import Literal

PpsgdSweepValuesField = Literal[
    "batch_size",
    "client_groups",
    "clients",
    "clipping_norm",
    "delta",
    "epsilon",
    "lipschitz",
    "local_gradient_std",
    "log10_delta",
    "noise_constant",
    "observer",
    "optimum_norm",
    "optimum_spread",
    "participation_rate",
    "personalization",
    "readings",
    "relation",
    "rounds",
    "sampling",
    "shared_dimension",
    "shared_gradient_norm",
    "shared_gradient_std",
    "smoothness",
    "unit",
    "weighting",
]

PPSGD_SWEEP_VALUES_FIELD_VALUES: set[PpsgdSweepValuesField] = {
    "batch_size",
    "client_groups",
    "clients",
    "clipping_norm",
    "delta",
    "epsilon",
    "lipschitz",
    "local_gradient_std",
    "log10_delta",
    "noise_constant",
    "observer",
    "optimum_norm",
    "optimum_spread",
    "participation_rate",
    "personalization",
    "readings",
    "relation",
    "rounds",
    "sampling",
    "shared_dimension",
    "shared_gradient_norm",
    "shared_gradient_std",
    "smoothness",
    "unit",
    "weighting",
}


def check_ppsgd_sweep_values_field(value: str) -> PpsgdSweepValuesField:
    if value in PPSGD_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PPSGD_SWEEP_VALUES_FIELD_VALUES!r}")

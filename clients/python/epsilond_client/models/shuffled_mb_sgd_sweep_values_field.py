from typing import Literal

ShuffledMbSgdSweepValuesField = Literal[
    "batch_size",
    "clients",
    "communication_budget",
    "delta",
    "diameter",
    "dimension",
    "epsilon",
    "initial_distance",
    "lipschitz",
    "log10_delta",
    "max_gradients",
    "noise_constant",
    "observer",
    "participants",
    "readings",
    "relation",
    "rounds",
    "samples_per_client",
    "smoothness",
    "strong_convexity",
    "unit",
    "within",
]

SHUFFLED_MB_SGD_SWEEP_VALUES_FIELD_VALUES: set[ShuffledMbSgdSweepValuesField] = {
    "batch_size",
    "clients",
    "communication_budget",
    "delta",
    "diameter",
    "dimension",
    "epsilon",
    "initial_distance",
    "lipschitz",
    "log10_delta",
    "max_gradients",
    "noise_constant",
    "observer",
    "participants",
    "readings",
    "relation",
    "rounds",
    "samples_per_client",
    "smoothness",
    "strong_convexity",
    "unit",
    "within",
}


def check_shuffled_mb_sgd_sweep_values_field(value: str) -> ShuffledMbSgdSweepValuesField:
    if value in SHUFFLED_MB_SGD_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SHUFFLED_MB_SGD_SWEEP_VALUES_FIELD_VALUES!r}")

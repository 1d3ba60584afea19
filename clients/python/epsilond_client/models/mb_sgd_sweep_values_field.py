from typing import Literal

MbSgdSweepValuesField = Literal[
    "batch_size",
    "client_groups",
    "clients",
    "communication_budget",
    "delta",
    "diameter",
    "dimension",
    "epsilon",
    "heterogeneity",
    "identically_distributed",
    "initial_distance",
    "lipschitz",
    "log10_delta",
    "max_gradients",
    "observer",
    "participants",
    "participation",
    "readings",
    "relation",
    "rounds",
    "samples_per_client",
    "sampling",
    "smoothness",
    "strong_convexity",
    "unit",
    "within",
]

MB_SGD_SWEEP_VALUES_FIELD_VALUES: set[MbSgdSweepValuesField] = {
    "batch_size",
    "client_groups",
    "clients",
    "communication_budget",
    "delta",
    "diameter",
    "dimension",
    "epsilon",
    "heterogeneity",
    "identically_distributed",
    "initial_distance",
    "lipschitz",
    "log10_delta",
    "max_gradients",
    "observer",
    "participants",
    "participation",
    "readings",
    "relation",
    "rounds",
    "samples_per_client",
    "sampling",
    "smoothness",
    "strong_convexity",
    "unit",
    "within",
}


def check_mb_sgd_sweep_values_field(value: str) -> MbSgdSweepValuesField:
    if value in MB_SGD_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MB_SGD_SWEEP_VALUES_FIELD_VALUES!r}")

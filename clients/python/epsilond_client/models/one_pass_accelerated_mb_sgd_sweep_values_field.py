from typing import Literal

OnePassAcceleratedMbSgdSweepValuesField = Literal[
    "batch_size",
    "clients",
    "communication_budget",
    "delta",
    "diameter",
    "dimension",
    "empirical_gradient_std",
    "epsilon",
    "gradient_std",
    "heterogeneity",
    "identically_distributed",
    "initial_distance",
    "initial_gap",
    "lipschitz",
    "log10_delta",
    "max_gradients",
    "observer",
    "participants",
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

ONE_PASS_ACCELERATED_MB_SGD_SWEEP_VALUES_FIELD_VALUES: set[OnePassAcceleratedMbSgdSweepValuesField] = {
    "batch_size",
    "clients",
    "communication_budget",
    "delta",
    "diameter",
    "dimension",
    "empirical_gradient_std",
    "epsilon",
    "gradient_std",
    "heterogeneity",
    "identically_distributed",
    "initial_distance",
    "initial_gap",
    "lipschitz",
    "log10_delta",
    "max_gradients",
    "observer",
    "participants",
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


def check_one_pass_accelerated_mb_sgd_sweep_values_field(value: str) -> OnePassAcceleratedMbSgdSweepValuesField:
    if value in ONE_PASS_ACCELERATED_MB_SGD_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(
        f"Unexpected value {value!r}. Expected one of {ONE_PASS_ACCELERATED_MB_SGD_SWEEP_VALUES_FIELD_VALUES!r}"
    )

from typing import Literal

NormFedavgSweepValuesField = Literal[
    "client_optimum_distance",
    "clients",
    "delta",
    "dimension",
    "epsilon",
    "growth_ratio",
    "initial_distance",
    "l1_sensitivity",
    "l2_sensitivity",
    "linf_sensitivity",
    "local_steps",
    "log10_delta",
    "method",
    "observer",
    "participants",
    "quantization_levels",
    "quasar_convexity",
    "readings",
    "relation",
    "rounds",
    "samples_per_client",
    "sensitivity_rule",
    "smoothness",
    "step_ratio",
    "unit",
]

NORM_FEDAVG_SWEEP_VALUES_FIELD_VALUES: set[NormFedavgSweepValuesField] = {
    "client_optimum_distance",
    "clients",
    "delta",
    "dimension",
    "epsilon",
    "growth_ratio",
    "initial_distance",
    "l1_sensitivity",
    "l2_sensitivity",
    "linf_sensitivity",
    "local_steps",
    "log10_delta",
    "method",
    "observer",
    "participants",
    "quantization_levels",
    "quasar_convexity",
    "readings",
    "relation",
    "rounds",
    "samples_per_client",
    "sensitivity_rule",
    "smoothness",
    "step_ratio",
    "unit",
}


def check_norm_fedavg_sweep_values_field(value: str) -> NormFedavgSweepValuesField:
    if value in NORM_FEDAVG_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {NORM_FEDAVG_SWEEP_VALUES_FIELD_VALUES!r}")

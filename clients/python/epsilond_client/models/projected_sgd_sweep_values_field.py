from typing import Literal

ProjectedSgdSweepValuesField = Literal[
    "clients",
    "convex",
    "delta",
    "dimension",
    "epsilon",
    "gradient_bound",
    "gradient_std",
    "lipschitz",
    "log10_delta",
    "noise_schedule",
    "observer",
    "participants",
    "radius",
    "readings",
    "relation",
    "release",
    "shamir_constant",
    "smoothness",
    "solve_for",
    "step_schedule",
    "strong_convexity",
    "suffix_fraction",
    "unit",
]

PROJECTED_SGD_SWEEP_VALUES_FIELD_VALUES: set[ProjectedSgdSweepValuesField] = {
    "clients",
    "convex",
    "delta",
    "dimension",
    "epsilon",
    "gradient_bound",
    "gradient_std",
    "lipschitz",
    "log10_delta",
    "noise_schedule",
    "observer",
    "participants",
    "radius",
    "readings",
    "relation",
    "release",
    "shamir_constant",
    "smoothness",
    "solve_for",
    "step_schedule",
    "strong_convexity",
    "suffix_fraction",
    "unit",
}


def check_projected_sgd_sweep_values_field(value: str) -> ProjectedSgdSweepValuesField:
    if value in PROJECTED_SGD_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PROJECTED_SGD_SWEEP_VALUES_FIELD_VALUES!r}")

from typing import Literal

Mu2SgdSweepValuesField = Literal[
    "clients",
    "delta",
    "diameter",
    "dimension",
    "epsilon",
    "gaussian_dp_mu",
    "gradient_std",
    "heterogeneity",
    "lipschitz",
    "log10_delta",
    "observer",
    "optimum_gradient_norm",
    "participants",
    "participation",
    "readings",
    "relation",
    "rounds",
    "server",
    "smoothness",
    "smoothness_heterogeneity",
    "smoothness_std",
    "unit",
]

MU_2_SGD_SWEEP_VALUES_FIELD_VALUES: set[Mu2SgdSweepValuesField] = {
    "clients",
    "delta",
    "diameter",
    "dimension",
    "epsilon",
    "gaussian_dp_mu",
    "gradient_std",
    "heterogeneity",
    "lipschitz",
    "log10_delta",
    "observer",
    "optimum_gradient_norm",
    "participants",
    "participation",
    "readings",
    "relation",
    "rounds",
    "server",
    "smoothness",
    "smoothness_heterogeneity",
    "smoothness_std",
    "unit",
}


def check_mu_2_sgd_sweep_values_field(value: str) -> Mu2SgdSweepValuesField:
    if value in MU_2_SGD_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MU_2_SGD_SWEEP_VALUES_FIELD_VALUES!r}")

from typing import Literal

QtdlSweepValuesField = Literal[
    "delta",
    "dimension",
    "epsilon",
    "l1_sensitivity",
    "l2_sensitivity",
    "linf_sensitivity",
    "log10_delta",
    "method",
    "observer",
    "participants",
    "quantization_levels",
    "readings",
    "relation",
    "rounds",
    "sensitivity_rule",
    "unit",
]

QTDL_SWEEP_VALUES_FIELD_VALUES: set[QtdlSweepValuesField] = {
    "delta",
    "dimension",
    "epsilon",
    "l1_sensitivity",
    "l2_sensitivity",
    "linf_sensitivity",
    "log10_delta",
    "method",
    "observer",
    "participants",
    "quantization_levels",
    "readings",
    "relation",
    "rounds",
    "sensitivity_rule",
    "unit",
}


def check_qtdl_sweep_values_field(value: str) -> QtdlSweepValuesField:
    if value in QTDL_SWEEP_VALUES_FIELD_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {QTDL_SWEEP_VALUES_FIELD_VALUES!r}")

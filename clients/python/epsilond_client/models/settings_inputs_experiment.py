from typing import Literal

SettingsInputsExperiment = Literal["insurance", "mnist"]

SETTINGS_INPUTS_EXPERIMENT_VALUES: set[SettingsInputsExperiment] = {
    "insurance",
    "mnist",
}


def check_settings_inputs_experiment(value: str) -> SettingsInputsExperiment:
    if value in SETTINGS_INPUTS_EXPERIMENT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SETTINGS_INPUTS_EXPERIMENT_VALUES!r}")

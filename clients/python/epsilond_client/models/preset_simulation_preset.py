from typing import Literal

PresetSimulationPreset = Literal[
    "mb-sgd-bound",
    "mu2-against-noisy-sgd",
    "ppsgd-synthetic",
    "ppsgd-synthetic-full",
    "qtdl-against-printed",
    "tdl-as-printed-audit",
]

PRESET_SIMULATION_PRESET_VALUES: set[PresetSimulationPreset] = {
    "mb-sgd-bound",
    "mu2-against-noisy-sgd",
    "ppsgd-synthetic",
    "ppsgd-synthetic-full",
    "qtdl-against-printed",
    "tdl-as-printed-audit",
}


def check_preset_simulation_preset(value: str) -> PresetSimulationPreset:
    if value in PRESET_SIMULATION_PRESET_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PRESET_SIMULATION_PRESET_VALUES!r}")

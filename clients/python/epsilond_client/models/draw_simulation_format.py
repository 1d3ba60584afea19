from typing import Literal

DrawSimulationFormat = Literal["png", "svg"]

DRAW_SIMULATION_FORMAT_VALUES: set[DrawSimulationFormat] = {
    "png",
    "svg",
}


def check_draw_simulation_format(value: str) -> DrawSimulationFormat:
    if value in DRAW_SIMULATION_FORMAT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DRAW_SIMULATION_FORMAT_VALUES!r}")

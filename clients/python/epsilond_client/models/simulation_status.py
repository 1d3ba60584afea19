from typing import Literal

SimulationStatus = Literal["cancelled", "done", "failed", "interrupted", "queued", "running"]

SIMULATION_STATUS_VALUES: set[SimulationStatus] = {
    "cancelled",
    "done",
    "failed",
    "interrupted",
    "queued",
    "running",
}


def check_simulation_status(value: str) -> SimulationStatus:
    if value in SIMULATION_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SIMULATION_STATUS_VALUES!r}")

from typing import Literal

ListSimulationsStatus = Literal["cancelled", "done", "failed", "interrupted", "queued", "running"]

LIST_SIMULATIONS_STATUS_VALUES: set[ListSimulationsStatus] = {
    "cancelled",
    "done",
    "failed",
    "interrupted",
    "queued",
    "running",
}


def check_list_simulations_status(value: str) -> ListSimulationsStatus:
    if value in LIST_SIMULATIONS_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {LIST_SIMULATIONS_STATUS_VALUES!r}")

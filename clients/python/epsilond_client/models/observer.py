from typing import Literal

Observer = Literal["final-model", "other-clients", "released-models", "server", "shuffled-server"]

OBSERVER_VALUES: set[Observer] = {
    "final-model",
    "other-clients",
    "released-models",
    "server",
    "shuffled-server",
}


def check_observer(value: str) -> Observer:
    if value in OBSERVER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {OBSERVER_VALUES!r}")

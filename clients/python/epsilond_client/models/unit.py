from typing import Literal

Unit = Literal["client", "record"]

UNIT_VALUES: set[Unit] = {
    "client",
    "record",
}


def check_unit(value: str) -> Unit:
    if value in UNIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UNIT_VALUES!r}")

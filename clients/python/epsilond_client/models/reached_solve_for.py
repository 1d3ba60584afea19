from typing import Literal

ReachedSolveFor = Literal["clients", "epsilon", "participants", "samples_per_client"]

REACHED_SOLVE_FOR_VALUES: set[ReachedSolveFor] = {
    "clients",
    "epsilon",
    "participants",
    "samples_per_client",
}


def check_reached_solve_for(value: str) -> ReachedSolveFor:
    if value in REACHED_SOLVE_FOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REACHED_SOLVE_FOR_VALUES!r}")

from typing import Literal

ReachSolveFor = Literal["clients", "epsilon", "participants", "samples_per_client"]

REACH_SOLVE_FOR_VALUES: set[ReachSolveFor] = {
    "clients",
    "epsilon",
    "participants",
    "samples_per_client",
}


def check_reach_solve_for(value: str) -> ReachSolveFor:
    if value in REACH_SOLVE_FOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REACH_SOLVE_FOR_VALUES!r}")

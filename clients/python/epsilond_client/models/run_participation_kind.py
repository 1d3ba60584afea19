from typing import Literal

RunParticipationKind = Literal["pattern", "uniform"]

RUN_PARTICIPATION_KIND_VALUES: set[RunParticipationKind] = {
    "pattern",
    "uniform",
}


def check_run_participation_kind(value: str) -> RunParticipationKind:
    if value in RUN_PARTICIPATION_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {RUN_PARTICIPATION_KIND_VALUES!r}")

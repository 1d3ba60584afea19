from typing import Literal

ParticipationKind = Literal["counts", "pattern", "uniform"]

PARTICIPATION_KIND_VALUES: set[ParticipationKind] = {
    "counts",
    "pattern",
    "uniform",
}


def check_participation_kind(value: str) -> ParticipationKind:
    if value in PARTICIPATION_KIND_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PARTICIPATION_KIND_VALUES!r}")

"""Conditions of the theorem about federated runs, and sentences about them, for all supported frameworks."""

from __future__ import annotations

from typing import Final

from epsilond.runs.premises import (
    CLIPPING,
    COHORT,
    DIVISOR,
    NOISE,
    PARAMETERS,
    RELEASES,
    ROUNDS,
    SAME_PARTS,
    UPDATES,
)

FEDERATED: Final = (COHORT, UPDATES, CLIPPING, NOISE, DIVISOR, ROUNDS, RELEASES, SAME_PARTS, PARAMETERS)
"""Premises of the theorem about noisy sums of clients' updates."""


def of_cohorts(alarm: str) -> str:
    """Reword a statistical test's sentence about batches of records for cohorts, the sets of clients of one round."""
    for word, replacement in (("a batch", "a cohort"), ("batches", "cohorts"), ("records", "clients")):
        alarm = alarm.replace(word, replacement)
    return alarm

"""Premises that federated hosts share, and sentences about them."""

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
    """Reword a sentence about batches of records so that it is about cohorts of clients.

    Args:
        alarm: sentence of a statistical test, which was written for batches.

    Returns:
        The reworded sentence. A cohort is the set of clients of one round.
    """
    for word, replacement in (("a batch", "a cohort"), ("batches", "cohorts"), ("records", "clients")):
        alarm = alarm.replace(word, replacement)
    return alarm

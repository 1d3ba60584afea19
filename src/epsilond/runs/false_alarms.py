"""The probability that a run that keeps its record is contradicted by chance."""

from __future__ import annotations

import math
from typing import Final

PER_RUN: Final = 1e-9
"""Largest probability of a false alarm in one run, over all statistical tests together and any number of steps."""
PER_TEST: Final = PER_RUN / 64
"""Share of one statistical test: eight tests for each of at most eight optimizers, models or resumptions of a run."""


def log_threshold(step: int, *, hypotheses: int = 1) -> float:
    """Return the threshold for −log p [nat] above which a test that is repeated at every step rejects.

    Here p is the smallest p-value of the step. The threshold allows for the number of p-values. The level of step t
    is `PER_TEST` / (t (t + 1)), where `PER_TEST` is the level of the whole test. The levels of all steps sum to
    `PER_TEST`, so that the test keeps its level however long the run is.

    Args:
        step: number t of the step, from 1.
        hypotheses: number of p-values that the step computes.

    Returns:
        The threshold in nats, which grows with the logarithm of the step.
    """
    log_divisor = math.log(hypotheses * step * (step + 1))  # of the level of one p-value
    return log_divisor - math.log(PER_TEST)

"""The probability that a run that keeps its record is contradicted by chance."""

from __future__ import annotations

import math
from typing import Final

PER_RUN: Final = 1e-9
"""Largest probability of a false alarm in one run, over all statistical tests together and any number of steps."""
PER_TEST: Final = PER_RUN / 64
"""Share of one statistical test: eight tests for each of at most eight optimizers, models or resumptions of a run."""


def log_threshold(step: int, *, hypotheses: int = 1) -> float:
    """Return the least −log p [nat] at which a test that is repeated at steps 1, 2, 3, … rejects at a step.

    p is the smallest p-value of the step, uncorrected: the threshold allows for the number of p-values. The level of
    step t is `PER_TEST` / (t (t + 1)). These levels sum to `PER_TEST` over all t, so the test keeps its level however
    long the run is.

    Args:
        step: t, counted from 1.
        hypotheses: number of p-values that the step computes.

    Returns:
        The threshold in nats, which grows with the logarithm of the step.
    """
    log_divisor = math.log(hypotheses * step * (step + 1))  # of the level of one p-value
    return log_divisor - math.log(PER_TEST)

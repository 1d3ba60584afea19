"""Confidence bounds on a probability from a count (Clopper and Pearson 1934)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betainccinv, betaincinv

from epsilond.simulators.audits.worlds import Floats, Integers


def lower_rate(successes: npt.ArrayLike, trials: int, error: float) -> Floats:
    """Return the Clopper–Pearson lower confidence bound on a success probability, for each observed count.

    The bound is 0 for no successes.

    Args:
        successes: observed counts, from 0 to `trials`.
        trials: number of independent trials.
        error: largest probability that the bound of one count fails, in (0, 1).

    Guarantees:
        For each count, with probability at least 1 − error, the result is at most the true probability.

    Returns:
        One bound in [0, 1] for each count.
    """
    counts: Integers = np.asarray(successes, dtype=np.int64)
    bounds = betaincinv(np.maximum(counts, 1), trials - counts + 1, error)
    return np.where(counts == 0, 0.0, bounds)


def upper_rate(successes: npt.ArrayLike, trials: int, error: float) -> Floats:
    """Return the Clopper–Pearson upper confidence bound on a success probability, for each observed count.

    The bound is 1 if all trials succeeded.

    Args:
        successes: observed counts, from 0 to `trials`.
        trials: number of independent trials.
        error: largest probability that the bound of one count fails, in (0, 1).

    Guarantees:
        For each count, with probability at least 1 − error, the result is at least the true probability.

    Returns:
        One bound in [0, 1] for each count.
    """
    counts: Integers = np.asarray(successes, dtype=np.int64)
    bounds = betainccinv(counts + 1, np.maximum(trials - counts, 1), error)
    return np.where(counts == trials, 1.0, bounds)


def joint_confidence(audits: int, confidence: float) -> float:
    """Return the confidence that each of several audits needs, so that all of them hold with a joint confidence.

    By Bonferroni's inequality, some audit fails with at most the sum of the audits' probabilities of failure.

    Args:
        audits: number of audits, at least 1.
        confidence: confidence with which all of them hold, in (0, 1).

    Returns:
        The confidence of one audit, at least `confidence` up to rounding.
    """
    return 1.0 - (1.0 - confidence) / audits

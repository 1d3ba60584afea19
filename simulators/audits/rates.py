"""Confidence bounds on a probability from a count (Clopper and Pearson 1934)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import betainccinv, betaincinv

from epsilond.simulators.audits.worlds import Floats, Integers


def lower_rate(successes: npt.ArrayLike, trials: int, error: float) -> Floats:
    """The p at which so many successes or more have probability `error`; 0 if there were none.

    Guarantee: below the true probability in all but a share `error` of experiments.
    """
    counts: Integers = np.asarray(successes, dtype=np.int64)
    found = betaincinv(np.maximum(counts, 1), trials - counts + 1, error)
    return np.where(counts == 0, 0.0, found)


def upper_rate(successes: npt.ArrayLike, trials: int, error: float) -> Floats:
    """The p at which so few successes or fewer have probability `error`; 1 if all were.

    Guarantee: above the true probability in all but a share `error` of experiments.
    """
    counts: Integers = np.asarray(successes, dtype=np.int64)
    found = betainccinv(counts + 1, np.maximum(trials - counts, 1), error)
    return np.where(counts == trials, 1.0, found)


def joint_confidence(audits: int, confidence: float) -> float:
    """The confidence of each of so many audits at which all together hold with `confidence`: Bonferroni."""
    return 1.0 - (1.0 - confidence) / audits

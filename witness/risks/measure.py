"""What repetitions say of a mean: the confidence band, and whether a bound lies above it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from epsilond.accountants.verdict import Verdict
from epsilond.simulators.problems.problem import Floats

BAND = (
    "Student's t over repetitions, at each round by itself: the mean of infinitely many repetitions lies in it with "
    "this confidence, up to how far a mean of this many is from a normal law. It ends at 0, below which no excess is"
)


@dataclass(frozen=True, kw_only=True)
class Band:
    """Means over repetitions, and the ends of their confidence interval, one for each column."""

    mean: Floats
    lower: Floats
    upper: Floats
    standard_error: Floats


def band(values: Floats, confidence: float) -> Band:
    """Of the columns of `values` ≥ 0, (repetitions ≥ 2, columns). A run that diverged makes its columns infinite."""
    repetitions = len(values)
    held = np.where(np.isnan(values), np.inf, values)
    diverged = ~np.isfinite(held).all(axis=0)
    finite = np.where(diverged, 0.0, held)
    # Scaled first, so that squares of very large or very small excesses neither overflow nor vanish.
    scale = np.maximum(np.abs(finite).max(axis=0), np.finfo(float).tiny)
    mean = (finite / scale).mean(axis=0) * scale
    error = (finite / scale).std(axis=0, ddof=1) * scale / math.sqrt(repetitions)
    reach = float(stdtrit(repetitions - 1, 0.5 + confidence / 2.0)) * error
    # No excess is below 0, but that rounding may put one there.
    return Band(
        mean=np.where(diverged, np.inf, mean),
        lower=np.where(diverged, 0.0, np.maximum(mean - reach, np.minimum(mean, 0.0))),
        upper=np.where(diverged, np.inf, mean + reach),
        standard_error=np.where(diverged, np.inf, error),
    )


def judge_bound(bound: float, lower: float, upper: float, gap: float) -> Verdict:
    """Judge whether the mean excess is at most `bound`.

    Args:
        bound: claimed upper bound on the mean excess.
        lower: lower end of the confidence band of the measured mean excess.
        upper: upper end of that band.
        gap: largest error of the measured excess, in both directions.
    """
    if upper + gap <= bound:
        return Verdict.YES
    return Verdict.NO if lower - gap > bound else Verdict.UNDECIDABLE

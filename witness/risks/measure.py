"""Statistics over repetitions: the confidence band of a mean, and whether a bound is above it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from epsilond.accountants.verdict import Verdict
from epsilond.simulators.problems.problem import Floats

BAND = (
    "Student's t over repetitions, at each round separately. The mean of infinitely many repetitions lies in it with "
    "this confidence, up to the error of the normal approximation. It ends at 0, below which no excess is"
)
"""Description of the confidence band, for the answer."""


@dataclass(frozen=True, kw_only=True)
class Band:
    """Means over repetitions with the bounds of their confidence intervals, one of each for every column.

    Attributes:
        mean: mean of the column.
        lower: lower bound of the confidence interval.
        upper: upper bound of the confidence interval.
        standard_error: standard error of the mean.
    """

    mean: Floats
    lower: Floats
    upper: Floats
    standard_error: Floats


def confidence_band(values: Floats, confidence: float) -> Band:
    """Return the mean of each column with a confidence band by Student's t distribution.

    For n values with standard deviation s, the band is mean ± t s/√n, cut off at 0. Here t is a quantile with n − 1
    degrees of freedom. A column with a value that is not finite, from a run that diverged, has an infinite mean and the
    band [0, ∞].

    Args:
        values: nonnegative values of shape (repetitions ≥ 2, columns).
        confidence: confidence of the band, in (0, 1).

    Returns:
        Mean, bounds of the band, and standard error of each column.
    """
    repetitions = len(values)
    without_nan = np.where(np.isnan(values), np.inf, values)
    has_diverged = ~np.isfinite(without_nan).all(axis=0)
    finite = np.where(has_diverged, 0.0, without_nan)

    # Scaling avoids overflow and underflow of the squares of very large or very small excesses.
    scale = np.maximum(np.abs(finite).max(axis=0), np.finfo(float).tiny)
    scaled = finite / scale
    mean = scaled.mean(axis=0) * scale
    standard_error = scaled.std(axis=0, ddof=1) * scale / math.sqrt(repetitions)
    quantile = float(stdtrit(repetitions - 1, 0.5 + confidence / 2.0))
    half_width = quantile * standard_error

    # The values are at least 0, and so is the lower bound. If rounding makes the mean negative, it is the lower bound.
    lower = np.maximum(mean - half_width, np.minimum(mean, 0.0))
    return Band(
        mean=np.where(has_diverged, np.inf, mean),
        lower=np.where(has_diverged, 0.0, lower),
        upper=np.where(has_diverged, np.inf, mean + half_width),
        standard_error=np.where(has_diverged, np.inf, standard_error),
    )


def judge_bound(bound: float, lower: float, upper: float, gap: float) -> Verdict:
    """Decide whether a measured mean excess satisfies a theorem's bound.

    The measured mean is known up to its confidence band, and up to the error of the computed minimum.

    Args:
        bound: claimed upper bound on the mean excess.
        lower: lower bound of the confidence band of the measured mean excess.
        upper: upper bound of that band.
        gap: largest error of the measured excess, in both directions.

    Returns:
        YES if the whole band, with the error, is at most the bound, NO if it is all above, otherwise UNDECIDABLE.
    """
    if upper + gap <= bound:
        return Verdict.YES
    if lower - gap > bound:
        return Verdict.NO
    return Verdict.UNDECIDABLE

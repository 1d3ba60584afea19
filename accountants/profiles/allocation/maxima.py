"""The largest of t noisy batch sums, of which k have an extra shift: a pair that random batches attain.

k batches of t hold the unit. Their sums are shifted by a under P and by b under Q, in standard deviations, and the sums
of all other batches are known up to noise. The largest deviation M from these known sums has the distribution functions
Φ(x − a)^k Φ(x)^(t − k) and Φ(x − b)^k Φ(x)^(t − k). It does not depend on which batches hold the unit.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference
from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair

if TYPE_CHECKING:
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.numerics.special import FloatArray

    BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

_CELLS = 4000
"""Number of cells. The last cell has no upper bound."""
_BELOW = -8.0
"""First bound of the cells, in standard deviations."""
_BEYOND = 20.0
"""Distance of the last bound from the larger shift, in standard deviations."""
_VALUE_ERROR = 1e-12
"""Constant part of the relative error of a tail or of a distribution function."""
_LOG_ERROR = 1e-14
"""Relative error of a tail or of a distribution function, per unit of the size of its logarithm.

log Φ(x) is about −x²/2 for large negative x. The rounding of x adds x² u to it, with the unit roundoff u, and
`log_ndtr` adds a few units of roundoff of its value.
"""
_LOG_TINY = -32.0
"""Log of a sum of tails, 1.3e-14, below which the probability of their union is the sum, within `_VALUE_ERROR`."""
_ACCURACY = 1e-9
"""Largest error of the log mass of a cell, per unit of 1 + |log mass|; cells with a larger error are left out."""
_KEPT = 64
"""Number of stored pairs, of about a thousand atoms each."""


@functools.lru_cache(maxsize=_KEPT)
def largest_sum_pair(shift: float, other_shift: float, steps: int, times_chosen: int) -> Pair:
    """Return a pair for lower bounds on δ for a unit in k of t random batches, from the largest noisy batch sum.

    The unit is the record or client that is protected. Its batches have the shift a under P, and b under Q. Only the
    interval (cell) that contains the largest sum is used, and losses are rounded down. Both only lower δ.

    Args:
        shift: shift a ≥ 0 of one sum under P, in standard deviations of the noise.
        other_shift: shift b of one sum under Q, 0 ≤ b ≤ a.
        steps: number t of sums.
        times_chosen: number k of sums with the shift.

    Returns:
        The distributions P and Q of the merged outputs; its hockey-stick divergence is at most δ of the run.
    """
    bounds = _cell_bounds(shift, other_shift)
    log_p, p_error = _cell_masses(bounds, shift, steps, times_chosen)
    log_q, q_error = _cell_masses(bounds, other_shift, steps, times_chosen)
    is_accurate = _is_accurate(log_p, p_error) & _is_accurate(log_q, q_error)
    pair = finite_pair(log_p[is_accurate], log_q[is_accurate], _ACCURACY)

    # With public batches, δ is at least as large, because the hockey-stick divergence is jointly convex.
    public = math.sqrt(times_chosen) * (shift - other_shift) * (1.0 + 8 * UNIT_ROUNDOFF)
    return replace(pair, below=gaussian_pair(public))


def _is_accurate(log_masses: FloatArray, relative_errors: FloatArray) -> BoolArray:
    """Return which masses have a log that is accurate enough for `finite_pair`, given their relative errors."""
    log_errors = 2.0 * relative_errors  # −log(1 − e) ≤ 2 e for a relative error e ≤ 1/2
    return (relative_errors <= 0.5) & (log_errors <= _ACCURACY * (1.0 + np.abs(log_masses)))


def _cell_bounds(shift: float, other_shift: float) -> FloatArray:
    """Return increasing bounds of intervals, which are narrow where either distribution has most of its mass.

    Args:
        shift: shift of one sum under P, in standard deviations.
        other_shift: shift of one sum under Q, at most `shift`.

    Returns:
        The bounds in standard deviations. The last one is inf.
    """
    last = shift + _BEYOND
    end_of_low, start_of_high = other_shift + _BEYOND, shift - _BEYOND
    if start_of_high <= end_of_low:
        return np.append(np.linspace(_BELOW, last, _CELLS), np.inf)

    # The shifts are so far apart that nearly no sum is between two ranges around them.
    low = np.linspace(_BELOW, end_of_low, _CELLS // 2)
    high = np.linspace(start_of_high, last, _CELLS // 2)
    return np.concatenate((low, high, [np.inf]))


def _cell_masses(bounds: FloatArray, shift: float, steps: int, times_chosen: int) -> tuple[FloatArray, FloatArray]:
    """Return log probabilities that the largest of several noisy sums is in each cell, and their relative errors.

    With the normal distribution function Φ, the largest sum has the distribution function Φ(x − a)^k Φ(x)^(t − k). The
    probability of a cell below the median is a difference of values of this function, and of a cell above it one of
    tails.

    Args:
        bounds: increasing bounds of the cells, that is, intervals of values, in standard deviations.
        shift: shift a of one sum, in standard deviations.
        steps: number t of sums.
        times_chosen: number k of sums with the shift.

    Returns:
        One log probability for each cell, and a bound on its relative error; inf where the probability is not usable.
    """
    unshifted_count = steps - times_chosen
    log_unshifted_below = unshifted_count * _log_normal_distribution(bounds)
    log_below = times_chosen * _log_normal_distribution(bounds - shift) + log_unshifted_below

    # A sum without the shift is above a bound, or none of these is and a sum with the shift is.
    log_unshifted_above = _log_any_above(bounds, unshifted_count)
    log_only_shifted_above = _log_any_above(bounds - shift, times_chosen) + log_unshifted_below
    log_above = np.logaddexp(log_unshifted_above, log_only_shifted_above)

    # The difference, from the smaller side of each cell.
    is_low = log_below[1:] < -np.log(2.0)
    larger = np.where(is_low, log_below[1:], log_above[:-1])
    smaller = np.where(is_low, log_below[:-1], log_above[1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        log_masses = log_difference(larger, np.minimum(smaller, larger))
        largest_log = np.where(np.isfinite(smaller), np.abs(smaller), np.abs(larger))
        relative_error = _VALUE_ERROR + _LOG_ERROR * largest_log
        # The relative error of a difference grows by the quotient of the larger tail and the difference.
        error = 2.0 * relative_error * np.exp(larger - log_masses)
    is_usable = np.isfinite(log_masses) & np.isfinite(error)
    return log_masses, np.where(is_usable, error, np.inf)


def _log_any_above(x: FloatArray, count: int) -> FloatArray:
    """Return log(1 − Φ(x)ⁿ), the log probability that the largest of n standard normal variables exceeds x.

    Where all tails are tiny, the probability of their union is their sum, within the stated error.

    Args:
        x: points on the line, a flat array.
        count: number n of variables; the result is −∞ if it is 0.

    Returns:
        One natural logarithm for each point.
    """
    if count == 0:
        return np.full(x.shape, -np.inf)
    log_sum_of_tails = math.log(count) + log_ndtr(-x)
    with np.errstate(divide="ignore"):
        log_union = np.log(-np.expm1(count * _log_normal_distribution(x)))
    return np.where(log_sum_of_tails < _LOG_TINY, log_sum_of_tails, log_union)


def _log_normal_distribution(x: FloatArray) -> FloatArray:
    """Return log Φ(x), with a small relative error also where Φ is close to 1."""
    return np.where(x > 0.0, np.log1p(-ndtr(-np.abs(x))), log_ndtr(np.minimum(x, 0.0)))

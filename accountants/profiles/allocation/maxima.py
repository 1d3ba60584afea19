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

_CELLS, _BELOW, _BEYOND, _FARTHEST = 4000, -8.0, 20.0, 37.0
"""Number of cells, their first bound, the last one beyond the larger shift, and its largest value; tails reach 1e-299.

The last cell has no upper bound. All bounds are in standard deviations.
"""
_VALUE_ERROR = 1e-12
"""Relative error of a tail or of a distribution function: above 1000 units of roundoff for |x| ≤ 37 (x² u and more)."""
_ACCURACY = 1e-9
"""Relative error of the mass of a cell; cells with a larger error are left out."""
_KEPT = 64
"""Number of stored pairs, of about a thousand atoms each."""


@functools.lru_cache(maxsize=_KEPT)
def largest_sum_pair(shift: float, other_shift: float, steps: int, times_chosen: int) -> Pair:
    """Return an attained pair for a unit in k of t random batches: the distribution of the largest noisy batch sum.

    A sum has the shift a in the k batches with the unit under P, and b under Q. The largest sum is observed only by its
    cell, and losses are rounded down, so that the pair gives lower bounds on δ.

    Args:
        shift: shift a ≥ 0 of one sum under P, in standard deviations.
        other_shift: shift b of one sum under Q, 0 ≤ b ≤ a.
        steps: number of sums t.
        times_chosen: number k of sums with the shift.
    """
    bounds = np.append(np.linspace(_BELOW, min(shift + _BEYOND, _FARTHEST), _CELLS), np.inf)
    log_p, p_error = _cell_masses(bounds, shift, steps, times_chosen)
    log_q, q_error = _cell_masses(bounds, other_shift, steps, times_chosen)
    is_accurate = (p_error <= _ACCURACY) & (q_error <= _ACCURACY)
    pair = finite_pair(log_p[is_accurate], log_q[is_accurate], _ACCURACY)
    # By joint convexity, the pair of public batches dominates.
    public = math.sqrt(times_chosen) * (shift - other_shift) * (1.0 + 8 * UNIT_ROUNDOFF)
    return replace(pair, below=gaussian_pair(public))


def _cell_masses(bounds: FloatArray, shift: float, steps: int, times_chosen: int) -> tuple[FloatArray, FloatArray]:
    """Return log probabilities that the largest of several noisy sums is in each cell, and their relative errors.

    A cell below the median is a difference of distribution functions, and a cell above it one of tails.

    Args:
        bounds: bounds of the cells.
        shift: shift of one sum, in standard deviations.
        steps: number of sums.
        times_chosen: number of sums with the shift.
    """
    with_shift = times_chosen * _log_normal_distribution(bounds - shift)
    log_below = with_shift + (steps - times_chosen) * _log_normal_distribution(bounds)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_above = np.log(-np.expm1(log_below))
        is_low = log_below[1:] < -np.log(2.0)
        larger = np.where(is_low, log_below[1:], log_above[:-1])
        smaller = np.where(is_low, log_below[:-1], log_above[1:])
        log_masses = log_difference(larger, np.minimum(smaller, larger))
        # The logarithm of a distribution function has an absolute error that grows with its size.
        error = 2.0 * _VALUE_ERROR * (1.0 + np.where(is_low, np.abs(log_below[:-1]), 0.0)) * np.exp(larger - log_masses)
    is_usable = np.isfinite(log_masses) & np.isfinite(error) & (log_masses > -700.0)
    return log_masses, np.where(is_usable, error, np.inf)


def _log_normal_distribution(x: FloatArray) -> FloatArray:
    """Return log Φ(x), with a small relative error also where Φ is close to 1."""
    return np.where(x > 0.0, np.log1p(-ndtr(-np.abs(x))), log_ndtr(np.minimum(x, 0.0)))

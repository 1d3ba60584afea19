"""Discrete Gaussian noise, P(y) ∝ e^{−y²/2σ²} on the integers, against its shift by k.

The loss at y is (k/σ²) (k/2 − y). Up to a scale of 2^13 all outcomes within 42 scales are listed, at least 1024 of
them to each side. Beyond that scale outcomes are merged into cells, which are intervals of integers.

A cell of the integers a, …, b − 1 has the sum of f(y) = e^{−y²/2σ²}. By the midpoint rule this is the integral of f
from a − 1/2 to b − 1/2 within (1/24) ∫ |f″|, where f″ = f (y²/σ² − 1)/σ². The relative error is at most
(z² + 1)/(24σ²) at z scales from 0, and twice that is charged. Merging attains a lower bound on δ. Raising the loss to
the largest one of the cell gives an upper bound.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference, log_normal_tail
from epsilond.accountants.profiles.integers.discrete_gaussian_renyi import DiscreteGaussianRenyi
from epsilond.accountants.profiles.integers.shifted_noise import ShiftedPairs, ShiftedTable, shifted_pairs

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

REACH = 42.0
"""Largest distance from 0 of listed outcomes, in scales; the rest has a probability below 1e-382."""
LARGEST_LISTED = 2.0**13
"""Largest scale at which every outcome is listed; the table has at most 700,000 entries."""
_LEAST_REACH = 1024
"""Least number of listed outcomes on each side."""
_CELLS = 2**17
"""Number of cells of noise of a larger scale."""
_KEPT = 16
"""Number of stored tables, of some megabytes each."""


@lru_cache(maxsize=_KEPT)
def discrete_gaussian_pairs(scale: float, shift: int) -> ShiftedPairs:
    """Return pairs of distributions for upper and lower bounds on δ of discrete Gaussian noise, shifted by k ≥ 0.

    Up to the scale `LARGEST_LISTED` every outcome is listed. Wider noise is grouped into cells, that is, intervals of
    integers.

    Args:
        scale: scale σ, from 2^−20 to 2^40.
        shift: shift k, the sensitivity of the released integer, at most 1e15.

    Returns:
        Two pairs of distributions. δ of `upper` is at least that of the noise against the shifted noise, and δ of
        `attained` is at most that.
    """
    if shift == 0:
        return shifted_pairs(None)
    formula = DiscreteGaussianRenyi(scale, shift)
    if scale <= LARGEST_LISTED:
        return shifted_pairs(_table(scale, shift), formula)

    # Outcomes of wide noise are merged into cells, in one table for upper and one for lower bounds.
    edges = _cell_edges(scale, shift)
    upper_table, attained_table = _cells(scale, shift, edges)
    dominating = shifted_pairs(upper_table, formula).upper
    attained = shifted_pairs(attained_table, formula).attained
    return ShiftedPairs(dominating, attained)


def _table(scale: float, shift: int) -> ShiftedTable:
    """Return the positive privacy losses and the probabilities of discrete Gaussian noise, outcome by outcome.

    The probability of an integer y is proportional to e^{−y²/2σ²}. Its loss against the noise shifted by k is
    (k²/2 − ky)/σ², which decreases in y. The outcomes from −R to the last one of positive loss, which is at most R, are
    listed.

    Args:
        scale: scale σ of the noise.
        shift: shift k ≥ 1.

    Returns:
        The table, with a bound on the probability of all other outcomes.
    """
    reach = max(math.ceil(REACH * scale), _LEAST_REACH)

    # The sum of all probabilities, before normalisation, from the smallest to the largest.
    exponents = 0.5 * np.square(np.arange(reach + 1.0) / scale)
    descending_exponents = exponents[:0:-1]  # of R, …, 1
    log_total = math.log(2.0 * float(np.sum(np.exp(-descending_exponents))) + 1.0)

    last = min(reach, (shift - 1) // 2)  # the largest outcome y < k/2, where the loss is positive
    outcomes = np.arange(last, -reach - 1, -1.0)
    losses = shift / scale * ((0.5 * shift - outcomes) / scale)
    log_masses = -0.5 * np.square(outcomes / scale) - log_total

    # Consecutive probabilities beyond R fall at least by the factor e^{−(R + 1)/σ²}, so a geometric sum bounds a tail.
    log_ratio = -(reach + 1.0) / scale / scale
    log_first_beyond = -0.5 * ((reach + 1.0) / scale) ** 2 * (1.0 - 8 * UNIT_ROUNDOFF)
    log_one_tail = log_first_beyond - math.log(-math.expm1(log_ratio))

    # All losses are multiples of k/σ² for an even k, and of half of it for an odd k.
    span = (shift / scale) / scale * (0.5 if shift % 2 else 1.0)
    log_both_tails = log_one_tail + math.log(2.0)
    return ShiftedTable(losses, log_masses, log_both_tails, mass_accuracy=128 * UNIT_ROUNDOFF, span=span)


def _cell_edges(scale: float, shift: int) -> FloatArray:
    """Return the edges of cells, intervals of integers into which outcomes of discrete Gaussian noise are merged.

    They decrease from about k/2, where the privacy loss is 0, or from the reach of the table.

    Args:
        scale: scale σ of the noise.
        shift: shift k ≥ 1.

    Returns:
        Decreasing integers, as doubles.
    """
    reach = math.ceil(REACH * scale)
    last = min(reach, (shift - 1) // 2)
    width = max((last + reach) // _CELLS, 1)
    return np.arange(last + 1.0, -reach - width, -width)


def _cells(scale: float, shift: int, edges: FloatArray) -> tuple[ShiftedTable, ShiftedTable]:
    """Return tables of merged outcomes of discrete Gaussian noise, for upper and for lower bounds on δ.

    Consecutive outcomes are merged into cells. In the first table, each cell has the largest privacy loss of its
    outcomes. In the second, each cell has the loss log p/q of its total probabilities p and q, lowered by its error.
    A sum of probabilities is replaced by an integral of the normal density, of which it is the midpoint rule. The
    relative error is at most (z² + 1)/(24σ²) at a distance of z σ from 0.

    Args:
        scale: scale σ of the noise.
        shift: shift k ≥ 1.
        edges: integers a₀ > a₁ > …; cell i has the integers from a_{i+1} to a_i − 1.

    Returns:
        The table with an upper bound as its δ, and the table with a lower bound as its δ.
    """
    # The upper bound: the largest loss of a cell is that of its smallest integer.
    farthest = float(np.max(np.abs(edges))) / scale
    # Relative error of the midpoint rule, and of the normal tails.
    error = (farthest**2 + 1.0) / (24.0 * scale * scale) + 64 * UNIT_ROUNDOFF * (1.0 + farthest**2)
    log_masses = _log_cells(scale, edges)
    largest_losses = shift / scale * ((0.5 * shift - edges[1:]) / scale)
    # The probability of outcomes beyond the cells, at most twice that of a normal tail.
    log_rest = math.log(2.0) + float(log_normal_tail(np.asarray([REACH - 1.0]))[0])
    upper = ShiftedTable(largest_losses, log_masses, log_rest, 2.0 * error)

    # The lower bound: the loss of a merged cell. `shifted_pairs` raises losses by their error, so they are lowered
    # twice as far here.
    losses_of_cells = log_masses - _log_cells(scale, edges - shift)
    square_distance = (farthest + shift / scale) ** 2
    error_of_shifted = (square_distance + 1.0) / (12.0 * scale * scale)
    # The errors of both probabilities of a cell, and of the rounding of their logarithms.
    loss_error = 4.0 * error + error_of_shifted + 256 * UNIT_ROUNDOFF * (1.0 + square_distance)
    lowered = losses_of_cells - 2.0 * loss_error

    # Left out are cells up to the last loss that may not be positive, and cells at which the loss does not increase.
    is_positive_from_here = np.minimum.accumulate((lowered > 0.0)[::-1])[::-1]
    is_increasing = np.diff(lowered, prepend=-np.inf) > 0.0
    chosen = is_positive_from_here & is_increasing
    attained = ShiftedTable(lowered[chosen], log_masses[chosen] - 2.0 * error, -math.inf, 2.0 * error)
    return upper, attained


def _log_cells(scale: float, edges: FloatArray) -> FloatArray:
    """Return the log probabilities of cells of integers, approximated by those of a normal distribution.

    Cell i has the integers from a_{i+1} to a_i − 1. The normal density is integrated from a_{i+1} − 1/2 to a_i − 1/2.

    Args:
        scale: scale σ of the noise, the standard deviation of the normal distribution.
        edges: decreasing integers a_i, as doubles.

    Returns:
        One natural logarithm for each cell.
    """
    edges_in_scales = (edges - 0.5) / scale
    low, high = edges_in_scales[1:], edges_in_scales[:-1]
    # By symmetry, a cell below 0 is mirrored to one above it.
    is_above = low >= 0.0
    near, far = np.where(is_above, low, -high), np.where(is_above, high, -low)
    return np.asarray(log_difference(log_normal_tail(near), log_normal_tail(far)))

"""Bounds of cells, in which the values of a sum or product of finite distributions are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_BINS = 4096
"""Number of bins of a sum on a logarithmic scale, from which the bounds of the cells are chosen."""
_FLATTENING = 0.125
"""Power of the density in the density of cells: an eighth resolves tails down to about 1e-18 with a thousand cells."""
_EVEN_SHARE = 0.15
"""Fraction of the cells that are evenly spaced on the logarithmic scale, so that no cell is very wide."""
_MOST_SORTED = 300_000
"""Largest number of sums of which the distinct ones are counted. Ratios with few values have few distinct sums."""
_LARGEST_LOG_RATIO = 600.0
"""Largest logarithm of a value over the mean in the choice of cells; its exponential is a double."""
_ALMOST_EQUAL = 1e-12
"""Relative distance up to which two sums are in one group."""


def distinct_bounds(sums: FloatArray, cells: int) -> FloatArray | None:
    """Return bounds of cells, intervals of values, so that no cell holds sums of two groups of almost equal sums.

    The bounds are the first and last sum of each group, 0, and a number beyond all sums.

    Args:
        sums: values ≥ 0, a flat array, not empty.
        cells: largest number of groups.

    Returns:
        Increasing bounds; None if there are more groups than `cells`, or more than `_MOST_SORTED` sums.
    """
    if sums.size > _MOST_SORTED:
        return None
    ordered = np.sort(sums)
    # A group begins where a sum exceeds the one before by more than the rounding error.
    is_first = np.append(True, np.diff(ordered) > _ALMOST_EQUAL * ordered[1:])
    if int(is_first.sum()) > cells:
        return None
    # The last cell is empty: a sum at a bound belongs to the cell above it.
    outermost = [0.0, 2.0 * max(float(ordered[-1]), 1.0)]
    is_last = np.append(is_first[1:], True)
    return np.unique(np.concatenate((outermost, ordered[is_first], ordered[is_last])))


def combine_pairs(
    combine: np.ufunc,
    first_places: FloatArray,
    first_masses: FloatArray,
    second_places: FloatArray,
    second_masses: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return all sums, or all products, of values of two finite distributions, with their masses.

    The mass of a combined value is the product of two masses. If both operands are the same arrays, each unordered pair
    is listed once. A pair of two different values then has twice the product as its mass, which is exact.

    Args:
        combine: the commutative operation, `np.add` or `np.multiply`.
        first_places: values of the first term.
        first_masses: probabilities of these values.
        second_places: values of the second term.
        second_masses: probabilities of these values.

    Returns:
        The combined values and their masses, in flat arrays of equal length.
    """
    is_same_term = first_places is second_places and first_masses is second_masses
    if not is_same_term:
        combined = combine.outer(first_places, second_places)
        return combined.ravel(), np.multiply.outer(first_masses, second_masses).ravel()
    # Each unordered pair once: the upper triangle of the table of products.
    rows, columns = np.triu_indices(first_places.size)
    masses = first_masses[rows] * first_masses[columns]
    masses[rows != columns] *= 2.0
    return combine(first_places[rows], first_places[columns]), masses


def cell_bounds(sums: FloatArray, masses: FloatArray, cells: int) -> FloatArray:
    """Choose bounds of cells, intervals that contain all values of a sum, dense where most of the probability is.

    A sum of two finite distributions has many values. Those in one cell are merged later. The choice affects the
    tightness of a bound, not its validity.

    Args:
        sums: values ≥ 0 of a likelihood ratio dP/dQ, or of a multiple of it, not all 0.
        masses: probabilities of the values under Q.
        cells: approximate number of cells, apart from the one between 0 and the least positive sum.

    Returns:
        The bounds, increasing from 0 to the largest sum.
    """
    is_positive = sums > 0.0
    positive, positive_masses = sums[is_positive], masses[is_positive]
    least, largest = float(positive.min()), float(positive.max())
    log_least, log_largest = np.log(least), np.log(largest)
    if not log_largest > log_least:
        return np.asarray([0.0, least])

    # A histogram of the masses under Q over the logarithm of the value.
    position = (np.log(positive) - log_least) / (log_largest - log_least)
    bins = np.minimum((position * _BINS).astype(np.int64), _BINS - 1)
    log_bounds = np.linspace(log_least, log_largest, _BINS + 1)
    mass_under_q = np.bincount(bins, positive_masses, _BINS)

    # The masses under P are those under Q times the ratio, after the sum is divided by its mean.
    mean = float(positive_masses @ positive)
    log_ratios = 0.5 * (log_bounds[1:] + log_bounds[:-1]) - np.log(max(mean, least))
    total_mass = mass_under_q * (1.0 + np.exp(np.minimum(log_ratios, _LARGEST_LOG_RATIO)))
    chosen = np.exp(spread_bounds(log_bounds, total_mass, cells))
    inner = chosen[(chosen > least) & (chosen < largest)]
    return np.unique(np.concatenate(([0.0, least], inner, [largest])))


def spread_bounds(scale: FloatArray, masses: FloatArray, cells: int) -> FloatArray:
    """Choose bounds of cells, that is, of intervals that are narrower where a distribution has more mass.

    The density of the cells is a small power of the probability density, plus a constant. The constant limits the width
    of the cells where the distribution has almost no mass.

    Args:
        scale: increasing bounds of the bins of a histogram.
        masses: mass of each bin.
        cells: number of cells.

    Returns:
        `cells` + 1 increasing bounds, from the first to the last of `scale`.
    """
    widths = np.diff(scale)
    least_mass = 1e-300  # keeps the power positive
    flattened = (np.maximum(masses, least_mass) / widths) ** _FLATTENING
    dense_share = (1.0 - _EVEN_SHARE) * flattened * widths / float(flattened @ widths)
    even_share = _EVEN_SHARE * widths / float(scale[-1] - scale[0])

    # Bounds at equal steps of the cumulative density.
    cumulative = np.concatenate(([0.0], np.cumsum(dense_share + even_share)))
    quantiles = np.linspace(0.0, cumulative[-1], cells + 1)
    return np.asarray(np.interp(quantiles, cumulative, scale))

"""Products of independent likelihood ratios in the convex order, for several epochs on the same batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log1m_exp
from epsilond.accountants.profiles.allocation.cells import cell_bounds, combine_pairs, distinct_bounds
from epsilond.accountants.profiles.allocation.ratios import combine_copies, sum_infinite

if TYPE_CHECKING:
    from epsilond.accountants.profiles.allocation.ratios import FiniteRatio

_LARGEST_PRODUCT = 1e174
"""Largest product, about e^400. Larger ones, and those below its inverse, are far: see `multiply_ratios`."""
_NEGLIGIBLE_MASS = 1e-290
"""Total mass of far values of a product that are left out, or moved to zero and infinity."""
_NEGLIGIBLE_LOG_MASS = -667.0
"""Logarithm of `_NEGLIGIBLE_MASS`, approximately."""


def multiply_copies(factor: FiniteRatio, times: int, cells: int) -> FiniteRatio:
    """Return a bound on the product of independent copies of a likelihood ratio, with finitely many values.

    A bound is above (or below) a ratio if its expectations of all convex functions are at least (or at most) as large.

    Args:
        factor: bound on the ratio, from above or from below.
        times: number of copies, at least 1.
        cells: number of intervals (cells). The values of a product in the same cell are merged.

    Returns:
        The bound on the product, from above or from below like `factor`.
    """
    return combine_copies(factor, times, lambda first, second: multiply_ratios(first, second, cells))


def multiply_ratios(first: FiniteRatio, second: FiniteRatio, cells: int) -> FiniteRatio:
    """Return a bound, with finitely many values, on the product of two independent likelihood ratios.

    The likelihood ratio of two independent outputs is the product of their ratios. Both ratios, and so the product, are
    bounded in the convex order, from above or from below. Products of values are merged into cells. For a bound from
    above, very large and very small ones move to zero and infinity. For one from below, they are left out.

    Args:
        first: the first ratio.
        second: the second ratio, bounded on the same side.
        cells: approximate number of cells of the product.

    Returns:
        The bound on the product, on the same side.
    """
    operands = first.places, first.weights, second.places, second.weights
    with np.errstate(over="ignore", under="ignore"):
        products, masses = combine_pairs(np.multiply, *operands)

    # Products above `_LARGEST_PRODUCT` or below its inverse; a product of two positive values may round to zero.
    is_far = (products > _LARGEST_PRODUCT) | ((products > 0.0) & (products < 1.0 / _LARGEST_PRODUCT))
    if (products == 0.0).any():
        smaller_factors, _ = combine_pairs(np.minimum, *operands)
        is_far |= (products == 0.0) & (smaller_factors > 0.0)

    # In a bound from above, their mass under Q moves to zero, and that under P to infinity.
    log_infinite = -np.inf
    if is_far.any():
        far_mass = float(masses[is_far].sum())
        products, masses = products[~is_far], masses[~is_far]
        if first.side == "above":
            log_infinite = _log_mass_of_far_products(first, second)
            # Rounded up by more than the error of the sum.
            masses = np.append(masses, far_mass * (1.0 + 1e-9))
            products = np.append(products, 0.0)
    if not products.size:  # in a bound from below, all values may be left out
        empty = np.empty(0)
        return replace(first, places=empty, weights=empty, log_infinite=_log_infinite_product(first, second))

    bounds = distinct_bounds(products, cells)
    if bounds is None:
        bounds = cell_bounds(products, masses, cells)
    merged_ratio = first.merge(second, products, masses, bounds)
    # The relative errors of both factors add up, with one rounding of the product.
    place_error = first.place_error + second.place_error + merged_ratio.place_error + 2 * UNIT_ROUNDOFF
    if first.side == "below":
        log_infinite = _log_infinite_product(first, second)
    else:
        log_infinite = sum_infinite(merged_ratio.log_infinite, log_infinite, "above")
    return _trim(replace(merged_ratio, place_error=place_error, log_infinite=log_infinite))


def _log_infinite_product(first: FiniteRatio, second: FiniteRatio) -> float:
    """Return a lower bound on the log probability that a product of two independent likelihood ratios is infinite.

    With the probabilities a and b under P that the two ratios dP/dQ are infinite, it is a + (1 − a) b.

    Args:
        first: lower bound on one likelihood ratio in the convex order.
        second: lower bound on the other ratio.

    Returns:
        The natural logarithm, rounded down; −∞ if neither ratio may be infinite.
    """
    log_finite = float(log1m_exp(first.log_infinite)) if first.log_infinite > -np.inf else 0.0
    return sum_infinite(first.log_infinite, second.log_infinite + log_finite, "below")


def _log_mass_of_far_products(first: FiniteRatio, second: FiniteRatio) -> float:
    """Return the log of an upper bound on the probability of products that are too large or too small.

    Their mass under Q moves to zero, and that under P to infinity. The mass under P of a product is its value times its
    mass under Q.

    Args:
        first: the first likelihood ratio.
        second: the second likelihood ratio.

    Returns:
        The natural logarithm, rounded up; −∞ if no product is too large or too small.
    """
    log_places, log_p = [], []
    for ratio in (first, second):
        # A mass or value of 0 counts as 1e-308, which has a logarithm.
        log_values = np.log(np.maximum(ratio.places, 1e-308))
        log_places.append(log_values)
        log_p.append(log_values + np.log(np.maximum(ratio.weights, 1e-308)))
    log_products = np.add.outer(*log_places)
    # Products near the limit count too, because logarithms are rounded.
    is_far = np.abs(log_products) > np.log(_LARGEST_PRODUCT) * (1.0 - 1e-9)
    log_masses = np.add.outer(*log_p)[is_far]
    # Upward margin, larger than the error of the sum of logarithms.
    rounding = 1e-9
    return float(np.logaddexp.reduce(log_masses, initial=-np.inf)) + rounding


def _trim(ratio: FiniteRatio) -> FiniteRatio:
    """Return a bound on a likelihood ratio without the far values that have almost no probability.

    The result is on the same side of the true ratio in the convex order. Above, a large value is replaced by zero and
    infinity. A small one is replaced by zero and the least value that remains, with the same mean. Both moves only
    raise the ratio in the convex order. Below, far values are left out.

    Args:
        ratio: values of the likelihood ratio with their masses, above or below the true one in the convex order.

    Returns:
        The ratio with fewer values; the same object if nothing is negligible.
    """
    places, weights = ratio.places, ratio.weights
    # A mass or value of 0 counts as 1e-308, which has a logarithm.
    log_p = np.log(np.maximum(places, 1e-308)) + np.log(np.maximum(weights, 1e-308))
    log_p_from_above = np.logaddexp.accumulate(log_p[::-1])[::-1]  # of each value and all larger ones
    is_large = log_p_from_above <= _NEGLIGIBLE_LOG_MASS
    is_small = (np.cumsum(weights) <= _NEGLIGIBLE_MASS) & (places > 0.0)
    if not (is_large.any() or is_small.any()):
        return ratio
    is_retained = ~(is_large | is_small)
    retained_places = places[is_retained]
    if not (retained_places > 0.0).any():
        return ratio
    retained, log_infinite = weights[is_retained], ratio.log_infinite
    if ratio.side == "below":
        return replace(ratio, places=retained_places, weights=retained, log_infinite=log_infinite)

    # The mass under P of large values moves to infinity, and that of small ones to the least value that remains.
    # Upward margin, larger than the rounding errors of the sums.
    rounding = 1e-9
    if is_large.any():
        log_mass = float(log_p_from_above[is_large].max()) + rounding
        log_infinite = sum_infinite(log_infinite, log_mass, "above")
    first = int(np.argmax(retained_places > 0.0))
    moved_mass = float(weights[is_small] @ (places[is_small] / retained_places[first]))
    retained = retained.copy()
    retained[first] += moved_mass * (1.0 + rounding)

    # The mass under Q of all of them moves to zero.
    outside = float(weights[is_large | is_small].sum()) + _NEGLIGIBLE_MASS
    if retained_places[0] > 0.0:
        retained_places, retained = np.append(0.0, retained_places), np.append(outside, retained)
    else:
        retained[0] += outside
    return replace(ratio, places=retained_places, weights=retained, log_infinite=log_infinite)

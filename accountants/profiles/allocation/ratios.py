"""Finite bounds, in the convex order, of a likelihood ratio and of sums of independent ones.

For a pair (P, Q) let X = dP/dQ under Q. Then E_γ(P‖Q) = E(X − γ)₊ and E_γ(Q‖P) = E(1 − γX)₊ at every γ. Both are
expectations of convex functions of X. A ratio X' with E F(X) ≤ E F(X') for all convex F therefore dominates in both
directions, also in every composition. Sums of independent variables keep this order. So do two operations on a cell:

    above   the mass at x moves to both bounds of its cell, with the mean unchanged;
    below   all the mass of a cell moves to the mean of the cell.

Roundings are charged as relative errors of the weights and of the places (docs/random-allocation.md, Error terms).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, Self, TypeVar

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, FloatArray, log_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Side = Literal["above", "below"]
"""Place of a finite distribution in the convex order, relative to the true ratio."""

_BINS = 4096
"""Number of bins of a sum on a logarithmic scale, from which the bounds of the cells are chosen."""
_FLATTENING = 0.125
"""Power of the density in the density of cells: an eighth resolves tails down to about 1e-18 with a thousand cells."""
_EVEN_SHARE = 0.15
"""Fraction of the cells that are evenly spaced on the logarithmic scale, so that no cell is very wide."""
_QUANTILE = 0.999
"""Quantile of a term up to which its mean and deviation are taken: its variance may be due to rare large values."""
_FAR = 3.0
"""Least distance of two far values, in standard deviations of the other term."""
_MOST_SORTED = 300_000
"""Largest number of sums of which the distinct ones are counted. Ratios with few values have few distinct sums."""
_LARGEST_LOG_RATIO = 600.0
"""Largest logarithm of a value over the mean in the choice of cells; its exponential is a double."""
_ALMOST_EQUAL = 1e-12
"""Relative distance up to which two sums are in one group."""
LEAST_LOG_PLACE = -690.0
"""Least logarithm of a positive place; its exponential is a normal double."""


@dataclass(frozen=True, eq=False)
class FiniteRatio:
    """A measure on finitely many values of a likelihood ratio, above or below the true one in the convex order.

    Attributes:
        places: increasing values x ≥ 0 of the ratio, each within a relative `place_error`.
        weights: their masses under Q, each within a relative `weight_error`.
        log_infinite: log of a bound, on the same side, on the mass under P that is at an infinite ratio.
        weight_error: relative error of every weight.
        place_error: relative error of every place.
        side: above or below.
    """

    places: FloatArray
    weights: FloatArray
    log_infinite: float
    weight_error: float
    place_error: float
    side: Side

    def add(self, other: FiniteRatio, cells: int) -> FiniteRatio:
        """Return a bound, with finitely many values, on the sum of two independent ratios.

        Both are bounds in the convex order, which sums of independent variables keep. Sums of values are merged into
        few cells.

        Args:
            other: the second ratio, bounded on the same side.
            cells: number of cells of the sum.
        """
        sums, masses = combine_pairs(np.add, self.places, self.weights, other.places, other.weights)
        if not sums.size:  # below, no finite value may be known
            return replace(self, log_infinite=sum_infinite(self.log_infinite, other.log_infinite, self.side))
        bounds = distinct_bounds(sums, cells)
        if bounds is None:
            bounds = _merge_far_bounds(cell_bounds(sums, masses, cells), self, other)
        return self.merge(other, sums, masses, bounds)

    def merge(self, other: FiniteRatio, values: FloatArray, masses: FloatArray, bounds: FloatArray) -> FiniteRatio:
        """Return a bound on a sum or product of two independent ratios, after its values are moved to few places.

        Above, the mass of a value moves to both bounds of its cell. Below, all mass of a cell moves to its mean.

        Args:
            other: the second ratio, bounded on the same side.
            values: sums or products of all pairs of values.
            masses: their masses.
            bounds: increasing bounds of cells that contain all of them.
        """
        index = np.clip(np.searchsorted(bounds, values, side="right") - 1, 0, bounds.size - 2)
        most_terms = float(np.bincount(index).max())
        if self.side == "above":
            places, weights = _split_cells(values, masses, bounds, index)
            rounding = 1.0
        else:
            places, weights, moved_share = _merge_cells(values, masses, bounds, index)
            rounding = 4.0 + 2.0 * (most_terms + 8.0) * moved_share
        # A product, a share of three roundings, and a sum of at most `most_terms` + 1 positive terms.
        term = (most_terms + 8.0) * UNIT_ROUNDOFF
        return FiniteRatio(
            places=places,
            weights=weights,
            log_infinite=sum_infinite(self.log_infinite, other.log_infinite, self.side),
            weight_error=(1.0 + self.weight_error) * (1.0 + other.weight_error) * (1.0 + term) - 1.0,
            place_error=max(self.place_error, other.place_error) + rounding * UNIT_ROUNDOFF,
            side=self.side,
        )

    def mean_and_deviation(self) -> tuple[float, float]:
        """Return the mean and the standard deviation of the values up to a high quantile, as estimates."""
        count = int(np.searchsorted(np.cumsum(self.weights), _QUANTILE)) + 1
        weights, places = self.weights[:count], self.places[:count]
        mean = float(weights @ places)
        distances = np.abs(places - mean)
        largest = float(distances.max(initial=0.0))  # squares of distances may overflow
        return mean, largest * float(np.sqrt(weights @ (distances / largest) ** 2)) if largest > 0.0 else 0.0

    def scale(self, factor: float) -> FiniteRatio:
        """Return the ratio times a positive factor.

        The mass at an infinite ratio is multiplied too, and rounded outward on its side.

        Args:
            factor: the factor, of which the double may err by two units of roundoff.

        Returns:
            The bound on the scaled ratio, with a larger relative error of its values.
        """
        log_infinite = self.log_infinite
        if log_infinite > -np.inf:
            rounding = 4 * UNIT_ROUNDOFF * (1.0 + abs(log_infinite) + abs(float(np.log(factor))))
            log_infinite += float(np.log(factor)) + (rounding if self.side == "above" else -rounding)
        return FiniteRatio(
            places=self.places * factor,
            weights=self.weights,
            log_infinite=log_infinite,
            weight_error=self.weight_error,
            place_error=self.place_error + 4 * UNIT_ROUNDOFF,
            side=self.side,
        )


def _split_cells(
    values: FloatArray, masses: FloatArray, bounds: FloatArray, index: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return places and weights after the mass at each value moves to both bounds of its cell, with its mean unchanged.

    Args:
        values: the values.
        masses: their masses.
        bounds: increasing bounds of the cells.
        index: the cell of each value.

    Returns:
        The bounds of the cells as places, and the weight of each.
    """
    widths = np.diff(bounds)
    share = (values - bounds[index]) / widths[index]
    weights = np.append(0.0, np.bincount(index, masses * share, widths.size))
    weights[:-1] += np.bincount(index, masses * ((bounds[index + 1] - values) / widths[index]), widths.size)
    return bounds, weights


def _merge_cells(
    values: FloatArray, masses: FloatArray, bounds: FloatArray, index: IntArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return places and weights after all the mass of each cell moves to the mean of the cell.

    Args:
        values: the values.
        masses: their masses.
        bounds: increasing bounds of the cells.
        index: the cell of each value.

    Returns:
        Places, weights, and the largest distance of a place from its cell's lower bound, relative to the place.
    """
    widths = np.diff(bounds)
    share = (values - bounds[index]) / widths[index]
    moved = np.bincount(index, masses * share, widths.size)
    weights = np.asarray(np.bincount(index, masses, widths.size), dtype=np.float64)
    is_filled = weights > 0.0
    weights, widths = weights[is_filled], widths[is_filled]
    offsets = widths * np.minimum(moved[is_filled] / weights, 1.0)
    places = bounds[:-1][is_filled] + offsets
    relative_offsets = offsets[places > 0.0] / places[places > 0.0]
    return places, weights, float(relative_offsets.max(initial=0.0))


def sum_infinite(first: float, second: float, side: Side) -> float:
    """Return the log of the sum of two masses, rounded up or down.

    Args:
        first: log of a mass.
        second: log of a mass.
        side: above rounds up, below rounds down.

    Returns:
        The logarithm; −∞ if both masses are 0.
    """
    total = log_sum(first, second)
    if total == -np.inf:
        return total
    rounding = 4 * UNIT_ROUNDOFF * (1.0 + abs(total))
    return total + (rounding if side == "above" else -rounding)


class Summand(Protocol):
    """A distribution of a term, of which independent copies are added."""

    def add(self, other: Self, cells: int) -> Self:
        """Return the distribution of the sum of two independent terms, with about `cells` cells."""


SummandT = TypeVar("SummandT", bound=Summand)


def sum_copies(term: SummandT, times: int, cells: int) -> SummandT:
    """Return the distribution of the sum of independent copies of a term.

    Args:
        term: the distribution of one copy.
        times: number of copies, at least 1.
        cells: number of cells of every sum.
    """
    return combine_copies(term, times, lambda first, second: first.add(second, cells))


TermT = TypeVar("TermT")


def combine_copies(term: TermT, times: int, combine: Callable[[TermT, TermT], TermT]) -> TermT:
    """Combine independent copies of a term by repeated doubling, with at most 2 log₂ n operations for n copies.

    Doubling needs about log₂ n operations for n copies.

    Args:
        term: one copy.
        times: number of copies n, at least 1.
        combine: an associative operation, such as the convolution of distributions.
    """
    total: TermT | None = None
    block, remaining = term, times
    while True:
        if remaining & 1:
            total = block if total is None else combine(total, block)
        remaining >>= 1
        if not remaining:
            break
        block = combine(block, block)
    assert total is not None
    return total


def distinct_bounds(sums: FloatArray, cells: int) -> FloatArray | None:
    """Return bounds of cells that each hold one group of almost equal sums; None if there are too many groups.

    The bounds are the first and last sum of each group, 0, and a number beyond all sums.

    Args:
        sums: values ≥ 0.
        cells: largest number of groups. The result is None too if there are too many sums to sort.
    """
    if sums.size > _MOST_SORTED:
        return None
    ordered = np.sort(sums)
    is_first = np.append(True, np.diff(ordered) > _ALMOST_EQUAL * ordered[1:])
    if int(is_first.sum()) > cells:
        return None
    # The last cell is empty: a sum at a bound belongs to the cell above it.
    beyond = [0.0, 2.0 * max(float(ordered[-1]), 1.0)]
    return np.unique(np.concatenate((beyond, ordered[is_first], ordered[np.append(is_first[1:], True)])))


def _merge_far_bounds(bounds: FloatArray, first: FiniteRatio, second: FiniteRatio) -> FloatArray:
    """Return bounds of cells for a sum of two terms that resolve its far values, which are rare but matter for δ.

    A value of a term is far if its distance to the next value exceeds some standard deviations of the other term. The
    sum is then almost always close to x plus the mean of the other term, for the value x. For `above` that point
    becomes a bound of cells. For `below` the points become midpoints. The choice affects the tightness of a bound, not
    its validity.

    Args:
        bounds: bounds of cells, from 0 to the largest sum.
        first: a term.
        second: the other term, bounded on the same side.

    Returns:
        Increasing bounds. They are the given ones if no value is far.
    """
    anchors, far_from = [], np.inf
    for term, rest in ((first, second), (second, first)):
        mean, deviation = rest.mean_and_deviation()
        is_close = np.diff(term.places) <= _FAR * deviation
        if is_close.size == 0 or is_close[-1]:
            continue
        start = int(np.flatnonzero(is_close).max()) + 1 if is_close.any() else 0
        anchors.append(term.places[start:] + mean)
        far_from = min(far_from, float(anchors[-1][0]))
    if not anchors:
        return bounds
    points = np.unique(np.concatenate(anchors))
    if first.side == "below":
        points = 0.5 * (points[1:] + points[:-1])
    points = points[(points > bounds[1]) & (points < bounds[-1])]
    near = np.concatenate((bounds[:1], bounds[bounds < far_from], bounds[-1:]))  # the first bound contains zeros
    return np.unique(np.concatenate((near, points)))


def combine_pairs(
    combine: np.ufunc,
    first_places: FloatArray,
    first_masses: FloatArray,
    second_places: FloatArray,
    second_masses: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the sums or products of all pairs of values, and the products of their masses.

    Equal operands give each unordered pair once, with twice its mass, which is exact.

    Args:
        combine: the commutative operation.
        first_places: values of the first term.
        first_masses: their masses.
        second_places: values of the second term.
        second_masses: their masses.

    Returns:
        The combined values and their masses, in flat arrays of equal length.
    """
    is_square = first_places is second_places and first_masses is second_masses
    if not is_square:
        combined = combine.outer(first_places, second_places)
        return combined.ravel(), np.multiply.outer(first_masses, second_masses).ravel()
    rows, columns = np.triu_indices(first_places.size)
    masses = first_masses[rows] * first_masses[columns]
    masses[rows != columns] *= 2.0
    return combine(first_places[rows], first_places[columns]), masses


def cell_bounds(sums: FloatArray, masses: FloatArray, cells: int) -> FloatArray:
    """Return increasing bounds of cells that contain all sums, dense where the distribution is.

    A sum of two finite distributions has many values, which are merged by cells. The choice affects the tightness of a
    bound, not its validity.

    Args:
        sums: values ≥ 0, not all 0.
        masses: their masses.
        cells: number of cells, one of them from 0 to the least positive sum.

    Returns:
        The bounds, from 0 to the largest sum.
    """
    is_positive = sums > 0.0
    positive = sums[is_positive]
    least, most = float(positive.min()), float(positive.max())
    log_least, log_most = np.log(least), np.log(most)
    if not log_most > log_least:
        return np.asarray([0.0, least])
    position = (np.log(positive) - log_least) / (log_most - log_least)
    bins = np.minimum((position * _BINS).astype(np.int64), _BINS - 1)
    log_bounds = np.linspace(log_least, log_most, _BINS + 1)
    mass_under_q = np.bincount(bins, masses[is_positive], _BINS)
    mean = float(masses[is_positive] @ positive)
    # The masses under P are those under Q times the ratio, after the sum is divided by its mean.
    log_ratios = 0.5 * (log_bounds[1:] + log_bounds[:-1]) - np.log(max(mean, least))
    both = mass_under_q * (1.0 + np.exp(np.minimum(log_ratios, _LARGEST_LOG_RATIO)))
    chosen = np.exp(spread_bounds(log_bounds, both, cells))
    inner = chosen[(chosen > least) & (chosen < most)]
    return np.unique(np.concatenate(([0.0, least], inner, [most])))


def spread_bounds(scale: FloatArray, masses: FloatArray, cells: int) -> FloatArray:
    """Return bounds of cells that are denser where a distribution has more mass.

    The density of cells is a small power of that of the distribution, plus a part that is even.

    Args:
        scale: increasing bounds of bins.
        masses: mass of each bin.
        cells: number of cells.

    Returns:
        `cells` + 1 increasing bounds, from the first to the last of `scale`.
    """
    widths = np.diff(scale)
    flattened = (np.maximum(masses, 1e-300) / widths) ** _FLATTENING
    dense_share = (1.0 - _EVEN_SHARE) * flattened * widths / float(flattened @ widths)
    even_share = _EVEN_SHARE * widths / float(scale[-1] - scale[0])
    cumulative = np.concatenate(([0.0], np.cumsum(dense_share + even_share)))
    return np.asarray(np.interp(np.linspace(0.0, cumulative[-1], cells + 1), cumulative, scale))

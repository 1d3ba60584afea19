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
from epsilond.accountants.profiles.allocation.cells import cell_bounds, combine_pairs, distinct_bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Side = Literal["above", "below"]
"""Place of a finite distribution in the convex order, relative to the true ratio."""

_QUANTILE = 0.999
"""Quantile of a term up to which its mean and deviation are taken: its variance may be due to rare large values."""
_FAR = 3.0
"""Least distance of two far values, in standard deviations of the other term."""
LEAST_LOG_PLACE = -690.0
"""Least logarithm of a positive place; its exponential is a normal double."""


@dataclass(frozen=True, eq=False)
class FiniteRatio:
    """A measure on finitely many values of a likelihood ratio, a bound on the true ratio dP/dQ in the convex order.

    A measure is above another one if the expectations of all convex functions are at least as large. The δ of both
    directions are such expectations.

    Attributes:
        places: increasing values x ≥ 0 of the ratio, each within a relative `place_error`.
        weights: masses of the values under Q, each within a relative `weight_error`.
        log_infinite: log of the mass under P at an infinite ratio, bounded on the same side as the measure.
        weight_error: bound on the relative error of every weight.
        place_error: bound on the relative error of every place.
        side: "above" or "below", the place of this measure relative to the true one.
    """

    places: FloatArray
    weights: FloatArray
    log_infinite: float
    weight_error: float
    place_error: float
    side: Side

    def add(self, other: FiniteRatio, cells: int) -> FiniteRatio:
        """Return a bound, with finitely many values, on the sum of two independent ratios.

        Both bounds are upper ones, or both are lower ones: the expectations of all convex functions are at least or at
        most the true ones. Sums of independent variables preserve this. The sums of all pairs of values are merged in
        few intervals, the cells.

        Args:
            other: the bound on the second ratio, with the same `side`.
            cells: number of cells of the sum.

        Returns:
            The bound on the sum, with the same `side`.
        """
        sums, masses = combine_pairs(np.add, self.places, self.weights, other.places, other.weights)
        if not sums.size:  # a lower bound may have no finite values
            log_infinite = sum_infinite(self.log_infinite, other.log_infinite, self.side)
            return replace(self, log_infinite=log_infinite)
        bounds = distinct_bounds(sums, cells)
        if bounds is None:
            bounds = _merge_far_bounds(cell_bounds(sums, masses, cells), self, other)
        return self.merge(other, sums, masses, bounds)

    def merge(self, other: FiniteRatio, values: FloatArray, masses: FloatArray, bounds: FloatArray) -> FiniteRatio:
        """Return a bound on a sum or product of two independent ratios, with its values moved to few places.

        The values are divided into intervals, the cells. For an upper bound ("above"), the mass of a value moves to the
        two ends of its cell, with its mean unchanged. For a lower bound, all mass of a cell moves to its mean.

        Args:
            other: the second ratio, bounded on the same side.
            values: sums or products of all pairs of values.
            masses: masses of these values.
            bounds: increasing bounds of the cells, which contain all values.

        Returns:
            The bound on the sum or product, with larger rounding errors.
        """
        index = np.clip(np.searchsorted(bounds, values, side="right") - 1, 0, bounds.size - 2)
        most_terms = float(np.bincount(index).max())
        if self.side == "above":
            places, weights = _split_cells(values, masses, bounds, index)
            place_units = 1.0
        else:
            places, weights, moved_share = _merge_cells(values, masses, bounds, index)
            place_units = 4.0 + 2.0 * (most_terms + 8.0) * moved_share

        # A weight is a sum of at most `most_terms` + 1 positive terms, each with a few roundings.
        rounding = (most_terms + 8.0) * UNIT_ROUNDOFF
        return FiniteRatio(
            places=places,
            weights=weights,
            log_infinite=sum_infinite(self.log_infinite, other.log_infinite, self.side),
            weight_error=(1.0 + self.weight_error) * (1.0 + other.weight_error) * (1.0 + rounding) - 1.0,
            place_error=max(self.place_error, other.place_error) + place_units * UNIT_ROUNDOFF,
            side=self.side,
        )

    def mean_and_deviation(self) -> tuple[float, float]:
        """Estimate the mean and the standard deviation of the values up to a high quantile.

        Larger values are left out, because rare ones may dominate the variance.

        Returns:
            The mean and the standard deviation, without bounds on their errors.
        """
        count = int(np.searchsorted(np.cumsum(self.weights), _QUANTILE)) + 1
        weights, places = self.weights[:count], self.places[:count]
        mean = float(weights @ places)
        distances = np.abs(places - mean)

        # Divide by the largest distance, because squares of distances may overflow.
        largest = float(distances.max(initial=0.0))
        if not largest > 0.0:
            return mean, 0.0
        return mean, largest * float(np.sqrt(weights @ (distances / largest) ** 2))

    def scale(self, factor: float) -> FiniteRatio:
        """Return this bound on a likelihood ratio, with its values and its mass at infinity times a positive factor.

        Args:
            factor: the factor, with a relative error of at most two units of roundoff.

        Returns:
            The bound on the scaled ratio, with the same `side` and a larger relative error of its values.
        """
        log_infinite = self.log_infinite
        if log_infinite > -np.inf:
            log_factor = float(np.log(factor))
            # More than the errors of the logarithm and of the sum.
            rounding = 4 * UNIT_ROUNDOFF * (1.0 + abs(log_infinite) + abs(log_factor))
            log_infinite += log_factor + (rounding if self.side == "above" else -rounding)
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
    """Replace the values of a distribution by the bounds of intervals (cells), with the mean of each value unchanged.

    The mass at a value is split between both bounds of its cell, more to the nearer one. This makes expectations of
    convex functions larger.

    Args:
        values: the values, a flat array.
        masses: masses of the values.
        bounds: increasing bounds of the cells.
        index: index of the cell of each value.

    Returns:
        The bounds of the cells, which are the new values, and the mass at each of them.
    """
    # Both shares are computed from differences, because 1 − share would lose the digits of a small one.
    widths = np.diff(bounds)
    share_to_upper = (values - bounds[index]) / widths[index]
    share_to_lower = (bounds[index + 1] - values) / widths[index]
    weights = np.append(0.0, np.bincount(index, masses * share_to_upper, widths.size))
    weights[:-1] += np.bincount(index, masses * share_to_lower, widths.size)
    return bounds, weights


def _merge_cells(
    values: FloatArray, masses: FloatArray, bounds: FloatArray, index: IntArray
) -> tuple[FloatArray, FloatArray, float]:
    """Merge the values of a distribution within intervals (cells), each into the mean of its cell.

    This makes expectations of convex functions smaller, by Jensen's inequality.

    Args:
        values: the values, a flat array.
        masses: masses of the values.
        bounds: increasing bounds of the cells.
        index: index of the cell of each value.

    Returns:
        The means of the cells that have mass, and their masses. The last number is the largest difference between a
        mean and its cell's lower bound, relative to the mean.
    """
    # First moments are those of the position within the cell, from 0 to 1.
    widths = np.diff(bounds)
    share = (values - bounds[index]) / widths[index]
    moments = np.bincount(index, masses * share, widths.size)
    weights = np.asarray(np.bincount(index, masses, widths.size), dtype=np.float64)

    # The mean is computed as an offset from the cell's lower bound, which has a smaller rounding error.
    is_filled = weights > 0.0
    weights, widths = weights[is_filled], widths[is_filled]
    offsets = widths * np.minimum(moments[is_filled] / weights, 1.0)
    places = bounds[:-1][is_filled] + offsets

    is_positive = places > 0.0
    relative_offsets = offsets[is_positive] / places[is_positive]
    return places, weights, float(relative_offsets.max(initial=0.0))


def sum_infinite(first: float, second: float, side: Side) -> float:
    """Return the log of the sum of two probabilities of an infinite likelihood ratio, rounded up or down.

    Args:
        first: natural logarithm of the first probability, or −∞.
        second: natural logarithm of the second probability, or −∞.
        side: "above" rounds up, "below" rounds down.

    Returns:
        The logarithm; −∞ if both probabilities are 0.
    """
    total = log_sum(first, second)
    if total == -np.inf:
        return total
    # More than the error of the logarithm of a sum.
    rounding = 4 * UNIT_ROUNDOFF * (1.0 + abs(total))
    return total + (rounding if side == "above" else -rounding)


class Summand(Protocol):
    """A distribution of a term, of which independent copies are added."""

    def add(self, other: Self, cells: int) -> Self:
        """Return the distribution of the sum of two independent terms, with about `cells` cells."""


SummandT = TypeVar("SummandT", bound=Summand)


def sum_copies(term: SummandT, times: int, cells: int) -> SummandT:
    """Return the distribution of the sum of independent copies of a term, by repeated doubling.

    Args:
        term: the distribution of one copy.
        times: number of copies, at least 1.
        cells: number of cells, that is, intervals of values, of every sum.

    Returns:
        The distribution of the sum of all copies.
    """
    return combine_copies(term, times, lambda first, second: first.add(second, cells))


TermT = TypeVar("TermT")


def combine_copies(term: TermT, times: int, combine: Callable[[TermT, TermT], TermT]) -> TermT:
    """Combine n independent copies of a term by repeated doubling, with at most 2 log₂ n operations.

    Blocks of 1, 2, 4, … copies are formed, and those in the binary digits of n are combined.

    Args:
        term: one copy.
        times: number n of copies, at least 1.
        combine: an associative operation, such as the convolution of distributions.

    Returns:
        The combination of all copies.
    """
    total: TermT | None = None
    block, remaining = term, times
    while True:
        if remaining & 1:  # the block belongs to a binary digit 1 of n
            total = block if total is None else combine(total, block)
        remaining >>= 1
        if not remaining:
            break
        block = combine(block, block)
    assert total is not None
    return total


def _merge_far_bounds(bounds: FloatArray, first: FiniteRatio, second: FiniteRatio) -> FloatArray:
    """Choose the bounds of the intervals in which values of a sum of two terms are merged, for its rare large values.

    Rare large values matter for δ. A value x of a term is far if its distance to the next value exceeds `_FAR` standard
    deviations of the other term. The sum is then almost always close to x plus the mean of the other term. For an upper
    bound ("above"), such points become bounds of intervals. For a lower bound ("below"), the middles between them do.
    The choice affects the tightness of the result, not its validity.

    Args:
        bounds: bounds of the intervals for ordinary values, from 0 to the largest sum.
        first: the first term.
        second: the second term, bounded on the same side.

    Returns:
        The bounds of all intervals, increasing. They are the given ones if no value is far.
    """
    # The points at which sums with a far value accumulate.
    anchors, far_from = [], np.inf
    for term, second_term in ((first, second), (second, first)):
        mean, deviation = second_term.mean_and_deviation()
        is_close = np.diff(term.places) <= _FAR * deviation
        if is_close.size == 0 or is_close[-1]:
            continue
        first_far = int(np.flatnonzero(is_close).max()) + 1 if is_close.any() else 0
        anchors.append(term.places[first_far:] + mean)
        far_from = min(far_from, float(anchors[-1][0]))
    if not anchors:
        return bounds

    points = np.unique(np.concatenate(anchors))
    if first.side == "below":
        points = 0.5 * (points[1:] + points[:-1])
    points = points[(points > bounds[1]) & (points < bounds[-1])]

    # Keep the given bounds below the far values, and the first and the last one in any case.
    near = np.concatenate((bounds[:1], bounds[bounds < far_from], bounds[-1:]))
    return np.unique(np.concatenate((near, points)))

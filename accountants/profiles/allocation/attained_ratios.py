"""Finite bounds from below, in the convex order, of the likelihood ratio of an attained pair, and its exact cells.

*Below.* An observer sees only in which of some intervals the loss is. The masses of an interval of positive loss are
rounded so that the call decreases at every κ ≥ 1. Those of an interval of negative loss are rounded so that the put
decreases at every κ ≤ 1. Then the weights of one side are lowered until C(1) = p(1), so that the mean equals the mass,
which is at most 1. At κ < 1 the call is then mass (1 − κ) + p(κ), at most the true one, and so is the put at κ > 1. All
expectations of nonnegative monotone convex functions are therefore at most the true ones (docs/random-allocation.md,
Any mechanism).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.losses import EXACT_TAILS, LARGEST_LOSS, interval_bounds, pure_loss
from epsilond.accountants.profiles.allocation.ratios import FiniteRatio
from epsilond.accountants.profiles.allocation.statistics import OutputCells
from epsilond.accountants.profiles.atoms import AtomicProfile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.finite_law import FiniteLaw
    from epsilond.accountants.curve.pair import Pair
    from epsilond.accountants.curve.profile import Profile
    from epsilond.accountants.numerics.special import FloatArray

    IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

_LEAST_WEIGHT = 1e-300
"""Weights up to this size are left out, which lowers the bound."""
_LARGEST_ERROR = 1e-7
"""Largest relative error of the mass of an interval of a statistic. Intervals are merged until it is reached."""
_LEAST_MASS = 1e-280
"""Least mass of such an interval."""
_LEAST_LOG_MASS = -640.0
"""Log of the least mass of an outcome of a finite distribution."""
_MARGIN = 64 * UNIT_ROUNDOFF
"""Relative margin of the few operations on a mass of an interval."""


class _Side(NamedTuple):
    """Probabilities of intervals of positive privacy loss in one direction, rounded for lower bounds on δ.

    The loss of an output is the log of its likelihood ratio P/Q, for the distributions P and Q of the direction.

    Attributes:
        first: probabilities of the intervals under P, rounded down.
        second: probabilities of the intervals under Q, rounded up relative to `first`, so that no ratio is too large.
        log_infinite: log of a lower bound on the probability of an infinite loss under P.
    """

    first: FloatArray
    second: FloatArray
    log_infinite: float

    @property
    def excess(self) -> float:
        """The value of δ at ε = 0, that is, the total probability under P minus that under Q."""
        return math.fsum([*self.first.tolist(), *(-self.second).tolist(), math.exp(self.log_infinite)])

    def scale(self, factor: float) -> _Side:
        """Return all probabilities times a factor, that of the infinite loss included.

        Args:
            factor: the factor, at least 0.
        """
        log_factor = math.log(factor) if factor > 0.0 else -math.inf
        return _Side(self.first * factor, self.second * factor, self.log_infinite + log_factor)


def ratio_below(pair: Pair, cells: int) -> FiniteRatio | None:
    """Return a likelihood ratio with finitely many values that is below that of an attained pair in the convex order.

    A pair (P, Q) is attained if the mechanism has these two distributions for some data. Expectations of nonnegative
    monotone convex functions of the returned ratio are at most those of dP/dQ. So it gives lower bounds on δ.

    Args:
        pair: the attained pair. Its profiles are lower bounds or exact, one for each direction.
        cells: approximate number of values.

    Returns:
        The values of the ratio with their masses; None if no positive loss is resolved in one of the directions.
    """
    above_one, below_one = (
        _probabilities_below(pair.forward, cells // 2),
        _probabilities_below(pair.backward, cells // 2),
    )
    call, put = above_one.excess, below_one.excess
    if not (call > 0.0 and put > 0.0):
        return None

    # Scale both directions to the same δ at ε = 0, so that the mean of the ratio equals its mass. The margin exceeds
    # the rounding error of the sums.
    balance = (1.0 - _MARGIN) * min(call, put)
    above_one, below_one = above_one.scale(balance / call), below_one.scale(balance / put)

    # The ratio is 0 where the backward loss is infinite. The value 1 gets the remaining mass, lowered by 1e-12, which
    # exceeds the rounding error of the sums.
    mass_of_zero = math.exp(below_one.log_infinite)
    mass_of_one = 1.0 - float(above_one.second.sum() + below_one.first.sum() + mass_of_zero) - 1e-12
    small_ratios = (below_one.second / below_one.first)[::-1]
    large_ratios = above_one.first / above_one.second
    ratios = np.concatenate(([0.0], small_ratios, [1.0], large_ratios))
    weights = np.concatenate(([mass_of_zero], below_one.first[::-1], [max(mass_of_one, 0.0)], above_one.second))
    # The other masses exceed 1. All are lowered, so that their sum is at most 1.
    if mass_of_one < 0.0:
        weights *= 1.0 / (1.0 - mass_of_one) * (1.0 - _MARGIN)

    order = np.argsort(ratios, kind="stable")
    ratios, weights = ratios[order], weights[order]
    # Values of negligible mass are left out, which lowers expectations.
    has_weight = weights > _LEAST_WEIGHT
    return FiniteRatio(
        places=ratios[has_weight],
        weights=weights[has_weight],
        log_infinite=above_one.log_infinite,
        weight_error=_MARGIN,
        place_error=4 * UNIT_ROUNDOFF,
        side="below",
    )


def _probabilities_below(profile: Profile, cells: int) -> _Side:
    """Return the probabilities of intervals of positive privacy loss, rounded for lower bounds on δ.

    The privacy loss of an output is the log of its likelihood ratio on two neighbouring data sets. Intervals in which
    the ratio is not certainly above 1 are left out, which lowers δ.

    Args:
        profile: the privacy profile of one direction of an attained pair, which the mechanism has for some data.
        cells: approximate number of intervals.

    Returns:
        Probabilities under both distributions; empty if the tails of the profile are not known exactly.
    """
    if isinstance(profile, AtomicProfile):
        first, second, log_infinite = _atoms(profile)
    elif isinstance(profile, EXACT_TAILS):
        losses = interval_bounds(profile, pure_loss(profile), cells)
        first, second, log_infinite = _intervals(profile, losses)
    else:
        return _Side(np.empty(0), np.empty(0), -math.inf)
    # The rounding error of a ratio is below 1e-14.
    is_usable = (first > second * (1.0 + 1e-14)) & (second > _LEAST_WEIGHT)
    return _Side(first[is_usable], second[is_usable], log_infinite)


def _atoms(profile: AtomicProfile) -> tuple[FloatArray, FloatArray, float]:
    """Return the probabilities of all positive values of a discrete privacy loss under both distributions.

    The probability of a loss L under Q is e^{−L} times that under P. Losses above `LARGEST_LOSS` are left out, which
    lowers δ.

    Args:
        profile: privacy profile of a pair (P, Q) with a privacy loss that has atoms only.

    Returns:
        The probabilities under P, rounded down; e^{−L} times these, rounded up; and log P(L = ∞), rounded down.
    """
    losses, log_masses = np.asarray(profile.losses), np.asarray(profile.log_masses)
    is_used = (losses > 0.0) & (losses <= LARGEST_LOSS)
    losses, log_masses = losses[is_used], log_masses[is_used]
    # Relative errors of a probability, and of a few operations on its logarithm.
    accuracy = profile.mass_accuracy + 8 * UNIT_ROUNDOFF
    # Errors of the log probability and of the product with e^{−L}.
    slack = accuracy * (1.0 + np.abs(log_masses)) + 8 * UNIT_ROUNDOFF * losses

    log_infinite = profile.log_infinite_mass
    if math.isfinite(log_infinite):
        log_infinite -= accuracy * (1.0 + abs(log_infinite))

    log_first = log_masses - slack
    return np.exp(log_first), np.exp(log_first - losses) * (1.0 + _MARGIN), log_infinite


def exact_cells(pair: Pair, cells: int) -> OutputCells | None:
    """Return the probabilities of intervals of the privacy loss of an attained pair, under both distributions.

    A pair is attained if the mechanism has these two distributions for some data. If the loss has finitely many values,
    each outcome is an interval of its own. Otherwise the probabilities are differences of the tails of the loss, and
    intervals are merged until their probabilities are accurate. All outputs belong to some interval.

    Args:
        pair: the attained pair (P, Q): outputs with the contribution, and outputs without it.
        cells: approximate number of intervals before they are merged.

    Returns:
        The probabilities under P (`present`) and under Q (`absent`) with a bound on their relative errors; None if the
        tails of the pair are not known, or not accurate enough.
    """
    if pair.atoms is not None and not isinstance(pair.forward, EXACT_TAILS):
        return _cells_of_atoms(pair.atoms)
    if not all(isinstance(profile, EXACT_TAILS) for profile in (pair.forward, pair.backward)):
        return None

    # Lower and upper bounds on the masses of the intervals of positive and of negative loss. The backward direction has
    # the roles of P and Q reversed.
    positive, negative = (
        _bounded_masses(profile, interval_bounds(profile, pure_loss(profile), cells // 2))
        for profile in (pair.forward, pair.backward)
    )
    negative_of_p, negative_of_q = reversed(negative)
    bounds_of_p = _join_sides(negative_of_p, positive[0])
    bounds_of_q = _join_sides(negative_of_q, positive[1])
    groups = accurate_groups([bounds_of_p, bounds_of_q])
    if groups is None:
        return None

    # The lower bounds are taken as the masses. Their error is the relative distance of the upper bounds.
    least_present, largest_present = (np.add.reduceat(side, groups) for side in bounds_of_p)
    least_absent, largest_absent = (np.add.reduceat(side, groups) for side in bounds_of_q)
    ratio_present = float((largest_present / least_present).max())
    ratio_absent = float((largest_absent / least_absent).max())
    error = max(ratio_present, ratio_absent) - 1.0
    if error > 2.0 * _LARGEST_ERROR:
        return None
    # 16 units of roundoff exceed the errors of the sums and quotients above.
    return OutputCells(least_present, least_absent, least_absent, error + 16 * UNIT_ROUNDOFF)


def _join_sides(negative: tuple[FloatArray, FloatArray], positive: tuple[FloatArray, FloatArray]) -> list[FloatArray]:
    """Return bounds on the masses of all intervals of the loss: negative ones, the loss 0, and positive ones.

    The mass of the loss 0 is 1 minus all other masses.

    Args:
        negative: lower and upper bounds on the masses of intervals of negative loss, from 0 downward.
        positive: lower and upper bounds on the masses of intervals of positive loss, from 0 upward.

    Returns:
        The lower and the upper bounds, in the order of increasing loss.
    """
    sides = [(negatives[::-1], positives) for negatives, positives in zip(negative, positive, strict=True)]
    least_total, largest_total = (math.fsum(np.concatenate(side)) for side in sides)
    # 1e-14 exceeds the rounding errors of the differences. The lower bound comes from the largest other masses.
    masses_of_zero = (1.0 - largest_total - 1e-14, 1.0 - least_total + 1e-14)
    return [np.concatenate((left, [zero], right)) for (left, right), zero in zip(sides, masses_of_zero, strict=True)]


def _cells_of_atoms(law: FiniteLaw) -> OutputCells | None:
    """Return the probabilities of all outcomes of a pair with finitely many outcomes, under both distributions.

    Args:
        law: log probabilities of the outcomes under both distributions.

    Returns:
        The probabilities, with a bound on their relative errors. None if an outcome is impossible under one
        distribution, or one of its log probabilities is not above `_LEAST_LOG_MASS`.
    """
    if max(law.log_infinite, law.log_missing) > -math.inf:
        return None
    log_first, log_second = np.asarray(law.log_first), np.asarray(law.log_second)
    if not (np.minimum(log_first, log_second) > _LEAST_LOG_MASS).all():
        return None
    present, absent = np.exp(log_first), np.exp(log_second)
    largest_log = float(np.abs((log_first, log_second)).max())
    # Relative error of a probability, from the error of its logarithm.
    error = (law.accuracy + 4 * UNIT_ROUNDOFF) * (1.0 + largest_log)
    return OutputCells(present, absent, absent, error)


def accurate_groups(bounds: Sequence[Sequence[FloatArray]]) -> IntArray | None:
    """Group consecutive intervals so that the probability of each group is known accurately.

    The bounds on a small probability may be far apart. A group ends as soon as the bounds on its total are close under
    both distributions. Intervals after the last accurate total belong to the last group.

    Args:
        bounds: for each of the two distributions, lower and upper bounds on the probabilities of the intervals.

    Returns:
        Index of the first interval of each group, increasing; None if no total is accurate.
    """
    # The sums of the current group: a row for each distribution, with the lower and the upper bound.
    starts, sums, start = [], np.zeros((2, 2)), 0
    for index in range(bounds[0][0].size):
        sums += [[float(bound[index]) for bound in bounds_of_one] for bounds_of_one in bounds]
        lower, upper = sums[:, 0], sums[:, 1]
        is_accurate = (lower > _LEAST_MASS) & (upper <= lower * (1.0 + _LARGEST_ERROR))
        if is_accurate.all():
            starts.append(start)
            start, sums = index + 1, np.zeros((2, 2))
    return np.asarray(starts) if starts else None


def _intervals(profile: Profile, losses: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the probabilities of the intervals between privacy losses and beyond the last one, for lower bounds on δ.

    The last interval has an infinite loss if it is impossible under the second distribution.

    Args:
        profile: the privacy profile of one direction.
        losses: increasing privacy losses, in nats.

    Returns:
        Probabilities under the first distribution, rounded down; under the second one, rounded up; and the log of a
        lower bound on the probability of an infinite loss.
    """
    (first, _), (_, second) = _bounded_masses(profile, losses)
    log_infinite = -math.inf
    is_impossible = np.isneginf(profile.log_tails(losses[-1:]).log_q[0])
    if is_impossible and first[-1] > 0.0:
        log_infinite, first[-1] = math.log(first[-1]) - _MARGIN, 0.0
    return np.maximum(first, 0.0), second, log_infinite


def _bounded_masses(
    profile: Profile, losses: FloatArray
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    """Return lower and upper bounds on the probabilities of intervals of the privacy loss, under both distributions.

    Args:
        profile: the privacy profile of one direction.
        losses: increasing losses, in nats. The last interval is beyond the last of them.

    Returns:
        The bounds under the first distribution, and those under the second one.
    """
    log_p, log_q = profile.log_tails(losses)
    return _masses_of_tails(log_p, profile.tail_accuracy), _masses_of_tails(log_q, profile.tail_accuracy)


def _masses_of_tails(log_tail: FloatArray, accuracy: float) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds on the probabilities of the intervals between points, and beyond the last point.

    Args:
        log_tail: log probabilities that a random variable exceeds each of some increasing points.
        accuracy: bound on the error of the log tails, per unit of 1 + |log tail|.

    Returns:
        The lower and the upper bounds, two arrays as long as `log_tail`.
    """
    # Errors of the log tails. A tail of probability 0 is exact.
    slack = np.where(np.isneginf(log_tail), 0.0, accuracy * (1.0 + np.abs(log_tail)) + 4 * UNIT_ROUNDOFF)
    low, high = np.exp(log_tail - slack), np.exp(np.minimum(log_tail + slack, 0.0))
    least = (low - np.append(high[1:], 0.0)) * (1.0 - _MARGIN)
    largest = (high - np.append(low[1:], 0.0)) * (1.0 + _MARGIN)
    return least, largest

"""The clone pair given the number C of clones: ranges of C with their masses, and bounds on δ for each C.

Given C = c clones, m = c + 1 reports hide each other. With p = e^{ε₀}/(1 + e^{ε₀}), α = e^ε and B ~ Bin(c, 1/2),

    δ_c(ε) = A b(κ − 1; c) − (α − 1) P(B ≥ κ),   b the mass function of B,   A = p − α(1 − p),

where κ is the least number of reports of type 0 that favours the first world: m − κ < m x ≤ m − κ + 1 with
x = (1 − tanh(ε/2)/tanh(ε₀/2))/2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.binomial_law import QUICK_RATIO_ACCURACY, RATIO_ACCURACY, Binomial
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.shuffling.planned_rows import IntArray

_REACH = 40.0
"""Standard deviations of C on each side within which its values are distinguished; beyond, C is rounded."""
MOST_VALUES = 1 << 16
"""Largest number of values of C that have a range of their own."""
_BLOCK = 32
"""Number of consecutive c per tail that is evaluated directly; a recurrence gives the others."""


class Effort(NamedTuple):
    """Limits on the work for one bound on δ by clones, a sum over ranges of the number C of clones.

    A clone is another client's report that looks like the victim's. The heaviest ranges are divided into fine ones.

    Attributes:
        negligible: a range stays coarse if its term of the sum is below e^−negligible times the largest term.
        most_fine: largest number of fine ranges if they hold several values each.
        quick: whether tails are computed by `quick_tail_ratio`, which is faster and less accurate.
    """

    negligible: float
    most_fine: int
    quick: bool

    @property
    def ratio_accuracy(self) -> float:
        """Relative error of a computed tail probability divided by a point mass."""
        return QUICK_RATIO_ACCURACY if self.quick else RATIO_ACCURACY


class CountRanges(NamedTuple):
    """A partition of the possible numbers of clones into ranges of consecutive values.

    A clone is another client's report that looks like the victim's.

    Attributes:
        first: least value of each range, increasing; a range ends before the next one.
        log_mass: log probability of each range.
    """

    first: FloatArray
    log_mass: FloatArray

    @property
    def inner_are_single(self) -> bool:
        """True if every range but the first and the last is a single value."""
        return bool((np.diff(self.first)[1:-1] == 1.0).all())

    def merge(self, starts: IntArray) -> CountRanges:
        """Return a partition in which consecutive ranges are merged.

        Args:
            starts: for each merged range, the index of its first range.
        """
        return CountRanges(self.first[starts], np.asarray(np.logaddexp.reduceat(self.log_mass, starts)))


class CountBounds(NamedTuple):
    """Lower and upper bounds on log δ_c, with a row for each ε and a column for each c."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class CloneCount:
    """The distribution of the number C of clones of the victim's report: C ~ Bin(n − 1, r).

    Attributes:
        clients: number n of clients, the victim included.
        rate: probability r that another client's report is a clone.
    """

    clients: int
    rate: float

    @cached_property
    def distribution(self) -> Binomial:
        """Distribution of C."""
        return Binomial(np.asarray(float(self.clients - 1)), self.rate, 1.0 - self.rate)

    @cached_property
    def _mirrored(self) -> Binomial:
        """Distribution of n − 1 − C, the number of reports that are not clones."""
        return Binomial(self.distribution.trials, self.distribution.q, self.distribution.p)

    @property
    def _other_clients(self) -> float:
        """Number n − 1 of clients without the victim."""
        return float(self.clients - 1)

    @property
    def _mean(self) -> float:
        """Mean of C."""
        return self._other_clients * self.rate

    @cached_property
    def likely(self) -> tuple[float, float]:
        """Least and largest value of C that is likely; smaller and larger values are rounded to them."""
        reach = _REACH * math.sqrt(self._mean * (1.0 - self.rate)) + 50.0
        return max(0.0, math.floor(self._mean - reach)), min(self._other_clients, math.ceil(self._mean + reach))

    @property
    def has_many_values(self) -> bool:
        """True if C has more than `MOST_VALUES` likely values, too many for a range of each."""
        low, high = self.likely
        return high - low + 1.0 > MOST_VALUES

    def ranges(self, most: int) -> CountRanges:
        """Return a partition of the number C of clones into ranges, with the log probability of each.

        Values that are not `likely` are part of the first or the last range.

        Args:
            most: approximate number of ranges if C has more than `MOST_VALUES` likely values. With fewer ones, each
                range is a single value.
        """
        low, high = self.likely
        width = 1.0
        if self.has_many_values:
            width = math.ceil((high - low + 1.0) / most)
        first = np.unique(np.concatenate(([0.0], np.arange(low, high, width), [high])))
        if width == 1.0:
            return CountRanges(first, self._single_masses(first))
        return CountRanges(first, self._range_masses(first))

    def _range_masses(self, first: FloatArray) -> FloatArray:
        """Return the log probability that the number C of clones is in each range, as a difference of tails.

        The tails are P(C < c) up to the mean and P(C ≥ c) above it, because the smaller tail is more accurate.

        Args:
            first: least value c of each range, increasing from 0. The last range has no end.
        """

        def log_masses(larger_tail: FloatArray, smaller_tail: FloatArray) -> FloatArray:
            """Return log differences of tails. Rounding may disturb their order; the minimum restores it."""
            return log_difference(larger_tail, np.minimum(smaller_tail, larger_tail))

        middle = int(np.searchsorted(first, self._mean, side="right"))
        log_below = self._mirrored.log_tail(self._other_clients - first[:middle] + 1.0)
        log_above = self.distribution.log_tail(first[middle - 1 :])
        up_to_mean = log_masses(log_below[1:], log_below[:-1])
        beyond_mean = log_masses(log_above[:-1], log_above[1:])
        return np.concatenate((up_to_mean, beyond_mean, log_above[-1:]))

    def _single_masses(self, values: FloatArray) -> FloatArray:
        """Return the log probability of each likely value of C, the number of clones.

        The probability of all values that are not listed counts at the nearest listed value.

        Args:
            values: consecutive likely values, preceded by 0 if that is not likely.
        """
        log_mass = np.array(self.distribution.log_mass(values))
        log_mass[-1:] += np.log(self.distribution.tail_ratio(values[-1:]))
        least = self.likely[0]
        if least > 0.0:
            # The value 0 stands for all values below the least likely one.
            no_clones = self._other_clients - values[1:2] + 1.0
            log_mass[:1] = self._mirrored.log_mass(no_clones) + np.log(self._mirrored.tail_ratio(no_clones))
        return log_mass


class _Event(NamedTuple):
    """The terms of δ_c(ε), the δ of a shuffled report that is hidden among c clones, for each ε (rows) and c (columns).

    A report is of type 0 or 1. The victim's has type 0 with probability p = e^{ε₀}/(1 + e^{ε₀}) on the first data set
    and 1 − p on the second, and a clone's with probability 1/2. With α = e^ε, `bounds_given_clones` has the equation.

    Attributes:
        gap: A = p − α(1 − p), one column.
        growth: α − 1, one column.
        least: κ, the least number of reports of type 0 that is more than α times as likely on the first data set.
        type_one: number c + 1 − κ of reports of type 1 then.
    """

    gap: FloatArray
    growth: FloatArray
    least: FloatArray
    type_one: FloatArray

    @property
    def rounding_factor(self) -> FloatArray:
        """Factor 1 + κ/(c + 2 − κ) on the relative error of the mass b(κ − 1; c), as rounding may change κ by one."""
        return 1.0 + self.least / (self.type_one + 1.0)


class _MassesAndTails(NamedTuple):
    """Masses and tails of the number B ~ Bin(c, 1/2) of clones of type 0, both divided by e^scale.

    The scale keeps them within the doubles. κ is the least number of reports of type 0 that favours the first data set.

    Attributes:
        log_scale: the scale, a logarithm, for each ε (rows) and c (columns).
        mass: b(κ − 1; c)/e^scale, with b the mass function of B.
        tail: P(B ≥ κ)/e^scale.
    """

    log_scale: FloatArray
    mass: FloatArray
    tail: FloatArray


def bounds_given_clones(local_epsilon: float, clones: FloatArray, epsilon: FloatArray, effort: Effort) -> CountBounds:
    """Return bounds on log δ_c(ε), the log δ of a victim's report that is shuffled with c clones.

    Each report is of type 0 or 1. The victim's is of type 0 with probability p = e^{ε₀}/(1 + e^{ε₀}) on the first data
    set and 1 − p on the second. The number of clones of type 0 is B ~ Bin(c, 1/2), with mass function b. With
    A = p − α(1 − p) and α = e^ε,

        δ_c(ε) = A b(κ − 1; c) − (α − 1) P(B ≥ κ).

    κ is the least number of reports of type 0 that is more than α times as likely on the first data set.

    Args:
        local_epsilon: ε₀ of the victim's report, in nats.
        clones: values c, increasing.
        epsilon: ε, in nats.
        effort: the work for one bound.
    """
    event = _find_event(local_epsilon, clones, epsilon)
    log_scale, mass, tail = _masses_and_tails(clones, event, effort)
    gain = event.gap * mass
    loss = event.growth * tail
    gain_error = 4 * RATIO_ACCURACY * gain * event.rounding_factor
    loss_error = 4 * effort.ratio_accuracy * loss
    slack = gain_error + loss_error
    scale_error = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(log_scale))
    with np.errstate(divide="ignore"):
        low = np.log(np.maximum(gain - loss - slack, 0.0)) + log_scale - scale_error
        high = np.log(np.maximum(gain - loss, 0.0) + slack) + log_scale + scale_error
    return CountBounds(np.asarray(low), np.asarray(np.minimum(high, 0.0)))


def rough_bounds_given_clones(local_epsilon: float, clones: FloatArray, epsilon: FloatArray) -> CountBounds:
    """Return cheap bounds on log δ_c(ε), the log δ of a victim's report that is shuffled with c clones.

    δ_c(ε) = A b(κ − 1; c) − (α − 1) P(B ≥ κ), where B is the number of clones of type 0; see `bounds_given_clones`. The
    upper bound omits the subtracted term, and the lower bound is −∞.

    Args:
        local_epsilon: ε₀ of the victim's report, in nats.
        clones: values c, increasing.
        epsilon: ε, in nats.
    """
    event = _find_event(local_epsilon, clones, epsilon)
    log_mass = Binomial(clones, 0.5, 0.5).log_mass(event.least - 1.0)
    slack = np.log1p(4 * RATIO_ACCURACY * event.rounding_factor)
    log_gap = np.log(event.gap) + 16 * UNIT_ROUNDOFF + slack
    mass_error = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(log_mass))
    low = np.full(log_mass.shape, -np.inf)
    high = np.minimum(log_mass + log_gap + mass_error, 0.0)
    return CountBounds(low, np.asarray(high))


def _find_event(local_epsilon: float, clones: FloatArray, epsilon: FloatArray) -> _Event:
    """Return the terms of δ_c(ε) for each ε and c: κ, and the factors A and α − 1 of `bounds_given_clones`.

    Let k of the m = c + 1 reports be of type 0. On the first data set, k is more than e^ε times as likely if the share
    of reports of type 1 is below x: (m − k)/m < x = (1 − tanh(ε/2)/tanh(ε₀/2))/2. The least such k is κ. Hence m − κ is
    the integer with m − κ < m x ≤ m − κ + 1.

    Args:
        local_epsilon: ε₀ of the victim's report, in nats.
        clones: values c, increasing.
        epsilon: ε, in nats. The result is not used at ε ≥ ε₀, where any ε below ε₀ may replace it.
    """
    epsilon_below = np.where(epsilon < local_epsilon, epsilon, local_epsilon * (1.0 - 1e-9))[:, None]
    gap = -np.expm1(epsilon_below - local_epsilon) / (1.0 + math.exp(-local_epsilon))
    growth = np.expm1(np.minimum(epsilon_below, 700.0))  # the minimum keeps it finite
    x = gap / (math.tanh(0.5 * local_epsilon) * (2.0 + growth))  # the x above, without cancellation
    reports = clones + 1.0
    type_one = np.maximum(np.ceil(reports * x) - 1.0, 0.0)
    return _Event(gap, growth, reports - type_one, type_one)


def _masses_and_tails(clones: FloatArray, event: _Event, effort: Effort) -> _MassesAndTails:
    """Return b(κ − 1; c) and P(B ≥ κ) for each ε and c, for the number B ~ Bin(c, 1/2) of clones of type 0.

    b is the mass function of B, and κ the threshold of `bounds_given_clones`. Both are divided by a scale, which keeps
    them within the doubles. If the values c are consecutive, only every 32nd tail is computed directly, and the others
    by recurrence.

    Args:
        clones: values c, increasing.
        event: κ and the number c + 1 − κ of reports of type 1 for each ε and c.
        effort: the work for one tail.
    """
    are_consecutive = clones.size > _BLOCK and bool((np.diff(clones) == 1.0).all())
    if not are_consecutive:
        return _direct_masses(clones, event.least, event.type_one, effort)
    at_anchors = slice(None, None, _BLOCK)
    anchors = _direct_masses(clones[at_anchors], event.least[:, at_anchors], event.type_one[:, at_anchors], effort)
    mass, tail = _along_blocks(clones, event.least, anchors.tail)
    log_scale = np.repeat(anchors.log_scale, _BLOCK, axis=1)[:, : clones.size]
    return _MassesAndTails(log_scale, mass, tail)


def _direct_masses(clones: FloatArray, least: FloatArray, type_one: FloatArray, effort: Effort) -> _MassesAndTails:
    """Return the mass b(κ − 1; c) of B ~ Bin(c, 1/2), and the tail P(B ≥ κ) relative to it.

    B is the number of clones of type 0, and κ the threshold of `bounds_given_clones`. The relative tail is P(B ≥
    κ)/b(κ; c) · (c + 1 − κ)/κ.

    Args:
        clones: values c.
        least: κ for each ε and c.
        type_one: number c + 1 − κ of reports of type 1 for each ε and c.
        effort: the work for one tail.

    Returns:
        The mass as the scale, masses of 1, and the relative tails.
    """
    binomial = Binomial(clones, 0.5, 0.5)
    log_scale = binomial.log_mass(least - 1.0)
    tail_ratio = binomial.quick_tail_ratio if effort.quick else binomial.tail_ratio
    tail = tail_ratio(np.minimum(least, clones)) * type_one / least
    return _MassesAndTails(log_scale, np.ones_like(tail), tail)


def _along_blocks(clones: FloatArray, least: FloatArray, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute the mass b(κ − 1; c) and the tail P(B ≥ κ) of B ~ Bin(c, 1/2) for consecutive c by recurrence.

    B is the number of clones of type 0, and κ the threshold of `bounds_given_clones`, which depends on c. All values of
    a block of 32 are relative to the mass at its start. From c to c + 1 the mass changes by the factor
    (c + 1)/(2(c + 2 − κ)) or, if κ increases too, (c + 1)/(2κ). The tail gains half the old mass, and loses the new
    mass if κ increases.

    Args:
        clones: consecutive values c.
        least: κ, with a row for each ε and a column for each c.
        tails: P(B ≥ κ) relative to the mass, at the start of each block.

    Returns:
        The masses and the tails, with the shape of `least`.
    """
    increase = np.diff(least, append=least[:, -1:])
    mass_factor = 0.5 * (clones + 1.0) / np.where(increase > 0, least, clones + 2.0 - least)
    factors = _steps_within_blocks(mass_factor)
    increases = _steps_within_blocks(increase) > 0
    first_mass = np.ones((*factors.shape[:2], 1))
    mass = np.cumprod(np.concatenate((first_mass, factors), axis=2), axis=2, dtype=np.float64)
    old_mass, new_mass = mass[:, :, :-1], mass[:, :, 1:]
    tail_change = 0.5 * old_mass - np.where(increases, new_mass, 0.0)
    tail = np.cumsum(np.concatenate((tails[:, :, None], tail_change), axis=2), axis=2)
    return _join_blocks(mass, clones.size), np.maximum(_join_blocks(tail, clones.size), 0.0)


def _steps_within_blocks(values: FloatArray) -> FloatArray:
    """Divide each row into blocks of `_BLOCK` values, and drop the last of each block, the step to the next block.

    Returns:
        An array with an axis for the rows, one for the blocks, and one for the steps within a block. A last block that
        is not full is padded by 1.
    """
    rows, columns = values.shape
    padding = np.ones((rows, -columns % _BLOCK))
    return np.concatenate((values, padding), axis=1).reshape(rows, -1, _BLOCK)[:, :, :-1]


def _join_blocks(values: FloatArray, columns: int) -> FloatArray:
    """Return rows of values from blocks of `_BLOCK` values, without the padding of the last block.

    Args:
        values: array with an axis for the rows, one for the blocks, and one for the values of a block.
        columns: number of values of a row.
    """
    return np.asarray(values.reshape(values.shape[0], -1)[:, :columns], dtype=np.float64)

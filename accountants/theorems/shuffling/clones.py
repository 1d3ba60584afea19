"""The clone pair: a victim's report hidden among a random number of reports that look like it.

Each of the n − 1 other clients sends, with probability r, a report of type 0 or 1 with equal probability, independent
of the victim's input; C ~ Bin(n − 1, r) do. The victim's report is of type 0 with probability p = e^{ε₀}/(1 + e^{ε₀})
in one world and 1 − p in the other. The pair is that of C and the number of reports of type 0. Given C = c, with m = c
+ 1,

    δ_c(ε) = A b(κ − 1; c) − (α − 1) P(B ≥ κ),   B ~ Bin(c, 1/2) of mass b,   α = e^ε,   A = p − α(1 − p),

where κ is the least number of reports of type 0 that favours the first world: m − κ < m x ≤ m − κ + 1 with x = (1 −
tanh(ε/2)/tanh(ε₀/2))/2. δ_c decreases with c, because one more clone is a post-processing. So c may be rounded down for
an upper bound and up for a lower one. The cost of a sum over ranges of C does not depend on n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import erf, erfcx, xlog1py

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.binomial_law import QUICK_RATIO_ACCURACY, RATIO_ACCURACY, Binomial
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF, log_difference
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_REACH = 40.0
"""Standard deviations of C on each side within which its values are distinguished; beyond, C is rounded."""
_MOST_VALUES, _RANGES, _COARSE = 1 << 16, 1 << 14, 96
"""Largest number of values of C in ranges of their own, number of ranges beyond that, and of coarse ranges."""
_BLOCK, _TOGETHER = 32, 16
"""Number of consecutive C per evaluated tail, and number of ε that are computed together."""


class _Effort(NamedTuple):
    """The work for one bound.

    Attributes:
        negligible: log of the weight of the heaviest range of C over that of a range that stays coarse.
        most_fine: largest number of fine ranges if they hold several values each.
        quick: whether tails are computed by `quick_tail_ratio`.
    """

    negligible: float
    most_fine: int
    quick: bool

    @property
    def ratio_accuracy(self) -> float:
        """Relative error of tails over masses."""
        return QUICK_RATIO_ACCURACY if self.quick else RATIO_ACCURACY


_FULL, _QUICK = _Effort(46.0, 2048, quick=False), _Effort(30.0, 128, quick=True)


class _Ranges(NamedTuple):
    """A partition of the values of C: the least value of each range, and the log mass of the range."""

    first: FloatArray
    log_mass: FloatArray

    def merge(self, starts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> _Ranges:
        """Merge consecutive ranges; each start is the index of the first range of a merged one."""
        return _Ranges(self.first[starts], np.asarray(np.logaddexp.reduceat(self.log_mass, starts)))


class _Levels(NamedTuple):
    """Fine and coarse ranges of C.

    Attributes:
        every: all ranges.
        starts: index of the first range of each coarse range.
        coarse: about a hundred coarse ranges.
        accuracy: error of each log mass that matters; a difference of tails is less accurate than a mass.
    """

    every: _Ranges
    starts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    coarse: _Ranges
    accuracy: float


class _CountBounds(NamedTuple):
    """Lower and upper bounds of log δ_c."""

    low: FloatArray
    high: FloatArray


def estimate_clones(epsilon: FloatArray | float, victim: FloatArray, log_share: FloatArray, clients: int) -> FloatArray:
    """Estimate log δ of clone pairs. `ClonesBound` has certified bounds.

    P(B ≥ c(1 + u)/2) is about e^{−c D}, with u = tanh(ε/2)/tanh(ε₀/2) and D its divergence from a fair coin. The mean
    over C is (1 − r(1 − e^{−D}))^{n−1} = e^{−z²/2}. The remaining factor is that of a normal distribution with the
    standard deviation of the loss.

    Args:
        epsilon: ε, in nats.
        victim: ε₀ of the victim's report, in nats.
        log_share: log r, r the probability that another report is a clone.
        clients: n, the victim included.
    """
    reach = np.tanh(0.5 * victim)
    deviation = np.maximum(2.0 * reach / np.sqrt((clients - 1) * np.exp(log_share) + 1.0), 1e-150)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.minimum(np.tanh(0.5 * np.asarray(epsilon)) / reach, 1.0)
        divergence = 0.5 * (xlog1py(1.0 + u, u) + xlog1py(1.0 - u, -u))
        exponent = (clients - 1) * np.log1p(np.exp(log_share) * np.expm1(-divergence))
        z = np.sqrt(-2.0 * exponent)
        # E (N − z)₊ = φ(z) (1 − z Q(z)/φ(z))
        beyond = 1.0 - math.sqrt(0.5 * math.pi) * z * erfcx(z * math.sqrt(0.5))
        value = np.log(erf(deviation * math.sqrt(0.125))) + exponent + np.log(np.maximum(beyond, 1e-12))
    return np.asarray(np.where(np.asarray(epsilon) < victim, value, -np.inf))


def _log_sums(logs: FloatArray) -> FloatArray:
    """Return log Σ e^{logs} of each row; −∞ if every term is 0."""
    most = np.maximum(logs.max(axis=-1), -1e300)
    with np.errstate(divide="ignore"):
        return np.asarray(most + np.log(np.exp(logs - most[:, None]).sum(axis=-1)))


@dataclass(frozen=True)
class ClonesBound(ScaledBound):
    """E_{e^ε} of the clone pair, the same in both directions, plus the charge for a total variation distance.

    Attributes:
        clients: n, the victim included.
        rate: r, the probability that another client's report is a clone of the victim's.
        epsilon: ε₀ of the victim's report, in nats.
        log_distance: log of the total variation distance between either world and this pair's; it adds (1 + e^ε) times
            itself to δ.

    Guarantees: both bounds enclose the pair's δ, for δ down to 1e-300 and below: within a relative 1e-8 if C has at
    most 65536 likely values (n up to a few million), within 1e-3 for any n.
    """

    clients: int
    rate: float
    epsilon: float
    log_distance: float = -math.inf

    @property
    def largest_loss(self) -> float:
        """ε₀, or math.inf if a distance is charged."""
        return self.epsilon if math.isinf(self.log_distance) else math.inf

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose log δ at ε numerically, with the charge for the distance."""
        lower, upper = self._add_charge(np.asarray([epsilon]), *self._enclose(np.asarray([epsilon])))
        return Interval(float(lower[0]), float(upper[0]))

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on log δ from fewer ranges of the number C of clones.

        It is at most a relative 1e-6 above that of `log_bound`.
        """
        return float(self.upper_bounds(np.asarray([epsilon]))[0])

    def upper_bounds(self, epsilon: FloatArray) -> FloatArray:
        """Return `upper` at several ε. It is quicker if neighbouring entries of the array are close to each other."""
        parts = [self._quick_upper(epsilon[start : start + _TOGETHER]) for start in range(0, epsilon.size, _TOGETHER)]
        upper = np.concatenate(parts) if parts else np.zeros(0)
        return self._add_charge(epsilon, np.full(upper.size, -np.inf), upper)[1]

    def _add_charge(self, epsilon: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Add the charge for the distance to both bounds."""
        charge = self.log_distance + np.logaddexp(0.0, epsilon)
        slack = 8 * UNIT_ROUNDOFF
        lower = np.logaddexp(lower, charge) - slack
        upper = np.logaddexp(upper, charge) + slack
        return np.asarray(np.minimum(lower, 0.0)), np.asarray(np.minimum(upper, 0.0))

    @cached_property
    def _law(self) -> Binomial:
        """Distribution of C."""
        return Binomial(np.asarray(float(self.clients - 1)), self.rate, 1.0 - self.rate)

    @cached_property
    def _levels(self) -> _Levels:
        """Fine and coarse ranges of C."""
        return self._build_levels(self._partition(_RANGES))

    @cached_property
    def _quick_levels(self) -> _Levels:
        """A quarter of the ranges if C has too many values: tables evaluate many (ε₀, δ₀) a few times each."""
        low, high = self._likely
        return self._levels if high - low < _MOST_VALUES else self._build_levels(self._partition(_RANGES // 4))

    def _build_levels(self, every: _Ranges) -> _Levels:
        """Add about a hundred coarse ranges to the fine ones."""
        starts = np.arange(0, every.first.size, max(1, every.first.size // _COARSE))
        single = bool((np.diff(every.first)[1:-1] == 1.0).all())
        accuracy = (800.0 if single else 5000.0) * self._law.accuracy + RATIO_ACCURACY
        return _Levels(every, starts, every.merge(starts), accuracy)

    @cached_property
    def _likely(self) -> tuple[float, float]:
        """Least and largest value of C that is distinguished."""
        other_clients = float(self.clients - 1)
        mean = other_clients * self.rate
        reach = _REACH * math.sqrt(mean * (1.0 - self.rate)) + 50.0
        return max(0.0, math.floor(mean - reach)), min(other_clients, math.ceil(mean + reach))

    def _partition(self, most: int) -> _Ranges:
        """Return the values of C, the number of clones, in ranges with their log masses.

        Args:
            most: about the number of ranges, if C has more than `_MOST_VALUES` likely values. Otherwise each range is a
                single value.
        """
        other_clients, (low, high) = float(self.clients - 1), self._likely
        mean = other_clients * self.rate
        values = high - low + 1.0
        width = 1.0 if values <= _MOST_VALUES else math.ceil(values / most)
        first = np.unique(np.concatenate(([0.0], np.arange(low, high, width), [high])))
        mirrored = Binomial(self._law.trials, self._law.q, self._law.p)
        if width > 1.0:
            # P(C < c) up to the mean and P(C ≥ c) above it: the smaller one is more accurate.
            middle = int(np.searchsorted(first, mean, side="right"))
            below = mirrored.log_tail(other_clients - first[:middle] + 1.0)
            above = self._law.log_tail(first[middle - 1 :])
            beneath = log_difference(below[1:], np.minimum(below[:-1], below[1:]))
            beyond = log_difference(above[:-1], np.minimum(above[1:], above[:-1]))
            mass = np.concatenate((beneath, beyond, above[-1:]))
        else:
            mass = np.array(self._law.log_mass(first))
            # The mass beyond the distinguished values, on either side, counts at the outermost one.
            mass[-1:] += np.log(self._law.tail_ratio(first[-1:]))
            if low > 0.0:
                least = other_clients - first[1:2] + 1.0
                mass[:1] = mirrored.log_mass(least) + np.log(mirrored.tail_ratio(least))
        return _Ranges(first, mass)

    def _enclose(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds of log δ of the clone pair at each ε, without the charge for the distance."""
        is_zero = epsilon >= self.epsilon
        if is_zero.all():  # for example if ε₀ = 0
            return np.full(epsilon.size, -np.inf), np.full(epsilon.size, -np.inf)
        ranges, bounds = self._choose_ranges(self._levels, epsilon, _FULL)
        last = np.append(ranges.first[1:] - 1.0, self.clients - 1.0)
        beyond = np.concatenate((bounds.low[:, 1:], np.full((epsilon.size, 1), -np.inf)), axis=1)
        rounded_up = np.where(last == ranges.first, bounds.low, beyond)
        slack = self._levels.accuracy + 8 * UNIT_ROUNDOFF
        lower = _log_sums(ranges.log_mass + rounded_up) - slack
        upper = np.minimum(_log_sums(ranges.log_mass + bounds.high) + slack, 0.0)
        return np.where(is_zero, -np.inf, lower), np.where(is_zero, -np.inf, upper)

    def _quick_upper(self, epsilon: FloatArray) -> FloatArray:
        """Return upper bounds of log δ of the clone pair from fewer ranges, without the charge for the distance."""
        if (epsilon >= self.epsilon).all():
            return np.full(epsilon.size, -np.inf)
        levels = self._quick_levels
        ranges, bounds = self._choose_ranges(levels, epsilon, _QUICK)
        upper = _log_sums(ranges.log_mass + bounds.high) + levels.accuracy + 8 * UNIT_ROUNDOFF
        return np.where(epsilon >= self.epsilon, -np.inf, np.minimum(upper, 0.0))

    def _choose_ranges(self, levels: _Levels, epsilon: FloatArray, effort: _Effort) -> tuple[_Ranges, _CountBounds]:
        """Choose ranges of the number C of clones, narrow ones where a term P(C) δ_C of the sum is not negligible.

        In coarse ranges with less than e^−negligible of the largest term, the lower bound is 0 and the upper one omits
        the tail.

        Args:
            levels: the narrow and the coarse ranges.
            epsilon: several ε, in nats. The same ranges are used for all of them.
            effort: limits on the number of ranges, and the negligible log ratio.

        Returns:
            The ranges, and bounds of log δ_c at the least value c of each of them.
        """
        every, starts, coarse, _ = levels
        if every.first.size <= 4 * _COARSE:
            return every, self._count_bounds(every.first, epsilon, effort)
        bounds = self._count_bounds(coarse.first, epsilon, effort, without_tail=True)
        weights = coarse.log_mass + bounds.high
        relevant = np.flatnonzero((weights > weights.max(axis=1, keepdims=True) - effort.negligible).any(axis=0))
        begin, end = max(int(relevant[0]) - 1, 0), min(int(relevant[-1]) + 2, starts.size)
        start, stop = int(starts[begin]), int(starts[end]) if end < starts.size else every.first.size
        fine = _Ranges(every.first[start:stop], every.log_mass[start:stop])
        single = bool((np.diff(fine.first) == 1.0).all())
        if not single and fine.first.size > effort.most_fine:
            fine = fine.merge(np.arange(0, fine.first.size, math.ceil(fine.first.size / effort.most_fine)))
        inner = self._count_bounds(fine.first, epsilon, effort)

        def replace_middle(outer: FloatArray, middle: FloatArray) -> FloatArray:
            return np.concatenate((outer[..., :begin], middle, outer[..., end:]), axis=-1)

        first = replace_middle(coarse.first, fine.first)
        log_mass = replace_middle(coarse.log_mass, fine.log_mass)
        low, high = replace_middle(bounds.low, inner.low), replace_middle(bounds.high, inner.high)
        return _Ranges(first, log_mass), _CountBounds(low, high)

    def _count_bounds(
        self, clones: FloatArray, epsilon: FloatArray, effort: _Effort, *, without_tail: bool = False
    ) -> _CountBounds:
        """Return bounds of log δ_c, the pair's log δ given c clones, with a row for each ε and a column for each c.

        If the values c are consecutive, only every 32nd tail is computed directly, and the others by recurrence.

        Args:
            clones: values c, increasing.
            epsilon: ε, in nats.
            effort: the work for one bound.
            without_tail: whether to omit the subtracted tail (α − 1) P(B ≥ κ). The upper bounds remain valid, and the
                lower bounds are then log 0.
        """
        # At and beyond ε₀ the result is not used, so any ε below ε₀ may take its place.
        at = np.where(epsilon < self.epsilon, epsilon, self.epsilon * (1.0 - 1e-9))[:, None]
        gap = -np.expm1(at - self.epsilon) / (1.0 + math.exp(-self.epsilon))  # A
        growth = np.expm1(np.minimum(at, 700.0))  # α − 1
        share = gap / (math.tanh(0.5 * self.epsilon) * (2.0 + growth))  # x
        type_one = np.maximum(np.ceil((clones + 1.0) * share) - 1.0, 0.0)
        least = clones + 1.0 - type_one  # κ
        run = not without_tail and clones.size > _BLOCK and bool((np.diff(clones) == 1.0).all())
        anchors = slice(None, None, _BLOCK if run else 1)
        binomial = Binomial(clones[anchors], 0.5, 0.5)
        scale = binomial.log_mass(least[:, anchors] - 1.0)
        if without_tail:
            room = np.log(gap) + 16 * UNIT_ROUNDOFF + np.log1p(4 * RATIO_ACCURACY * (1.0 + least / (type_one + 1.0)))
            error = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(scale))
            return _CountBounds(np.full(scale.shape, -np.inf), np.asarray(np.minimum(scale + room + error, 0.0)))
        tail_ratio = binomial.quick_tail_ratio if effort.quick else binomial.tail_ratio
        tail = tail_ratio(np.minimum(least[:, anchors], clones[anchors])) * type_one[:, anchors] / least[:, anchors]
        mass, tail = _along_blocks(clones, least, tail) if run else (np.ones_like(tail), tail)
        scale = np.repeat(scale, _BLOCK, axis=1)[:, : clones.size] if run else scale
        first, second = gap * mass, growth * tail
        # By rounding, κ may be wrong by one, which changes the result by at most this slack.
        slack = 4 * RATIO_ACCURACY * first * (1.0 + least / (type_one + 1.0)) + 4 * effort.ratio_accuracy * second
        error = 32 * UNIT_ROUNDOFF * (1.0 + np.abs(scale))
        with np.errstate(divide="ignore"):
            low = np.log(np.maximum(first - second - slack, 0.0)) + scale - error
            high = np.log(np.maximum(first - second, 0.0) + slack) + scale + error
        return _CountBounds(np.asarray(low), np.asarray(np.minimum(high, 0.0)))


def _along_blocks(clones: FloatArray, least: FloatArray, tails: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute b(κ − 1; c) and P(B ≥ κ) along runs of c, relative to the former at the start of each block of 32.

    From c to c + 1 the mass changes by (c + 1)/(2(c + 2 − κ)) or, if κ increases too, (c + 1)/(2κ). The tail gains half
    the old mass, and loses the new mass if κ increases. There is one row per ε.

    Args:
        clones: values c.
        least: κ for each ε and c.
        tails: P(B ≥ κ) relative to the mass, at the start of each block.
    """
    rows = least.shape[0]
    step = np.diff(least, append=least[:, -1:])
    factor = 0.5 * (clones + 1.0) / np.where(step > 0, least, clones + 2.0 - least)
    padding = np.ones((rows, -clones.size % _BLOCK))
    factor, step = (
        np.concatenate((part, padding), axis=1).reshape(rows, -1, _BLOCK)[:, :, :-1] for part in (factor, step)
    )
    mass = np.cumprod(np.concatenate((np.ones((*factor.shape[:2], 1)), factor), axis=2), axis=2)
    change = 0.5 * mass[:, :, :-1] - (step > 0) * mass[:, :, 1:]
    tail = np.cumsum(np.concatenate((tails[:, :, None], change), axis=2), axis=2)
    mass, tail = (np.asarray(part.reshape(rows, -1)[:, : clones.size]) for part in (mass, tail))
    return mass, np.maximum(tail, 0.0)

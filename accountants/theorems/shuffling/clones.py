"""The clone pair: the report of one client, the victim, hidden among a random number of reports that look like it.

Each of the n − 1 other clients sends, with probability r, a clone: a report of type 0 or 1 with equal probability,
independent of the victim's input. The number of clones is C ~ Bin(n − 1, r). The victim's report is of type 0 with
probability p = e^{ε₀}/(1 + e^{ε₀}) in one world and 1 − p in the other. The pair is that of C and the number of reports
of type 0. Given C = c, its δ is the δ_c of `clone_counts`. It decreases with c, because one more clone is a
post-processing. So c may be rounded down for an upper bound and up for a lower one. The cost of a sum over ranges of C
does not depend on n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import erf, erfcx, xlog1py

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.binomial_law import RATIO_ACCURACY
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.shuffling.clone_counts import (
    CountBounds,
    Effort,
    bounds_given_clones,
    rough_bounds_given_clones,
)
from epsilond.accountants.theorems.shuffling.clone_ranges import CloneCount, CountRanges
from epsilond.accountants.theorems.shuffling.finite import FiniteBlanketBound, response_outcomes
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.theorems.shuffling.planned_rows import IntArray

_RANGES, _COARSE = 1 << 14, 96
"""Number of ranges of C if it has too many values, and number of coarse ranges."""
_TOGETHER = 16
"""Number of ε that are computed together, with the same ranges of C."""
_FULL_EFFORT, _QUICK_EFFORT = Effort(46.0, 2048, quick=False), Effort(30.0, 128, quick=True)
"""The work for certified bounds on both sides, and for quick upper bounds."""


class _Partitions(NamedTuple):
    """A fine and a coarse partition of the possible numbers of clones into ranges of consecutive values.

    A clone is another client's report that looks like the victim's, the report of the protected client.

    Attributes:
        fine: the fine ranges.
        starts: index of the first fine range of each coarse range.
        coarse: about a hundred coarse ranges.
        accuracy: bound on the error of the log probability of each range that is not negligible.
    """

    fine: CountRanges
    starts: IntArray
    coarse: CountRanges
    accuracy: float

    def select_fine_ranges(self, begin: int, end: int, most: int) -> CountRanges:
        """Return the fine ranges within some consecutive coarse ranges, merged to at most `most` ranges to save time.

        If all of them are single values, they are not merged, and there may be more.

        Args:
            begin: index of the first coarse range.
            end: index after the last coarse range.
            most: largest number of ranges, at least 1.

        Returns:
            The ranges with their log probabilities, in increasing order.
        """
        first_of_each = np.append(self.starts, self.fine.first.size)
        selected = slice(int(first_of_each[begin]), int(first_of_each[end]))
        fine = CountRanges(self.fine.first[selected], self.fine.log_mass[selected])
        count = fine.first.size
        are_single = bool((np.diff(fine.first) == 1.0).all())
        if are_single or count <= most:
            return fine
        merged_together = math.ceil(count / most)
        return fine.merge(np.arange(0, count, merged_together))


def estimate_clones(epsilon: FloatArray | float, victim: FloatArray, log_share: FloatArray, clients: int) -> FloatArray:
    """Estimate log δ(ε) of shuffled reports by the clone bound, without an error bound (`ClonesBound` has one).

    The report of the protected client, the victim, has the local guarantee ε₀. Each other report looks like it with
    probability r, and is then a clone. Let N be standard normal, and s = 2 tanh(ε₀/2)/√((n − 1) r + 1) about the
    standard deviation of the privacy loss. Then:

        δ(ε) ≈ P(|N| ≤ s/2) √(2π) E(N − z)₊,   e^{−z²/2} = (1 − r(1 − e^{−D}))^{n−1},

    where D = ((1 + u) log(1 + u) + (1 − u) log(1 − u))/2 and u = tanh(ε/2)/tanh(ε₀/2). A clone has one of two types,
    with equal probability. The number e^{−cD} estimates the probability that a fraction (1 + u)/2 of c clones is of the
    first type. Its mean over the number of clones is e^{−z²/2}.

    Args:
        epsilon: ε, in nats.
        victim: ε₀ of the victim's report, in nats.
        log_share: log r, r the probability that another report is a clone.
        clients: n, the victim included.

    Returns:
        The estimates, −∞ for ε ≥ ε₀.
    """
    tanh_half = np.tanh(0.5 * victim)
    share = np.exp(log_share)
    mean_group = (clients - 1) * share + 1.0
    loss_std = np.maximum(2.0 * tanh_half / np.sqrt(mean_group), 1e-150)  # s; positive, for the logarithm below
    with np.errstate(divide="ignore", invalid="ignore"):
        log_at_zero = np.log(erf(loss_std * math.sqrt(0.125)))  # log P(|N| ≤ s/2)

        # The exponent is −z²/2, for the divergence D at the imbalance u of the two types.
        imbalance = np.minimum(np.tanh(0.5 * np.asarray(epsilon)) / tanh_half, 1.0)
        divergence = 0.5 * (xlog1py(1.0 + imbalance, imbalance) + xlog1py(1.0 - imbalance, -imbalance))
        exponent = (clients - 1) * np.log1p(share * np.expm1(-divergence))
        standard_score = np.sqrt(-2.0 * exponent)  # z

        # √(2π) E(N − z)₊ = e^{−z²/2} (1 − z Q(z)/φ(z)), with Q the upper tail and φ the density of N
        mills_ratio = erfcx(standard_score * math.sqrt(0.5))  # Q(z)/φ(z), up to the factor √(π/2)
        mills_factor = 1.0 - math.sqrt(0.5 * math.pi) * standard_score * mills_ratio
        log_delta = log_at_zero + exponent + np.log(np.maximum(mills_factor, 1e-12))
    return np.asarray(np.where(np.asarray(epsilon) < victim, log_delta, -np.inf))


def _log_sums(logs: FloatArray) -> FloatArray:
    """Compute log Σ e^x over the entries x of each row of a matrix, without overflow.

    Args:
        logs: natural logarithms, with a row for each sum.

    Returns:
        One logarithm for each row; −∞ if every term is 0.
    """
    largest = np.maximum(logs.max(axis=-1), -1e300)  # finite, so that −∞ is not subtracted from −∞
    with np.errstate(divide="ignore"):
        sums = np.exp(logs - largest[:, None]).sum(axis=-1)
        return np.asarray(largest + np.log(sums))


@dataclass(frozen=True)
class ClonesBound(ScaledBound):
    """The bound on δ(ε) of shuffled reports that hide one report, the victim's, among similar ones, its clones.

    Each of the n − 1 other clients sends, with probability r, a clone: a report of type 0 or 1 with equal probability.
    The victim's report has type 0 with probability e^{ε₀}/(1 + e^{ε₀}) on one data set, and type 1 with this
    probability on the other. The number C of clones and the number of reports of type 0 are observed. With the δ_c of
    a victim among c clones, and the total variation distance t of the real reports from these, the bound is:

        δ(ε) ≤ Σ_c P(C = c) δ_c(ε) + (1 + e^ε) t,   C ~ Bin(n − 1, r).

    Attributes:
        clients: n, the victim included.
        rate: r, the probability that another client's report is a clone of the victim's.
        epsilon: ε₀ of the victim's report, in nats.
        log_distance: log t; −∞ if the real reports are such reports.

    Guarantees: both bounds enclose the sum, for δ down to 1e-300 and below: within a relative 1e-8 if C has at most
    65536 likely values (n up to a few million), within 1e-3 for any n.
    """

    clients: int
    rate: float
    epsilon: float
    log_distance: float = -math.inf

    @property
    def largest_loss(self) -> float:
        """Least ε from which on the bound is zero: ε₀, or ∞ if the real reports have a distance from the clones."""
        if math.isinf(self.log_distance):
            return self.epsilon
        return math.inf

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose the log of the bound on δ(ε) of shuffled reports.

        The bound is Σ_c P(C = c) δ_c(ε) + (1 + e^ε) t. C is the number of reports that look like the victim's, and t
        the total variation distance of the real reports from idealised ones.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm of the bound.
        """
        epsilons = np.asarray([epsilon])
        pair_lower, pair_upper = self._enclose(epsilons)
        lower, upper = self._add_distance_term(epsilons, pair_lower, pair_upper)
        return Interval(float(lower[0]), float(upper[0]))

    def upper(self, epsilon: float) -> float:
        """Return an upper bound on log δ in less time than `log_bound`, and at most a relative 1e-6 above its bound.

        The number of clones, reports that look like the victim's, is divided into fewer ranges.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            The natural logarithm of the bound.
        """
        return float(self.upper_bounds(np.asarray([epsilon]))[0])

    def upper_bounds(self, epsilon: FloatArray) -> FloatArray:
        """Compute upper bounds on log δ at several ε.

        Each group of `_TOGETHER` consecutive values uses the same ranges of the number of clones, the reports that look
        like the victim's. The bounds are tighter if the ε of a group are close to each other.

        Args:
            epsilon: values of ε, in nats.

        Returns:
            An upper bound on log δ at each ε.
        """
        if epsilon.size == 0:
            return np.zeros(0)
        groups = [epsilon[start : start + _TOGETHER] for start in range(0, epsilon.size, _TOGETHER)]
        upper = np.concatenate([self._quick_upper(group) for group in groups])
        no_lower = np.full(upper.size, -np.inf)
        _, whole_upper = self._add_distance_term(epsilon, no_lower, upper)
        return whole_upper

    def _add_distance_term(
        self, epsilon: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Add the term (1 + e^ε) t to lower and upper bounds on δ of idealised reports, rounded outward.

        The real reports are within the total variation distance t of the idealised ones, on both data sets. This
        increases δ by at most that term.

        Args:
            epsilon: array of values of ε, in nats.
            lower: lower bound on log δ of the idealised reports at each ε.
            upper: upper bound on log δ of the idealised reports at each ε.

        Returns:
            Two arrays, of lower and of upper bounds on log δ with the term, at most 0.
        """
        log_term = self.log_distance + np.logaddexp(0.0, epsilon)  # log (1 + e^ε) t
        slack = 8 * UNIT_ROUNDOFF  # exceeds the rounding error of the sums
        lower = np.logaddexp(lower, log_term) - slack
        upper = np.logaddexp(upper, log_term) + slack
        return np.asarray(np.minimum(lower, 0.0)), np.asarray(np.minimum(upper, 0.0))

    @cached_property
    def _count(self) -> CloneCount:
        """Distribution of the number C of clones."""
        return CloneCount(self.clients, self.rate)

    @cached_property
    def _partitions(self) -> _Partitions:
        """Fine and coarse ranges of C."""
        return self._build_partitions(_RANGES)

    @cached_property
    def _quick_partitions(self) -> _Partitions:
        """Fine and coarse ranges of C for quick bounds.

        If C has too many values, there are a quarter as many fine ranges, because tables evaluate many bounds only a
        few times each.
        """
        if self._count.has_many_values:
            return self._build_partitions(_RANGES // 4)
        return self._partitions

    def _build_partitions(self, most: int) -> _Partitions:
        """Divide the possible numbers of clones, reports like the victim's, into fine and about 100 coarse ranges.

        Args:
            most: approximate number of fine ranges; see `CloneCount.ranges`.

        Returns:
            Both partitions, with a bound on the error of the log probability of a range.
        """
        fine = self._count.ranges(most)
        fine_per_coarse = max(1, fine.first.size // _COARSE)
        starts = np.arange(0, fine.first.size, fine_per_coarse)
        # The error is `distribution.accuracy` times 1 + |log probability|, for logarithms down to about −800. A
        # difference of tails is less accurate than a mass.
        error_units = 800.0 if fine.inner_are_single else 5000.0
        accuracy = error_units * self._count.distribution.accuracy + RATIO_ACCURACY
        return _Partitions(fine, starts, fine.merge(starts), accuracy)

    def _enclose(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute bounds on log Σ_c P(C = c) δ_c(ε), where c reports look like that of the protected client.

        δ_c decreases with c. So a range of c has the upper bound at its least value. Its lower bound is the one at its
        largest value, or at the least value of the next range.

        Args:
            epsilon: values of ε, in nats.

        Returns:
            The lower and the upper bound at each ε; both are −∞ for ε ≥ ε₀, the ε of the report, where δ_c is 0.
        """
        is_zero = epsilon >= self.epsilon
        log_zero = np.full(epsilon.size, -np.inf)
        if is_zero.all():  # for example if ε₀ = 0
            return log_zero, log_zero
        ranges, bounds = self._choose_ranges(self._partitions, epsilon, _FULL_EFFORT)
        slack = self._partitions.accuracy + 8 * UNIT_ROUNDOFF  # errors of the log probabilities and of the sums

        largest_values = np.append(ranges.first[1:] - 1.0, self.clients - 1.0)
        is_single = largest_values == ranges.first
        low_of_next = np.concatenate((bounds.low[:, 1:], log_zero[:, None]), axis=1)
        low = np.where(is_single, bounds.low, low_of_next)
        lower = _log_sums(ranges.log_mass + low) - slack

        upper = np.minimum(_log_sums(ranges.log_mass + bounds.high) + slack, 0.0)
        return np.where(is_zero, log_zero, lower), np.where(is_zero, log_zero, upper)

    def _quick_upper(self, epsilon: FloatArray) -> FloatArray:
        """Compute upper bounds on log δ of idealised reports in less time, from few ranges of the number of clones.

        Args:
            epsilon: values of ε, in nats.

        Returns:
            An upper bound on the natural logarithm at each ε; −∞ for ε ≥ ε₀, where δ is 0.
        """
        is_zero = epsilon >= self.epsilon
        if is_zero.all():
            return np.full(epsilon.size, -np.inf)
        partitions = self._quick_partitions
        ranges, bounds = self._choose_ranges(partitions, epsilon, _QUICK_EFFORT)
        # The last two terms bound the errors of the log probabilities and of the sum.
        upper = _log_sums(ranges.log_mass + bounds.high) + partitions.accuracy + 8 * UNIT_ROUNDOFF
        return np.where(is_zero, -np.inf, np.minimum(upper, 0.0))

    def _choose_ranges(
        self, partitions: _Partitions, epsilon: FloatArray, effort: Effort
    ) -> tuple[CountRanges, CountBounds]:
        """Choose ranges of the number c of clones: narrow ones where the terms P(C = c) δ_c of δ are not negligible.

        Here δ_c is the δ of a victim among c clones. A coarse range is not divided if its term is below e^−negligible
        times the largest one at each ε. For it, rough bounds on δ_c are used: a lower bound of 0, and an upper bound
        without the subtracted term of `bounds_given_clones`.

        Args:
            partitions: the narrow and the coarse ranges.
            epsilon: array of several ε, in nats. The same ranges are used for all of them.
            effort: limit on the number of ranges, and `negligible`, the log ratio of negligible terms.

        Returns:
            The ranges, and bounds on log δ_c at the least value c of each, with a row for each ε.
        """
        # A selection among few fine ranges would not save time.
        if partitions.fine.first.size <= 4 * _COARSE:
            return partitions.fine, bounds_given_clones(self.epsilon, partitions.fine.first, epsilon, effort)

        coarse = partitions.coarse
        outer = rough_bounds_given_clones(self.epsilon, coarse.first, epsilon)
        log_terms = coarse.log_mass + outer.high
        least_relevant = log_terms.max(axis=1, keepdims=True) - effort.negligible
        relevant = np.flatnonzero((log_terms > least_relevant).any(axis=0))

        # One more range on each side is divided, as a margin.
        begin = max(int(relevant[0]) - 1, 0)
        end = min(int(relevant[-1]) + 2, coarse.first.size)
        fine = partitions.select_fine_ranges(begin, end, effort.most_fine)
        inner = bounds_given_clones(self.epsilon, fine.first, epsilon, effort)

        def replace_middle(coarse_values: FloatArray, fine_values: FloatArray) -> FloatArray:
            """Return the values of the coarse ranges, with those of the fine ranges in place of the relevant ones."""
            return np.concatenate((coarse_values[..., :begin], fine_values, coarse_values[..., end:]), axis=-1)

        first = replace_middle(coarse.first, fine.first)
        log_mass = replace_middle(coarse.log_mass, fine.log_mass)
        low = replace_middle(outer.low, inner.low)
        high = replace_middle(outer.high, inner.high)
        return CountRanges(first, log_mass), CountBounds(low, high)


def response_bound(clients: int, epsilon: float, categories: int) -> ScaledBound:
    """Return the bound on δ of shuffled k-ary randomized response by its privacy blanket.

    The blanket is the part of a report's distribution that does not depend on the input. For two categories the bound
    is an exact sum over the number of reports from the blanket. For more categories it is a certified contour integral.

    Args:
        clients: number of clients.
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories.

    Returns:
        The bound, which can be evaluated at any ε.
    """
    if categories == 2:
        rate = 2.0 * math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
        return ClonesBound(clients, rate, epsilon)
    return FiniteBlanketBound(clients, response_outcomes(epsilon, categories))

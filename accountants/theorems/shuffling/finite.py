"""Shuffled reports from a finite set: the blanket over all pairs of inputs, and counts of one report as instances.

The blanket of a randomizer with outcome distributions R_x is min_x R_x, pointwise; outcome i has weight w_i in it. For
inputs x and x' the variable is Y = (R_x(i) − α R_x'(i))/w_i with probability w_i, and 0 with the remaining probability.
An outcome of no weight is not hidden, and its full probability is charged. For k-ary randomized response all pairs are
equal up to a permutation, and three outcomes suffice.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.binomial_law import RATIO_ACCURACY, Binomial
from epsilond.accountants.numerics.compound_sum import CompoundSum, LogInterval
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.numerics.step_law import StepLaw, WeightedPoints
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

Outcomes = tuple[tuple[float, float, float], ...]
"""Weight of each outcome in the blanket, and its probabilities on either input, for one pair of inputs."""

_LOG_ACCURACY = 16 * UNIT_ROUNDOFF
"""Bound on the rounding error of log δ by the steps after the compound sum."""
_LEAST_WEIGHT = 1e-290
"""Weight below which an outcome counts as not hidden: a smaller blanket is valid, and adds little to δ."""


def blanket_outcomes(rows: Sequence[Sequence[float]]) -> tuple[Outcomes, ...]:
    """Return the probabilities that determine the privacy blanket bound of a randomizer, for every two inputs.

    The privacy blanket is the part of a report's distribution that does not depend on the input. It gives each outcome
    its least probability over all inputs.

    Args:
        rows: probabilities of the outcomes of a report, one row per input.

    Returns:
        For each ordered pair of inputs, a triple for each outcome: its probability in the blanket, and its
        probabilities under the two inputs.
    """
    blanket = [min(outcome) for outcome in zip(*rows, strict=True)]
    input_pairs = itertools.permutations(rows, 2)
    return tuple(tuple(zip(blanket, first, second, strict=True)) for first, second in input_pairs)


def response_outcomes(epsilon: float, categories: int) -> tuple[Outcomes, ...]:
    """Return the probabilities that determine the privacy blanket bound of k-ary randomized response.

    One pair of inputs is enough, because all have the same δ. A report is true with probability e^{ε₀}/(e^{ε₀} + k −
    1), and each other category has 1/(e^{ε₀} + k − 1). The outcomes are the two categories of the pair, and all further
    categories as one.

    Args:
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories.

    Returns:
        One pair of inputs: a triple for each outcome. Its entries are the least probability over all inputs, and the
        probabilities under the first and the second input of the pair. The first outcome is the first input.
    """
    false = math.exp(-epsilon) / (1.0 + (categories - 1) * math.exp(-epsilon))
    true = math.exp(epsilon) * false
    # Triples: the least probability over all inputs, and those under the two inputs of the pair.
    first_category = (false, true, false)
    second_category = (false, false, true)
    if categories == 2:
        return ((first_category, second_category),)
    remaining = (categories - 2) * false
    further_categories = (remaining, remaining, remaining)
    return ((first_category, second_category, further_categories),)


@dataclass(frozen=True)
class FiniteBlanketBound(ScaledBound):
    """The bound on δ of shuffled reports by the privacy blanket: the largest one over several pairs of inputs.

    The blanket is the part of a report's distribution that is the same for all inputs. Outcome i has the weight w_i in
    it, and the probabilities p_i and q_i under the two inputs. For n clients and α = e^ε,

        δ(ε) ≤ (1/n) E[(Y₁ + … + Y_n)₊],   Y = (p_i − α q_i)/w_i with probability w_i, otherwise 0.

    An outcome without weight is not hidden. It adds (p_i − α q_i)₊ to δ.

    Attributes:
        clients: number n of clients.
        pairs: outcomes of each pair of inputs.

    Guarantees: the upper bound is at least the exact one, and exceeds it by one part in ten thousand of ε. The lower
    bound is at most the exact one. The cost does not depend on the number of clients.
    """

    clients: int
    pairs: tuple[Outcomes, ...]

    @cached_property
    def _tables(self) -> tuple[FloatArray, ...]:
        """Weights and probabilities of each pair of inputs, as an array of three rows and a column for each outcome."""
        return tuple(np.asarray(pair, dtype=np.float64).T for pair in self.pairs)

    @cached_property
    def largest_loss(self) -> float:
        """Largest log p_i/q_i over all outcomes and pairs of inputs, in nats, rounded up."""
        largest_losses = []
        for _, first, second in self._tables:
            with np.errstate(divide="ignore", invalid="ignore"):
                losses = np.where(first > 0.0, np.log(first) - np.log(second), -np.inf)
            largest_losses.append(float(losses.max()))
        return max(largest_losses) * (1.0 + 16 * UNIT_ROUNDOFF)

    def log_bound(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) of the privacy blanket bound, the largest over every two inputs.

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            Both bounds on the natural logarithm; −∞ from the largest privacy loss on.
        """
        if epsilon >= self.largest_loss:
            return Interval(-math.inf, -math.inf)
        bounds = [self._bound_pair(table, epsilon) for table in self._tables]
        lower = max(interval.lower for interval in bounds)
        upper = max(interval.upper for interval in bounds)
        return Interval(lower, upper)

    def _bound_pair(self, table: FloatArray, epsilon: float) -> Interval:
        """Enclose log δ(ε) of the privacy blanket bound for two given inputs.

        The privacy blanket is the part of a report's distribution that does not depend on the input. It gives each
        outcome its least probability over all inputs. An outcome is hidden if it has a weight there. The lower bound
        leaves out the other outcomes.

        Args:
            table: three rows: weight w_i in the blanket, and probabilities p_i and q_i under both inputs, of each
                outcome i.
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on log δ, rounded outward and at most 0.
        """
        alpha = math.exp(min(epsilon, 700.0))  # the minimum keeps e^ε finite
        log_clients = math.log(self.clients)
        is_hidden = table[0] > _LEAST_WEIGHT

        # Hidden outcomes contribute the expected positive part of a sum, divided by the number of clients.
        hidden_sum = self._log_positive_sum(table[:, is_hidden], alpha)
        lower = hidden_sum.lower - log_clients - _LOG_ACCURACY
        hidden_upper = hidden_sum.upper - log_clients

        # The other outcomes add their whole contribution Σ (p_i − α q_i)₊ to δ.
        _, first, second = table[:, ~is_hidden]
        exposed_delta = float(np.maximum(first - alpha * second, 0.0).sum())
        log_exposed_delta = -math.inf
        if exposed_delta > 0.0:
            log_exposed_delta = math.log(exposed_delta) + _LOG_ACCURACY

        upper = min(float(np.logaddexp(hidden_upper, log_exposed_delta)) + _LOG_ACCURACY, 0.0)
        return Interval(min(lower, upper), upper)

    def _log_positive_sum(self, table: FloatArray, alpha: float) -> LogInterval:
        """Enclose log E[(Y₁ + … + Y_n)₊], the log of the expected positive part of a sum of n independent terms.

        Each term Y is (p_i − α q_i)/w_i with probability w_i, and otherwise 0. Dividing the result by n gives δ.

        Args:
            table: three rows: w_i > 0, p_i and q_i of each outcome i; see `_bound_pair`.
            alpha: factor α = e^ε ≥ 1.

        Returns:
            A lower and an upper bound on the natural logarithm.
        """
        weight, first, second = table
        # The values of Y with their probabilities, and bounds on the rounding errors of both.
        atoms = WeightedPoints(
            points=(first - alpha * second) / weight,
            weights=weight,
            point_errors=8 * UNIT_ROUNDOFF * (first + alpha * second) / weight,
            weight_errors=8 * UNIT_ROUNDOFF * weight,
        )
        return CompoundSum(StepLaw(atoms), self.clients).log_positive_part()


class _CountEvent(NamedTuple):
    """An event about a count of reports that favours the first of two data sets, at each ε.

    The count is the number of clients that send a certain report. It is B ~ Bin(trials, base) for the other clients,
    with mass function b, plus 1 if the client with changed data, the victim, sends it. The event is that the count is
    at least κ: it is then more than e^ε times as likely on the first data set.

    Attributes:
        least: κ; it exceeds every count if the event is impossible.
        log_mass: log b(κ − 1).
        tail: P(B ≥ κ)/b(κ − 1).
    """

    least: FloatArray
    log_mass: FloatArray
    tail: FloatArray


@dataclass(frozen=True)
class CountProfile(Profile):
    """The privacy profile of a count on two data sets: the number of clients that send a certain report.

    It is B, plus 1 if the victim, the client with data that differ, sends the report. B ~ Bin(trials, `base`) counts
    the other clients. The victim sends it with probability `high` in the first world, the first data set, and `low` <
    `high` in the second. Let κ be the least count that is more than e^ε times as likely in the first world. Then

        δ(ε) = (high − α low) b(κ − 1) − (α − 1) P(B ≥ κ),   b the mass function of B,   α = e^ε.

    Attributes:
        trials: number of other clients.
        base: probability that another client sends the report, and its complement.
        high: probability that the victim sends it in the first world, and its complement.
        low: probability that the victim sends it in the second world, and its complement.
    """

    trials: int
    base: tuple[float, float]
    high: tuple[float, float]
    low: tuple[float, float]
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Error of each log tail: of a mass, of a tail ratio, and of their sum."""
        return 2.0 * self._other_reports.accuracy + 4 * RATIO_ACCURACY

    @cached_property
    def _other_reports(self) -> Binomial:
        """Distribution of B."""
        return Binomial(np.asarray(float(self.trials)), *self.base)

    def _event(self, epsilon: FloatArray) -> _CountEvent:
        """Return the event that a count of reports is large enough to favour the first of two data sets.

        The event is that the count is at least κ, where it is more than e^ε times as likely on the first data set. The
        count is the number of clients that send a certain report. On the first data set the victim sends it with
        probability `high`, on the second one with probability `low`. B ~ Bin(trials, base) of the other clients send
        it, with mass function b.

        Args:
            epsilon: values of ε, in nats.

        Returns:
            κ, log b(κ − 1), and P(B ≥ κ)/b(κ − 1) at each ε.
        """
        growth = np.expm1(np.minimum(epsilon, 700.0))  # α − 1; the minimum keeps it finite
        base, not_base = self.base
        has_event = self._gap(growth) > 0.0

        # The least count κ whose odds exceed the threshold. Without an event, κ exceeds every count.
        clients = self.trials + 1.0
        largest_not_sent = np.ceil(clients / (1.0 + self._count_odds(growth))) - 1.0
        not_sent = np.maximum(largest_not_sent, 0.0)
        least = np.where(has_event, clients - not_sent, clients + 1.0)

        possible_count = np.minimum(least, clients)
        log_mass = np.where(has_event, self._other_reports.log_mass(possible_count - 1.0), -np.inf)
        # P(B ≥ κ)/b(κ − 1) = P(B ≥ κ)/b(κ) · b(κ)/b(κ − 1)
        ratio_to_own_mass = self._other_reports.tail_ratio(np.minimum(possible_count, self.trials))
        tail = ratio_to_own_mass * not_sent * base / (possible_count * not_base)
        return _CountEvent(least, log_mass, np.where(has_event, tail, 0.0))

    def _gap(self, growth: FloatArray) -> FloatArray:
        """Compute A = high − α low, which is positive if some count favours the first of the two data sets.

        Args:
            growth: array of α − 1 = e^ε − 1, one for each ε.

        Returns:
            A at each ε, without cancellation.
        """
        high, low = self.high[0], self.low[0]
        return high - low - growth * low

    def _count_odds(self, growth: FloatArray) -> FloatArray:
        """Return the least odds k/(trials + 1 − k) from which on a count k favours the first of two data sets.

        Above them, k is more than α times as likely on the first data set. Let A be the result of `_gap`, and
        D = α (1 − low) − (1 − high). The odds are (D/A) base/(1 − base).

        Args:
            growth: array of α − 1 = e^ε − 1, one for each ε.

        Returns:
            An array of odds; infinite for A ≤ 0, where no count favours the first data set.
        """
        gap = self._gap(growth)
        has_event = gap > 0.0
        not_high, not_low = self.high[1], self.low[1]
        complement_gap = (not_low - not_high) + growth * not_low  # D
        base, not_base = self.base
        divisor = np.where(has_event, gap, 1.0)
        with np.errstate(over="ignore"):  # if the odds overflow, only the largest count favours the first world
            odds = complement_gap / divisor * (base / not_base)
        return np.where(has_event, odds, np.inf)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log tails of the privacy loss: log P(loss > ε) on the first data set and on the second.

        The privacy loss of a count is the log ratio of its probabilities on both data sets. It exceeds ε if the count
        is at least κ, see `_event`. The tails are P(B ≥ κ) + high b(κ − 1), and the same sum with `low`. B is the
        number of other clients that send the report, and b its mass function.

        Args:
            epsilon: array of values of ε, in nats.

        Returns:
            Two arrays of natural logarithms, one entry for each ε.
        """
        _, log_mass, tail = self._event(np.asarray(epsilon, dtype=np.float64))
        high, low = self.high[0], self.low[0]
        log_first = np.minimum(log_mass + np.log(tail + high), 0.0)
        log_second = np.minimum(log_mass + np.log(tail + low), 0.0)
        return Tails(log_first, log_second)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of a count of reports on two data sets, at each ε.

        Let α = e^ε, and b the mass function of the number B of other clients that send the report. Let κ be the least
        count that is more than α times as likely on the first data set (`_event`). Then δ = b(κ − 1) (gain − loss) with
        gain = high − α low and loss = (α − 1) P(B ≥ κ)/b(κ − 1). The victim sends the report with probability high or
        low. The slack covers the cancellation in gain − loss.

        Args:
            epsilon: values of ε, in nats.

        Returns:
            Arrays of lower and upper bounds on the natural logarithm of δ.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        growth = np.expm1(np.minimum(points, 700.0))  # α − 1; the minimum keeps it finite
        least, log_mass, tail = self._event(points)
        gain = np.maximum(self._gap(growth), 0.0)
        loss = growth * tail

        # By rounding, κ may be wrong by one; b then changes by this factor at most.
        base, not_base = self.base
        mass_ratio = least / np.maximum(self.trials + 2.0 - least, 1.0) * (not_base / base)
        relative_error = 4 * RATIO_ACCURACY + 4 * self._other_reports.accuracy
        # Errors of both terms, and of their difference.
        slack = relative_error * (gain * (1.0 + mass_ratio) + loss) + 8 * UNIT_ROUNDOFF
        log_magnitude = np.abs(np.where(np.isneginf(log_mass), 0.0, log_mass))
        log_mass_error = 2.0 * self._other_reports.accuracy * (1.0 + log_magnitude)

        with np.errstate(divide="ignore"):  # the logarithm of 0 is −∞
            low = np.log(np.maximum(gain - loss - slack, 0.0)) + log_mass - log_mass_error
            high = np.log(np.maximum(gain - loss, 0.0) + slack) + log_mass + log_mass_error
        return Enclosure(low, np.minimum(high, 0.0))


def response_instance(clients: int, epsilon: float, categories: int) -> Pair:
    """Return the distributions of one count of shuffled randomized responses, for a lower bound on δ.

    One client, the victim, holds the first category or the second one. All others hold the second one. The number of
    reports of the first category is observed. For two categories the shuffled reports reveal nothing more.

    Args:
        clients: number of clients, with the victim.
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories.

    Returns:
        The pair of the count's distributions on the two data sets, with a profile for each direction.
    """
    true = 1.0 / (1.0 + (categories - 1) * math.exp(-epsilon))
    false = true * math.exp(-epsilon)
    # Probabilities that a holder of the first category, and another client, sends it, each with its complement.
    holder = (true, (categories - 1) * false)
    non_holder = (false, 1.0 - false)
    # In the other direction, the clients that do not send the first category are counted.
    mirrored_holder, mirrored_non_holder = holder[::-1], non_holder[::-1]
    forward = CountProfile(clients - 1, base=non_holder, high=holder, low=non_holder)
    backward = CountProfile(clients - 1, base=mirrored_non_holder, high=mirrored_non_holder, low=mirrored_holder)
    return Pair(forward, backward)

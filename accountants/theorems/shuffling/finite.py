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
    """List the probabilities that determine the privacy blanket bound of a randomizer, for every two inputs.

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
    """List the probabilities that determine the privacy blanket bound of k-ary randomized response.

    A report is true with probability e^{ε₀}/(e^{ε₀} + k − 1), and each other category has the probability
    1/(e^{ε₀} + k − 1). One pair of inputs is enough, because all pairs have the same δ. All categories that are not in
    the pair are combined to one outcome.

    Args:
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories, at least 2.

    Returns:
        One pair of inputs, with a triple for each outcome: the least probability over all inputs, and the probabilities
        under the first and the second input of the pair.
    """
    false_probability = math.exp(-epsilon) / (1.0 + (categories - 1) * math.exp(-epsilon))
    true_probability = math.exp(epsilon) * false_probability
    first_category = (false_probability, true_probability, false_probability)
    second_category = (false_probability, false_probability, true_probability)
    if categories == 2:
        return ((first_category, second_category),)
    remaining = (categories - 2) * false_probability
    further_categories = (remaining, remaining, remaining)
    return ((first_category, second_category, further_categories),)


@dataclass(frozen=True)
class FiniteBlanketBound(ScaledBound):
    """The bound on δ of shuffled reports by the privacy blanket, the largest one over several pairs of inputs.

    The blanket is the part of a report's distribution that is the same for all inputs. Outcome i has the weight w_i in
    it, and the probabilities p_i and q_i under the two inputs. For n clients and α = e^ε:

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
        """Enclose the log of the privacy blanket bound on δ(ε), the largest one over all pairs of inputs of a report.

        The bound is (1/n) E[(Y₁ + … + Y_n)₊] with one term Y for each of the n reports (see the class).

        Args:
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on the natural logarithm; −∞ if ε is at least the largest privacy loss.
        """
        if epsilon >= self.largest_loss:
            return Interval(-math.inf, -math.inf)
        bounds = [self._bound_pair(table, epsilon) for table in self._tables]
        lower = max(interval.lower for interval in bounds)
        upper = max(interval.upper for interval in bounds)
        return Interval(lower, upper)

    def _bound_pair(self, table: FloatArray, epsilon: float) -> Interval:
        """Enclose log δ(ε) of the privacy blanket bound for two given inputs.

        The privacy blanket is the part of a report's distribution that does not depend on the input. Outcomes that have
        a weight in it are hidden among the reports of others. The lower bound leaves out the other outcomes.

        Args:
            table: three rows with an entry for each outcome i: its weight w_i in the blanket, and its probabilities p_i
                and q_i under the two inputs.
            epsilon: privacy loss ε ≥ 0, in nats.

        Returns:
            A lower and an upper bound on log δ, rounded outward and at most 0.
        """
        alpha = math.exp(min(epsilon, 700.0))  # the minimum keeps e^ε finite
        log_clients = math.log(self.clients)
        is_hidden = table[0] > _LEAST_WEIGHT

        # Hidden outcomes add the expected positive part of a sum, divided by the number of clients, to δ.
        hidden_sum = self._log_positive_sum(table[:, is_hidden], alpha)
        lower = hidden_sum.lower - log_clients - _LOG_ACCURACY
        hidden_upper = hidden_sum.upper - log_clients

        # The other outcomes add Σ (p_i − α q_i)₊ to δ.
        _, first, second = table[:, ~is_hidden]
        exposed_delta = float(np.maximum(first - alpha * second, 0.0).sum())
        log_exposed_delta = -math.inf
        if exposed_delta > 0.0:
            log_exposed_delta = math.log(exposed_delta) + _LOG_ACCURACY

        upper = min(float(np.logaddexp(hidden_upper, log_exposed_delta)) + _LOG_ACCURACY, 0.0)
        return Interval(min(lower, upper), upper)

    def _log_positive_sum(self, table: FloatArray, alpha: float) -> LogInterval:
        """Enclose log E[(Y₁ + … + Y_n)₊], the log of the expected positive part of a sum of n independent terms.

        Each term Y is (p_i − α q_i)/w_i with probability w_i, and otherwise 0. The expectation divided by n is δ.

        Args:
            table: three rows with w_i > 0, p_i and q_i of each outcome i; see `_bound_pair`.
            alpha: factor α = e^ε ≥ 1.

        Returns:
            A lower and an upper bound on the natural logarithm.
        """
        weight, first, second = table
        atoms = WeightedPoints(
            points=(first - alpha * second) / weight,
            weights=weight,
            point_errors=8 * UNIT_ROUNDOFF * (first + alpha * second) / weight,
            weight_errors=8 * UNIT_ROUNDOFF * weight,
        )
        return CompoundSum(StepLaw(atoms), self.clients).log_positive_part()


class _CountEvent(NamedTuple):
    """The event, at each ε, that a count is more than e^ε times as probable on one data set as on a neighbouring one.

    The count is the number of clients that send a certain report. The event is that the count is at least κ. Of the
    clients with equal data on both data sets, B ~ Bin(trials, base) send the report, with the mass function b.

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
    """The privacy profile of the number of clients that send a certain report, for two neighbouring data sets.

    One client, the victim, has different data on them. It sends the report with probability `high` on the first data
    set, and with `low` < `high` on the second. Of the other clients, B ~ Bin(trials, base) send it, with the mass
    function b. Let κ be the least count that is more than α = e^ε times as probable on the first data set. Then:

        δ(ε) = (high − α low) b(κ − 1) − (α − 1) P(B ≥ κ).

    Attributes:
        trials: number of other clients.
        base: probability that another client sends the report, and its complement.
        high: probability that the victim sends it on the first data set, and its complement.
        low: probability that the victim sends it on the second data set, and its complement.
        log_infinite_mass: log of the probability of an infinite loss, −∞ because no loss is infinite.
    """

    trials: int
    base: tuple[float, float]
    high: tuple[float, float]
    low: tuple[float, float]
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Bound on the error of each log tail, from a mass, a tail ratio, and their sum."""
        return 2.0 * self._other_reports.accuracy + 4 * RATIO_ACCURACY

    @cached_property
    def _other_reports(self) -> Binomial:
        """Distribution of B."""
        return Binomial(np.asarray(float(self.trials)), *self.base)

    def _find_event(self, epsilon: FloatArray) -> _CountEvent:
        """Find the event that determines δ(ε): at least κ clients send a certain report.

        κ is the least number that is more than e^ε times as probable on the first data set as on the second.

        Args:
            epsilon: values of ε, in nats.

        Returns:
            κ, log b(κ − 1) and P(B ≥ κ)/b(κ − 1) at each ε. B is the number of clients without the victim that send the
            report, and b its mass function.
        """
        alpha_excess = np.expm1(np.minimum(epsilon, 700.0))  # α − 1; the minimum keeps it finite
        base, not_base = self.base  # probabilities that another client sends the report, and that it does not
        has_event = self._gap(alpha_excess) > 0.0

        # If there is no such κ, it is set to a number that is larger than every count.
        clients = self.trials + 1.0
        largest_not_sent = np.ceil(clients / (1.0 + self._count_odds(alpha_excess))) - 1.0
        not_sent = np.maximum(largest_not_sent, 0.0)
        least = np.where(has_event, clients - not_sent, clients + 1.0)

        possible_count = np.minimum(least, clients)
        log_mass = np.where(has_event, self._other_reports.log_mass(possible_count - 1.0), -np.inf)
        # P(B ≥ κ)/b(κ − 1) = P(B ≥ κ)/b(κ) · b(κ)/b(κ − 1)
        ratio_to_own_mass = self._other_reports.tail_ratio(np.minimum(possible_count, self.trials))
        tail = ratio_to_own_mass * not_sent * base / (possible_count * not_base)
        return _CountEvent(least, log_mass, np.where(has_event, tail, 0.0))

    def _gap(self, alpha_excess: FloatArray) -> FloatArray:
        """Compute high − α low without cancellation, for the probabilities that the victim sends the report.

        They are `high` on the first data set and `low` on the second, and α is e^ε. The difference is positive if some
        count of reports is more than α times as probable on the first data set.

        Args:
            alpha_excess: array of α − 1 = e^ε − 1, one for each ε.
        """
        high, low = self.high[0], self.low[0]
        return high - low - alpha_excess * low

    def _count_odds(self, alpha_excess: FloatArray) -> FloatArray:
        """Return the odds above which a count is more than α = e^ε times as probable on the first data set.

        The odds of a count k are k/(trials + 1 − k). The threshold is:

            (α (1 − low) − (1 − high))/(high − α low) · base/(1 − base).

        Args:
            alpha_excess: array of α − 1 = e^ε − 1, one for each ε.

        Returns:
            The threshold at each ε; infinite if no count is more than α times as probable.
        """
        gap = self._gap(alpha_excess)
        has_event = gap > 0.0
        not_high, not_low = self.high[1], self.low[1]
        complement_gap = (not_low - not_high) + alpha_excess * not_low  # α (1 − low) − (1 − high)
        base, not_base = self.base
        divisor = np.where(has_event, gap, 1.0)
        with np.errstate(over="ignore"):  # if the odds overflow, only the largest count exceeds them
            odds = complement_gap / divisor * (base / not_base)
        return np.where(has_event, odds, np.inf)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Compute the log probabilities of a privacy loss above ε, on the first data set and on the second.

        The loss of a count is the log ratio of its probabilities on both data sets. It exceeds ε if the count is at
        least κ (`_find_event`). Let B be the number of other clients that send the report, and b its mass function. The
        probabilities are P(B ≥ κ) + high b(κ − 1), and the same with `low`.

        Args:
            epsilon: array of values of ε, in nats.

        Returns:
            Two arrays of natural logarithms, one entry for each ε.
        """
        _, log_mass, tail = self._find_event(np.asarray(epsilon, dtype=np.float64))
        high, low = self.high[0], self.low[0]
        log_first = np.minimum(log_mass + np.log(tail + high), 0.0)
        log_second = np.minimum(log_mass + np.log(tail + low), 0.0)
        return Tails(log_first, log_second)

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ(ε) of a count of reports on two data sets, at each ε.

        With α = e^ε, the count κ of `_find_event`, and the mass function b of the number B of other clients that send
        the report:

            δ = b(κ − 1) (gain − loss),   gain = high − α low,   loss = (α − 1) P(B ≥ κ)/b(κ − 1).

        Args:
            epsilon: values of ε, in nats.

        Returns:
            Arrays of lower and upper bounds on the natural logarithm of δ.
        """
        points = np.asarray(epsilon, dtype=np.float64)
        alpha_excess = np.expm1(np.minimum(points, 700.0))  # α − 1; the minimum keeps it finite
        least, log_mass, tail = self._find_event(points)
        gain = np.maximum(self._gap(alpha_excess), 0.0)
        loss = alpha_excess * tail

        # Rounding may make κ wrong by one, which changes b by this factor at most.
        base, not_base = self.base
        mass_ratio = least / np.maximum(self.trials + 2.0 - least, 1.0) * (not_base / base)
        relative_error = 4 * RATIO_ACCURACY + 4 * self._other_reports.accuracy
        # The slack covers the errors of both terms, which may cancel in their difference.
        slack = relative_error * (gain * (1.0 + mass_ratio) + loss) + 8 * UNIT_ROUNDOFF
        log_magnitude = np.abs(np.where(np.isneginf(log_mass), 0.0, log_mass))
        log_mass_error = 2.0 * self._other_reports.accuracy * (1.0 + log_magnitude)

        with np.errstate(divide="ignore"):  # the logarithm of 0 is −∞
            low = np.log(np.maximum(gain - loss - slack, 0.0)) + log_mass - log_mass_error
            high = np.log(np.maximum(gain - loss, 0.0) + slack) + log_mass + log_mass_error
        return Enclosure(low, np.minimum(high, 0.0))


def response_instance(clients: int, epsilon: float, categories: int) -> Pair:
    """Return the distributions of one count of shuffled randomized responses, for a lower bound on δ.

    One client, the victim, has the first category or the second one. All others have the second one. The number of
    reports of the first category is observed. For two categories the shuffled reports reveal nothing more.

    Args:
        clients: number of clients, with the victim.
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories.

    Returns:
        The pair of the count's distributions on the two data sets, with a profile for each direction.
    """
    true_probability = 1.0 / (1.0 + (categories - 1) * math.exp(-epsilon))
    false_probability = true_probability * math.exp(-epsilon)
    # Probabilities that a client with the first category, and one with the second, report the first category. Each
    # has its complement.
    holder = (true_probability, (categories - 1) * false_probability)
    non_holder = (false_probability, 1.0 - false_probability)
    # In the reverse direction, the reports of other categories are counted.
    mirrored_holder, mirrored_non_holder = holder[::-1], non_holder[::-1]
    forward = CountProfile(clients - 1, base=non_holder, high=holder, low=non_holder)
    backward = CountProfile(clients - 1, base=mirrored_non_holder, high=mirrored_non_holder, low=mirrored_holder)
    return Pair(forward, backward)

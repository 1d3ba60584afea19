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
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Enclosure, Interval, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.numerics.binomial_law import RATIO_ACCURACY, Binomial
from epsilond.accountants.numerics.compound_sum import CompoundSum, StepLaw, WeightedPlaces
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.shuffling.tails import ScaledBound

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

Outcomes = tuple[tuple[float, float, float], ...]
"""Weight of each outcome in the blanket, and its probabilities on either input, for one pair of inputs."""

_CHARGE_ACCURACY = 16 * UNIT_ROUNDOFF
"""Relative rounding of the charge for outcomes without weight."""
_LEAST_WEIGHT = 1e-290
"""Weight below which an outcome counts as not hidden: a smaller blanket is valid, and the charge is negligible."""


def blanket_outcomes(rows: Sequence[Sequence[float]]) -> tuple[Outcomes, ...]:
    """Return the outcomes of every ordered pair of inputs of a randomizer.

    Args:
        rows: probabilities of the outcomes, one row per input.

    Returns:
        For each pair, a triple for each outcome: its least probability over all inputs (the privacy blanket), and its
        probabilities under the two inputs.
    """
    common = [min(column) for column in zip(*rows, strict=True)]
    return tuple(tuple(zip(common, p, q, strict=True)) for p, q in itertools.permutations(rows, 2))


def response_outcomes(epsilon: float, categories: int) -> tuple[Outcomes, ...]:
    """Return the outcomes of one pair of k-ary randomized response, with all other categories as one outcome."""
    false = math.exp(-epsilon) / (1.0 + (categories - 1) * math.exp(-epsilon))
    true, remaining = math.exp(epsilon) * false, (categories - 2) * false
    outcomes = [(false, true, false), (false, false, true)]
    if categories > 2:
        outcomes.append((remaining, remaining, remaining))
    return (tuple(outcomes),)


@dataclass(frozen=True)
class FiniteBlanketBound(ScaledBound):
    """The bound by the privacy blanket: the largest one over several pairs of inputs.

    The blanket is the part of a report's distribution that is the same for all inputs.
    Guarantees: the upper bound is at least the exact one, and exceeds it by one part in ten thousand of ε. The lower
    bound is at most the exact one. The cost does not depend on the number of clients.
    """

    clients: int
    pairs: tuple[Outcomes, ...]

    @cached_property
    def _tables(self) -> tuple[FloatArray, ...]:
        """Weights and probabilities of each pair, as arrays."""
        return tuple(np.asarray(pair, dtype=np.float64).T for pair in self.pairs)

    @cached_property
    def _largest(self) -> float:
        """Largest loss over all pairs, rounded up."""
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = [float(np.where(p > 0.0, np.log(p) - np.log(q), -np.inf).max()) for _, p, q in self._tables]
        return max(losses) * (1.0 + 16 * UNIT_ROUNDOFF)

    @property
    def largest_loss(self) -> float:
        """Largest log ratio of two inputs' probabilities of one outcome."""
        return self._largest

    def log_bound(self, epsilon: float) -> Interval:
        """Return the largest lower and the largest upper bound over all pairs."""
        if epsilon >= self._largest:
            return Interval(-math.inf, -math.inf)
        lower, upper = zip(*(self._bound_pair(table, epsilon) for table in self._tables), strict=True)
        return Interval(max(lower), max(upper))

    def _bound_pair(self, table: FloatArray, epsilon: float) -> tuple[float, float]:
        """Return lower and upper bounds on log δ(ε) for one pair of inputs.

        Args:
            table: blanket weight, and probabilities under both inputs, of each outcome.
            epsilon: ε, in nats.
        """
        common, p, q = table
        gain = p - math.exp(min(epsilon, 700.0)) * q
        size = p + math.exp(min(epsilon, 700.0)) * q
        hidden = common > _LEAST_WEIGHT
        places = gain[hidden] / common[hidden]
        errors = 8 * UNIT_ROUNDOFF * size[hidden] / common[hidden]
        atoms = WeightedPlaces(places, common[hidden], errors, 8 * UNIT_ROUNDOFF * common[hidden])
        mean = CompoundSum(StepLaw(atoms), self.clients).log_positive_part()
        exposed = float(np.maximum(gain[~hidden], 0.0).sum())
        charge = math.log(exposed) + _CHARGE_ACCURACY if exposed > 0.0 else -math.inf
        shift = math.log(self.clients)
        upper = min(float(np.logaddexp(mean.upper - shift, charge)) + _CHARGE_ACCURACY, 0.0)
        return min(mean.lower - shift - _CHARGE_ACCURACY, upper), upper


@dataclass(frozen=True)
class CountProfile(Profile):
    """The profile of the number of clients that send one report: B, plus 1 if the victim sends it.

    B ~ Bin(trials, `base`) counts the other clients. The victim sends the report with probability `high` in the first
    world and `low` < `high` in the second, which differ in its data. Each probability comes with its complement. Let κ
    be the least count that is more than e^ε times as likely in the first world. Then

        δ(ε) = (high − α low) b(κ − 1) − (α − 1) P(B ≥ κ),   b the mass function of B,   α = e^ε.
    """

    trials: int
    base: tuple[float, float]
    high: tuple[float, float]
    low: tuple[float, float]
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Error of each log tail: of a mass, of a tail ratio, and of their sum."""
        return 2.0 * self._law.accuracy + 4 * RATIO_ACCURACY

    @cached_property
    def _law(self) -> Binomial:
        """Distribution of B."""
        return Binomial(np.asarray(float(self.trials)), *self.base)

    def _event(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return κ, log b(κ − 1), and P(B ≥ κ)/b(κ − 1) at each ε.

        If no count is likely enough in the first world, κ exceeds every count.
        """
        growth = np.expm1(np.minimum(epsilon, 700.0))
        (high, not_high), (low, not_low) = self.high, self.low
        gap = high - low - growth * low
        needed = (not_low - not_high) + growth * not_low
        # A count k favours the first world if and only if k (1 − base) gap > (trials + 1 − k) base · needed.
        with np.errstate(over="ignore"):  # if the ratio overflows, only the largest count favours it
            ratio = np.where(gap > 0.0, needed / np.where(gap > 0.0, gap, 1.0) * (self.base[0] / self.base[1]), np.inf)
        size = self.trials + 1.0
        rest = np.maximum(np.ceil(size / (1.0 + ratio)) - 1.0, 0.0)
        least = np.where(gap > 0.0, size - rest, size + 1.0)
        inside = np.minimum(least, size)
        log_mass = np.where(gap > 0.0, self._law.log_mass(inside - 1.0), -np.inf)
        tail = self._law.tail_ratio(np.minimum(inside, self.trials)) * rest * self.base[0] / (inside * self.base[1])
        return least, log_mass, np.where(gap > 0.0, tail, 0.0)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """Return the logs of P(B ≥ κ) + high b(κ − 1), and of the same sum with low."""
        _, log_mass, tail = self._event(np.asarray(epsilon, dtype=np.float64))
        return Tails(
            np.minimum(log_mass + np.log(tail + self.high[0]), 0.0),
            np.minimum(log_mass + np.log(tail + self.low[0]), 0.0),
        )

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """Enclose log δ, with the cancellation of the difference charged."""
        at = np.asarray(epsilon, dtype=np.float64)
        growth = np.expm1(np.minimum(at, 700.0))
        least, log_mass, tail = self._event(at)
        first, second = np.maximum(self.high[0] - self.low[0] - growth * self.low[0], 0.0), growth * tail
        step = least / np.maximum(self.trials + 2.0 - least, 1.0) * (self.base[1] / self.base[0])
        slack = (4 * RATIO_ACCURACY + 4 * self._law.accuracy) * (first * (1.0 + step) + second) + 8 * UNIT_ROUNDOFF
        error = 2.0 * self._law.accuracy * (1.0 + np.abs(np.where(np.isneginf(log_mass), 0.0, log_mass)))
        with np.errstate(divide="ignore"):
            low = np.log(np.maximum(first - second - slack, 0.0)) + log_mass - error
            high = np.log(np.maximum(first - second, 0.0) + slack) + log_mass + error
        return Enclosure(low, np.minimum(high, 0.0))


def response_instance(clients: int, epsilon: float, categories: int) -> Pair:
    """Return the pair that the number of reports of one category attains, for a lower bound on δ.

    One client, the victim, holds the first category or the second one. All others hold the second one. The number of
    reports of the first category is observed. For two categories the shuffled reports reveal nothing more.

    Args:
        clients: number of clients, with the victim.
        epsilon: ε₀ of one report, in nats.
        categories: number k of categories.
    """
    true = 1.0 / (1.0 + (categories - 1) * math.exp(-epsilon))
    false = true * math.exp(-epsilon)
    report_true, report_false = (true, (categories - 1) * false), (false, 1.0 - false)
    forward = CountProfile(clients - 1, report_false, report_true, report_false)
    mirrored = CountProfile(clients - 1, report_false[::-1], report_false[::-1], report_true[::-1])
    return Pair(forward, mirrored)

"""Shuffled reports out of a finite set: the blanket over all pairs of inputs, and counts of one report as instances.

The blanket of a randomizer with outcome laws R_x is min_x R_x, pointwise; outcome i weighs w_i in it. For inputs x and
x' the variable is Y = (R_x(i) − α R_x'(i))/w_i with probability w_i, and 0 with what is left; an outcome of no weight
hides nothing and is charged whole. For k-ary randomized response all pairs are alike, and three outcomes tell it all.
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
"""Of one pair of inputs: each outcome's weight in the blanket, and its probabilities on either input."""

_CHARGE_ACCURACY = 16 * UNIT_ROUNDOFF
_LEAST_WEIGHT = 1e-290
"""A blanket may be taken smaller than it is: an outcome that weighs less in it is charged whole, at no cost."""


def blanket_outcomes(rows: Sequence[Sequence[float]]) -> tuple[Outcomes, ...]:
    """The outcomes of every ordered pair of inputs of a randomizer, given as one row of probabilities an input."""
    common = [min(column) for column in zip(*rows, strict=True)]
    return tuple(tuple(zip(common, p, q, strict=True)) for p, q in itertools.permutations(rows, 2))


def response_outcomes(epsilon: float, categories: int) -> tuple[Outcomes, ...]:
    """The one pair of k-ary randomized response, all other categories counted as one outcome."""
    kept = math.exp(-epsilon) / (1.0 + (categories - 1) * math.exp(-epsilon))
    true, others = math.exp(epsilon) * kept, (categories - 2) * kept
    told = ((kept, true, kept), (kept, kept, true))
    return ((*told, (others, others, others)) if categories > 2 else told,)


@dataclass(frozen=True)
class FiniteBlanketBound(ScaledBound):
    """The largest of the pairs' blanket bounds.

    Guarantees: the upper end is at least that bound, and a part in ten thousand of ε above it; the lower end at most.
    The same cost for any number of clients.
    """

    clients: int
    pairs: tuple[Outcomes, ...]

    @cached_property
    def _tables(self) -> tuple[FloatArray, ...]:
        return tuple(np.asarray(pair, dtype=np.float64).T for pair in self.pairs)

    @cached_property
    def _largest(self) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            losses = [float(np.where(p > 0.0, np.log(p) - np.log(q), -np.inf).max()) for _, p, q in self._tables]
        return max(losses) * (1.0 + 16 * UNIT_ROUNDOFF)

    @property
    def largest_loss(self) -> float:
        """The largest log-ratio of two inputs' probabilities of one outcome."""
        return self._largest

    def log_bound(self, epsilon: float) -> Interval:
        """The largest of each end."""
        if epsilon >= self._largest:
            return Interval(-math.inf, -math.inf)
        lower, upper = zip(*(self._one(table, epsilon) for table in self._tables), strict=True)
        return Interval(max(lower), max(upper))

    def _one(self, table: FloatArray, epsilon: float) -> tuple[float, float]:
        common, p, q = table
        gain = p - math.exp(min(epsilon, 700.0)) * q
        size = p + math.exp(min(epsilon, 700.0)) * q
        hidden = common > _LEAST_WEIGHT
        places = gain[hidden] / common[hidden]
        errors = 8 * UNIT_ROUNDOFF * size[hidden] / common[hidden]
        atoms = WeightedPlaces(places, common[hidden], errors, 8 * UNIT_ROUNDOFF * common[hidden])
        found = CompoundSum(StepLaw(atoms), self.clients).log_positive_part()
        told = float(np.maximum(gain[~hidden], 0.0).sum())
        charge = math.log(told) + _CHARGE_ACCURACY if told > 0.0 else -math.inf
        shift = math.log(self.clients)
        upper = min(float(np.logaddexp(found.upper - shift, charge)) + _CHARGE_ACCURACY, 0.0)
        return min(found.lower - shift - _CHARGE_ACCURACY, upper), upper


@dataclass(frozen=True)
class CountProfile(Profile):
    """How often one report occurs: B + [the victim sends it], B ~ Bin(others, `base`), by an exact sum.

    The victim sends it with probability `high` in the first world and `low` < `high` in the second; each probability
    comes with its complement. With κ the least count that favours the first world,

        δ(ε) = (high − α low) b(κ − 1) − (α − 1) P(B ≥ κ),   b the mass of B,   α = e^ε.
    """

    others: int
    base: tuple[float, float]
    high: tuple[float, float]
    low: tuple[float, float]
    log_infinite_mass: float = -math.inf

    @property
    def tail_accuracy(self) -> float:
        """Of a mass, a tail ratio and their sum."""
        return 2.0 * self._law.accuracy + 4 * RATIO_ACCURACY

    @cached_property
    def _law(self) -> Binomial:
        return Binomial(np.asarray(float(self.others)), *self.base)

    def _event(self, epsilon: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """κ (more than every count where no count favours the first world), log b(κ − 1), and P(B ≥ κ)/b(κ − 1)."""
        growth = np.expm1(np.minimum(epsilon, 700.0))
        (high, not_high), (low, not_low) = self.high, self.low
        gap = high - low - growth * low
        needed = (not_low - not_high) + growth * not_low
        # k favours it iff k (1 − base) gap > (others + 1 − k) base · needed.
        with np.errstate(over="ignore"):  # a ratio past every double leaves the largest count alone
            ratio = np.where(gap > 0.0, needed / np.where(gap > 0.0, gap, 1.0) * (self.base[0] / self.base[1]), np.inf)
        size = self.others + 1.0
        rest = np.maximum(np.ceil(size / (1.0 + ratio)) - 1.0, 0.0)
        least = np.where(gap > 0.0, size - rest, size + 1.0)
        inside = np.minimum(least, size)
        log_mass = np.where(gap > 0.0, self._law.log_mass(inside - 1.0), -np.inf)
        tail = self._law.tail_ratio(np.minimum(inside, self.others)) * rest * self.base[0] / (inside * self.base[1])
        return least, log_mass, np.where(gap > 0.0, tail, 0.0)

    def log_tails(self, epsilon: FloatArray) -> Tails:
        """P(B ≥ κ) + high b(κ − 1), and the same with low."""
        _, log_mass, tail = self._event(np.asarray(epsilon, dtype=np.float64))
        return Tails(
            np.minimum(log_mass + np.log(tail + self.high[0]), 0.0),
            np.minimum(log_mass + np.log(tail + self.low[0]), 0.0),
        )

    def log_delta(self, epsilon: FloatArray) -> Enclosure:
        """The difference, widened by the cancellation it suffers."""
        at = np.asarray(epsilon, dtype=np.float64)
        growth = np.expm1(np.minimum(at, 700.0))
        least, log_mass, tail = self._event(at)
        first, second = np.maximum(self.high[0] - self.low[0] - growth * self.low[0], 0.0), growth * tail
        step = least / np.maximum(self.others + 2.0 - least, 1.0) * (self.base[1] / self.base[0])
        slack = (4 * RATIO_ACCURACY + 4 * self._law.accuracy) * (first * (1.0 + step) + second) + 8 * UNIT_ROUNDOFF
        error = 2.0 * self._law.accuracy * (1.0 + np.abs(np.where(np.isneginf(log_mass), 0.0, log_mass)))
        with np.errstate(divide="ignore"):
            low = np.log(np.maximum(first - second - slack, 0.0)) + log_mass - error
            high = np.log(np.maximum(first - second, 0.0) + slack) + log_mass + error
        return Enclosure(low, np.minimum(high, 0.0))


def response_instance(clients: int, epsilon: float, categories: int) -> Pair:
    """Counting the reports of the victim's category when every other client holds the one it changes to.

    For two categories this is all that the shuffled reports tell.
    """
    told = 1.0 / (1.0 + (categories - 1) * math.exp(-epsilon))
    other = told * math.exp(-epsilon)
    not_told = (categories - 1) * other
    true, false = (told, not_told), (other, 1.0 - other)
    forward = CountProfile(clients - 1, false, true, false)
    mirrored = CountProfile(clients - 1, false[::-1], false[::-1], true[::-1])
    return Pair(forward, mirrored)

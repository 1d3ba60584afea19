"""From two samples of a statistic to lower bounds on ε, δ and μ: thresholds from one half, confidence from the other.

A test says "first" above a threshold, or below it; its true positives are counted on one data set and its false ones
on the other, either way round. Every (ε, δ) mechanism has TPR ≤ e^ε FPR + δ for all of these. The first half of each
sample picks the test, and never sees the second, so that the bound has its confidence whatever was picked.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri

from epsilond.accountants.numerics.root_search import brent_root
from epsilond.simulators.audits.rates import lower_rate, upper_rate
from epsilond.simulators.audits.worlds import Floats

RANKS = 200
"""Thresholds tried from each end of each sample."""
CHOOSING_ERROR = 1e-5
"""Of either rate where tests compete. More than a thousand do: at the error of the bound itself, one that was merely
lucky far out in a tail would win, and prove nothing on the other half."""
LEAST_ESCAPE = 1e-300


@dataclass(frozen=True)
class CountedTest:
    """A test and the counts that it had on the second halves."""

    threshold: float
    above: bool
    """It says yes at the threshold and above; else at the threshold and below."""
    first_is_positive: bool
    """True positives are counted on the first data set, false ones on the second; else the other way round."""
    true_positives: int
    false_positives: int
    trials: int
    """Of each."""


@dataclass(frozen=True)
class SplitStatistics:
    """The statistics of both worlds, split: sorted halves to choose by and to count on."""

    choose: tuple[Floats, Floats]
    count: tuple[Floats, Floats]

    @classmethod
    def of(cls, first: Floats, second: Floats) -> SplitStatistics:
        """The first half of either sample chooses."""
        middle = first.size // 2
        return cls(
            (np.sort(first[:middle]), np.sort(second[:middle])), (np.sort(first[middle:]), np.sort(second[middle:]))
        )

    @property
    def trials(self) -> int:
        """Of each world, counted."""
        return self.count[0].size


Score = Callable[[Floats, Floats], Floats]
"""From a lower bound on the true and an upper one on the false positive rate to what is bounded below."""


@dataclass(frozen=True)
class AttackBound:
    """A lower bound and the test that gave it."""

    value: float
    rule: CountedTest


def best(halves: SplitStatistics, score: Score, error: float) -> AttackBound:
    """The score of the test that scores best on the first halves, on the second halves, wrong with probability `error`.

    Half of the error goes to each of the two rates. Among the first halves tests compete at `CHOOSING_ERROR`.
    """
    choosing = min(error / 2, CHOOSING_ERROR)
    chosen: tuple[float, float, bool, bool] | None = None
    thresholds = _thresholds(halves.choose)
    trials = halves.choose[0].size
    for above in (True, False):
        counts = [_hits(sample, thresholds, above=above) for sample in halves.choose]
        for first_is_positive in (True, False):
            positives, negatives = counts if first_is_positive else counts[::-1]
            scores = score(lower_rate(positives, trials, choosing), upper_rate(negatives, trials, choosing))
            place = int(np.argmax(scores))
            if chosen is None or scores[place] > chosen[0]:
                chosen = (float(scores[place]), float(thresholds[place]), above, first_is_positive)
    assert chosen is not None
    _, threshold, above, first_is_positive = chosen
    hits = [int(_hits(sample, np.asarray([threshold]), above=above)[0]) for sample in halves.count]
    true, false = hits if first_is_positive else hits[::-1]
    rule = CountedTest(threshold, above, first_is_positive, true, false, halves.trials)
    value = score(lower_rate([true], halves.trials, error / 2), upper_rate([false], halves.trials, error / 2))
    return AttackBound(float(value[0]), rule)


def epsilon_score(delta: float) -> Score:
    """log((TPR − δ)/FPR), 0 where that is negative or nothing is left."""

    def score(true: Floats, false: Floats) -> Floats:
        left = np.maximum(true - delta, 0.0)
        found = np.log(np.maximum(left, LEAST_ESCAPE)) - np.log(false)
        return np.asarray(np.where(left > 0, np.maximum(found, 0.0), 0.0))

    return score


def delta_score(epsilon: float) -> Score:
    """TPR − e^ε FPR, 0 where that is negative. A bound on δ at ε."""
    weight = math.exp(min(epsilon, 700.0))
    return lambda true, false: np.asarray(np.maximum(true - weight * false, 0.0))


def mu_score(true: Floats, false: Floats) -> Floats:
    """Φ⁻¹(TPR) − Φ⁻¹(FPR), 0 where that is negative: no test of a μ-GDP mechanism has more than μ."""
    return np.asarray(np.maximum(_quantile(true) - _quantile(false), 0.0))


def _quantile(rate: Floats) -> Floats:
    """Φ⁻¹, far out at 0 and 1 rather than infinite."""
    return np.asarray(np.clip(ndtri(rate), -1e3, 1e3))


def gaussian_epsilon(mu: float, log_delta: float) -> float:
    """ε at δ of a Gaussian mechanism with μ = sensitivity/σ: the root of Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ; or 0."""
    if mu <= 0.0:
        return 0.0

    def excess(epsilon: float) -> float:
        high = float(log_ndtr(mu / 2 - epsilon / mu))
        low = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
        return (high + math.log(-math.expm1(min(low - high, -1e-300)))) - log_delta

    if excess(0.0) <= 0.0:
        return 0.0
    top = mu * (mu / 2 + math.sqrt(max(-2 * log_delta, 0.0)) + 1.0)
    return brent_root(excess, 0.0, top, absolute=1e-12, relative=1e-12)


def escape_probability(halves: SplitStatistics, error: float) -> float:
    """Lower bound on the probability of an output that is impossible on the other data set, whichever has more.

    Impossible by the support of the law that was drawn from, which the attacker knows.
    """
    return _most_escaping(halves.count, error)


def escape_promises(halves: SplitStatistics, delta: float, error: float) -> bool:
    """Whether the first halves suggest that impossible outputs alone have more than δ, so that no ε holds."""
    return _most_escaping(halves.choose, error) > delta


def _most_escaping(samples: tuple[Floats, Floats], error: float) -> float:
    return max(float(lower_rate([int(np.isinf(one).sum())], one.size, error / 2)[0]) for one in samples)


def roc(first: Floats, second: Floats, points: int = 120) -> list[tuple[float, float]]:
    """(false, true) positive rates of "at the threshold and above" over all samples, from (0, 0) to (1, 1)."""
    ordered = np.sort(second), np.sort(first)
    thresholds = np.unique(np.concatenate([_ranked(ordered[0], points), _ranked(ordered[1], points)]))[::-1]
    false, true = (_hits(sample, thresholds, above=True) / sample.size for sample in ordered)
    return [(0.0, 0.0), *zip(false.tolist(), true.tolist(), strict=True), (1.0, 1.0)]


def _ranked(ordered: Floats, count: int) -> Floats:
    """Values at ranks that grow geometrically from both ends."""
    ranks = np.unique(np.geomspace(1, ordered.size, count).astype(np.int64)) - 1
    return np.concatenate([ordered[ranks], ordered[ordered.size - 1 - ranks]])


def _thresholds(samples: tuple[Floats, Floats]) -> Floats:
    return np.unique(np.concatenate([_ranked(sample, RANKS) for sample in samples]))


def _hits(ordered: Floats, thresholds: Floats, *, above: bool) -> Floats:
    """How many of a sorted sample a test says yes to."""
    if above:
        return np.asarray(ordered.size - np.searchsorted(ordered, thresholds, side="left"))
    return np.asarray(np.searchsorted(ordered, thresholds, side="right"))

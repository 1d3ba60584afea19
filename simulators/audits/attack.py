"""Lower bounds on ε, δ and μ from two samples of a statistic.

A test answers "first" above a threshold, or below it. Its true positives are counted on one data set and its false
positives on the other, in both directions. Every (ε, δ) mechanism has TPR ≤ e^ε FPR + δ for all of these tests. The
first half of each sample selects the test, and the second half gives the confidence bounds. These halves are
independent, so that the confidence does not depend on the selection.
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
"""Number of thresholds tried from each extreme of each sample."""
CHOOSING_ERROR = 1e-5
"""Error probability of each rate during the selection among more than a thousand tests. At the error of the bound
itself, the selection would favour tests that are lucky in the far tail and prove nothing on the second half.
"""
LEAST_ESCAPE = 1e-300
"""Floor under the logarithm's argument, so that log 0 is never evaluated."""


@dataclass(frozen=True)
class CountedTest:
    """A test and its counts on the second halves."""

    threshold: float
    above: bool
    """True if the test is positive at the threshold and above; False if at the threshold and below."""
    first_is_positive: bool
    """True if true positives are counted on the first data set and false ones on the second; False for the reverse."""
    true_positives: int
    false_positives: int
    trials: int
    """Number of samples counted on each data set."""


@dataclass(frozen=True)
class SplitStatistics:
    """Sorted statistics on both data sets ("worlds"), in halves: one for selecting a test, and one for counting."""

    choose: tuple[Floats, Floats]
    count: tuple[Floats, Floats]

    @classmethod
    def of(cls, first: Floats, second: Floats) -> SplitStatistics:
        """Split both samples in the middle; the first halves are for selection."""
        middle = first.size // 2
        return cls(
            (np.sort(first[:middle]), np.sort(second[:middle])), (np.sort(first[middle:]), np.sort(second[middle:]))
        )

    @property
    def trials(self) -> int:
        """Number of samples of each world that are counted."""
        return self.count[0].size


Score = Callable[[Floats, Floats], Floats]
"""Function from a lower bound on the true positive rate and an upper bound on the false positive rate to a lower bound.
"""


@dataclass(frozen=True)
class AttackBound:
    """A lower bound and the test that proves it."""

    value: float
    rule: CountedTest


def best(halves: SplitStatistics, score: Score, error: float) -> AttackBound:
    """Return a lower bound on a quantity such as ε, from the test that suggests the largest bound.

    The test is selected on the first halves of both samples, and the bound is computed on the second halves. Tests
    compare the statistic with a threshold, in both directions, with either data set as the positive one.

    Args:
        halves: statistics on both data sets.
        score: function of a test's two rates that bounds the quantity.
        error: probability that the bound fails; half of it is used for each rate.

    Guarantees:
        With probability at least 1 − error, the value is a valid lower bound.
    """
    threshold, above, first_is_positive = _select_test(halves.choose, score, min(error / 2, CHOOSING_ERROR))
    hits = [int(_hits(sample, np.asarray([threshold]), above=above)[0]) for sample in halves.count]
    true, false = hits if first_is_positive else hits[::-1]
    rule = CountedTest(threshold, above, first_is_positive, true, false, halves.trials)
    value = score(lower_rate([true], halves.trials, error / 2), upper_rate([false], halves.trials, error / 2))
    return AttackBound(float(value[0]), rule)


def _select_test(samples: tuple[Floats, Floats], score: Score, error: float) -> tuple[float, bool, bool]:
    """Return the test with the largest score on two sorted samples.

    Args:
        samples: statistics on both data sets, for the selection only.
        score: function of a test's two rates.
        error: error probability of each rate.

    Returns:
        The threshold; whether the test is positive above it; and whether true positives are counted on the first data
        set.
    """
    selected: tuple[float, bool, bool] | None = None
    largest_score = -math.inf
    thresholds = _thresholds(samples)
    trials = samples[0].size
    for above in (True, False):
        counts = [_hits(sample, thresholds, above=above) for sample in samples]
        for first_is_positive in (True, False):
            positives, negatives = counts if first_is_positive else counts[::-1]
            scores = score(lower_rate(positives, trials, error), upper_rate(negatives, trials, error))
            index = int(np.argmax(scores))
            if selected is None or scores[index] > largest_score:
                selected = (float(thresholds[index]), above, first_is_positive)
                largest_score = float(scores[index])
    assert selected is not None
    return selected


def epsilon_score(delta: float) -> Score:
    """Return the score log((TPR − δ)/FPR), a lower bound on ε; 0 if it is negative or TPR ≤ δ."""

    def score(true: Floats, false: Floats) -> Floats:
        excess = np.maximum(true - delta, 0.0)
        log_ratio = np.log(np.maximum(excess, LEAST_ESCAPE)) - np.log(false)
        return np.asarray(np.where(excess > 0, np.maximum(log_ratio, 0.0), 0.0))

    return score


def delta_score(epsilon: float) -> Score:
    """Return the score TPR − e^ε FPR, a lower bound on δ at ε; 0 if it is negative."""
    weight = math.exp(min(epsilon, 700.0))
    return lambda true, false: np.asarray(np.maximum(true - weight * false, 0.0))


def mu_score(true: Floats, false: Floats) -> Floats:
    """Return Φ⁻¹(TPR) − Φ⁻¹(FPR), a lower bound on μ of a μ-GDP mechanism; 0 if it is negative."""
    return np.asarray(np.maximum(_quantile(true) - _quantile(false), 0.0))


def _quantile(rate: Floats) -> Floats:
    """Return Φ⁻¹(rate), with large finite values at 0 and 1."""
    return np.asarray(np.clip(ndtri(rate), -1e3, 1e3))


def gaussian_epsilon(mu: float, log_delta: float) -> float:
    """Return ε at δ of a Gaussian mechanism, or 0 if δ holds at ε = 0.

    ε is the root of Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ.

    Args:
        mu: sensitivity/σ.
        log_delta: log δ.
    """
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
    """Return a lower bound on the probability of an escape: an output that is impossible on the other data set.

    The attacker knows both distributions, and gives such outputs an infinite statistic. The bound is the larger of
    those for the two data sets.

    Args:
        halves: statistics on both data sets, of which the second halves are used.
        error: probability that the bound fails.
    """
    return _most_escaping(halves.count, error)


def escape_promises(halves: SplitStatistics, delta: float, error: float) -> bool:
    """Return whether the first halves of both samples suggest that escapes are more probable than δ.

    An escape is an output that is impossible on the other data set. If they are more probable than δ, no ε holds.

    Args:
        halves: statistics on both data sets, of which the first halves are used.
        delta: δ of the audit.
        error: probability that the bound on the escapes fails.
    """
    return _most_escaping(halves.choose, error) > delta


def _most_escaping(samples: tuple[Floats, Floats], error: float) -> float:
    """Return the larger of the lower bounds on the rates of infinite statistics."""
    counts = [int(np.isinf(sample).sum()) for sample in samples]
    bounds = [lower_rate([count], sample.size, error / 2)[0] for count, sample in zip(counts, samples, strict=True)]
    return float(max(bounds))


def roc(first: Floats, second: Floats, points: int = 120) -> list[tuple[float, float]]:
    """Return (false, true) positive rates of "at the threshold and above" over all samples, from (0, 0) to (1, 1).

    Args:
        first: statistics on the first data set.
        second: statistics on the second data set.
        points: thresholds from each extreme of each sample.
    """
    ordered = np.sort(second), np.sort(first)
    thresholds = np.unique(
        np.concatenate([_values_at_ranks(ordered[0], points), _values_at_ranks(ordered[1], points)])
    )[::-1]
    false, true = (_hits(sample, thresholds, above=True) / sample.size for sample in ordered)
    return [(0.0, 0.0), *zip(false.tolist(), true.tolist(), strict=True), (1.0, 1.0)]


def _values_at_ranks(ordered: Floats, count: int) -> Floats:
    """Return the values at ranks that grow geometrically from both extremes."""
    ranks = np.unique(np.geomspace(1, ordered.size, count).astype(np.int64)) - 1
    return np.concatenate([ordered[ranks], ordered[ordered.size - 1 - ranks]])


def _thresholds(samples: tuple[Floats, Floats]) -> Floats:
    """Return the thresholds to try, from both samples."""
    return np.unique(np.concatenate([_values_at_ranks(sample, RANKS) for sample in samples]))


def _hits(ordered: Floats, thresholds: Floats, *, above: bool) -> Floats:
    """Count the positive answers of a test on a sorted sample, for each threshold."""
    if above:
        return np.asarray(ordered.size - np.searchsorted(ordered, thresholds, side="left"))
    return np.asarray(np.searchsorted(ordered, thresholds, side="right"))

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
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri

from epsilond.accountants.numerics.root_search import brent_root
from epsilond.simulators.audits.rates import lower_rate, upper_rate
from epsilond.simulators.audits.worlds import Floats

RANKS = 200
"""Number of thresholds tried from each extreme of each sample."""
CHOOSING_ERROR = 1e-5
"""Error probability of each rate during the selection among more than a thousand tests.

With the error of the bound itself, the selection would favour tests that are lucky in the far tail.
"""
LEAST_EXCESS = 1e-300
"""Least argument of a logarithm, in place of 0."""


@dataclass(frozen=True)
class CountedTest:
    """A threshold test that guesses which data set an output is from, with its numbers of right and wrong answers.

    The counts are from outputs that were not used to select the test.

    Attributes:
        threshold: value with which the statistic of an output is compared.
        above: True if the test is positive at the threshold and above; False if at the threshold and below.
        first_is_positive: True if true positives are counted on the first data set and false ones on the second; False
            for the reverse.
        true_positives: number of positive answers on the positive data set.
        false_positives: number of positive answers on the other data set.
        trials: number of outputs on each data set.
    """

    threshold: float
    above: bool
    first_is_positive: bool
    true_positives: int
    false_positives: int
    trials: int


@dataclass(frozen=True)
class SplitStatistics:
    """Sorted statistics of outputs on two neighbouring data sets, half to select a test and half to count its answers.

    Attributes:
        choose: the half by which a test is selected, for the first and the second data set.
        count: the half on which its positive answers are counted, likewise.
    """

    choose: tuple[Floats, Floats]
    count: tuple[Floats, Floats]

    @classmethod
    def of(cls, first: Floats, second: Floats) -> SplitStatistics:
        """Split both samples in the middle, and sort the halves.

        Args:
            first: statistics on the first data set.
            second: statistics on the second data set, equally many.

        Returns:
            The first halves, for the selection of a test, and the second halves, for its counts.
        """
        middle = first.size // 2
        choose = (np.sort(first[:middle]), np.sort(second[:middle]))
        count = (np.sort(first[middle:]), np.sort(second[middle:]))
        return cls(choose=choose, count=count)

    @property
    def trials(self) -> int:
        """Number of outputs on each data set on which a test is counted."""
        return self.count[0].size

    def count_escapes(self) -> int:
        """Return the number of infinite statistics: outputs that are impossible on the other data set."""
        return int(np.isinf(np.concatenate([*self.choose, *self.count])).sum())


Score = Callable[[Floats, Floats], Floats]
"""Function from lower bounds on true and upper bounds on false positive rates to lower bounds on a quantity."""


@dataclass(frozen=True)
class AttackBound:
    """A lower bound on a privacy parameter such as ε, and the test of outputs that proves it.

    Attributes:
        value: the lower bound.
        rule: the test, with its counts.
    """

    value: float
    rule: CountedTest


def best(halves: SplitStatistics, score: Score, error: float) -> AttackBound:
    """Return a lower bound on a quantity such as ε, by the test that suggests the largest bound.

    The test is selected on the first halves of both samples, and the bound is computed on the second halves. Tests
    compare the statistic of an output with a threshold, in both directions. Either data set can be the positive one.

    Args:
        halves: statistics of outputs on both data sets.
        score: function of a test's true and false positive rate that bounds the quantity.
        error: probability that the bound fails; half of it is used for each rate.

    Returns:
        The lower bound, with the threshold and direction of its test and the counts of true and false positives.

    Guarantees:
        With probability at least 1 − error, the value is a valid lower bound.
    """
    selected = _select_test(halves.choose, score, min(error / 2, CHOOSING_ERROR))
    threshold = np.asarray([selected.threshold])
    positives = [int(_count_positives(sample, threshold, above=selected.above)[0]) for sample in halves.count]
    true_positives, false_positives = positives if selected.first_is_positive else positives[::-1]
    # The bounds on both rates hold together except with probability `error`.
    trials = halves.trials
    true_rate = lower_rate([true_positives], trials, error / 2)
    false_rate = upper_rate([false_positives], trials, error / 2)
    value = score(true_rate, false_rate)
    rule = CountedTest(
        threshold=selected.threshold,
        above=selected.above,
        first_is_positive=selected.first_is_positive,
        true_positives=true_positives,
        false_positives=false_positives,
        trials=trials,
    )
    return AttackBound(float(value[0]), rule)


class _SelectedTest(NamedTuple):
    """A threshold test that was selected by its score.

    Attributes:
        score: lower bound that the test suggests on the samples of the selection.
        threshold: value with which the statistic of an output is compared.
        above: True if the test is positive at the threshold and above; False if at the threshold and below.
        first_is_positive: True if the first data set is the positive one.
    """

    score: float
    threshold: float
    above: bool
    first_is_positive: bool


def _select_test(samples: tuple[Floats, Floats], score: Score, error: float) -> _SelectedTest:
    """Select the threshold test that suggests the largest lower bound, the first one if several do.

    A test is positive at the threshold and above, or at the threshold and below. Either data set can be the positive
    one.

    Args:
        samples: sorted statistics of outputs on the first and on the second data set.
        score: function from bounds on the true and the false positive rate to the lower bound.
        error: probability with which the bound on one rate may fail.

    Returns:
        The threshold, its side, the data set on which the test should be positive, and the suggested bound.
    """
    candidates = []
    thresholds = _thresholds_to_try(samples)
    trials = samples[0].size
    for above in (True, False):
        positives = [_count_positives(sample, thresholds, above=above) for sample in samples]
        for first_is_positive in (True, False):
            true_positives, false_positives = positives if first_is_positive else positives[::-1]
            true_rates = lower_rate(true_positives, trials, error)
            false_rates = upper_rate(false_positives, trials, error)
            scores = score(true_rates, false_rates)
            index = int(np.argmax(scores))
            candidates.append(_SelectedTest(float(scores[index]), float(thresholds[index]), above, first_is_positive))
    return max(candidates, key=lambda candidate: candidate.score)


def epsilon_score(delta: float) -> Score:
    """Return a function that scores tests by log((TPR − δ)/FPR), a lower bound on ε.

    A test guesses from an output which of two neighbouring data sets was used. TPR and FPR are its true and false
    positive rates. Under (ε, δ)-differential privacy, TPR ≤ e^ε FPR + δ, which gives the bound.

    Args:
        delta: δ of the guarantee, in [0, 1].

    Returns:
        A function of lower bounds on TPR and upper bounds on FPR. Negative scores, and those for TPR ≤ δ, are 0.
    """

    def score(true: Floats, false: Floats) -> Floats:
        """Return the score of tests from bounds on their true and on their false positive rates."""
        excess = np.maximum(true - delta, 0.0)
        # Entries without excess are replaced by 0 at the end.
        log_ratio = np.log(np.maximum(excess, LEAST_EXCESS)) - np.log(false)
        bounds = np.maximum(log_ratio, 0.0)
        return np.asarray(np.where(excess > 0, bounds, 0.0))

    return score


def delta_score(epsilon: float) -> Score:
    """Return a function that scores tests by TPR − e^ε FPR, a lower bound on δ at ε.

    A test guesses from an output which of two neighbouring data sets was used. TPR and FPR are its true and false
    positive rates.

    Args:
        epsilon: ε of the guarantee, in nats.

    Returns:
        A function of lower bounds on TPR and upper bounds on FPR. Negative scores are 0.
    """
    weight = math.exp(min(epsilon, 700.0))  # the exponential of 710 is not a double
    return lambda true, false: np.asarray(np.maximum(true - weight * false, 0.0))


def mu_score(true: Floats, false: Floats) -> Floats:
    """Return Φ⁻¹(TPR) − Φ⁻¹(FPR), a lower bound on the μ of a μ-Gaussian differentially private mechanism.

    Φ is the standard normal distribution function.

    Args:
        true: lower bounds on the true positive rates of tests.
        false: upper bounds on their false positive rates.

    Returns:
        The scores; 0 where they are negative.
    """
    return np.asarray(np.maximum(_normal_quantile(true) - _normal_quantile(false), 0.0))


def _normal_quantile(rate: Floats) -> Floats:
    """Return the standard normal quantile Φ⁻¹ of a rate, with large finite values in place of ±∞."""
    return np.asarray(np.clip(ndtri(rate), -1e3, 1e3))


def gaussian_epsilon(mu: float, log_delta: float) -> float:
    """Return the least ε at which a Gaussian mechanism is (ε, δ)-differentially private.

    With the standard normal distribution function Φ, ε is the root of:

        Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ) = δ,

    which Brent's method finds to within 1e-12. It is 0 if the mechanism is (0, δ)-differentially private.

    Args:
        mu: sensitivity divided by the standard deviation of the noise.
        log_delta: natural logarithm of δ.

    Returns:
        The privacy parameter ε, at least 0.
    """
    if mu <= 0.0:
        return 0.0

    def excess(epsilon: float) -> float:
        """Return log δ(ε) − log δ, with δ(ε) = e^first_term − e^second_term."""
        first_term = float(log_ndtr(mu / 2 - epsilon / mu))
        second_term = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
        # The difference of the logarithms is negative; rounding must not make it 0.
        log_ratio = min(second_term - first_term, -1e-300)
        return (first_term + math.log(-math.expm1(log_ratio))) - log_delta

    if excess(0.0) <= 0.0:
        return 0.0

    # At the upper end, δ(ε) ≤ Φ(μ/2 − ε/μ) ≤ e^(−(ε/μ − μ/2)²/2) is below δ. The summand 1 is a reserve.
    top = mu * (mu / 2 + math.sqrt(max(-2 * log_delta, 0.0)) + 1.0)
    return brent_root(excess, 0.0, top, absolute=1e-12, relative=1e-12)


def escape_probability(halves: SplitStatistics, error: float) -> float:
    """Return a lower bound on the probability of an output that is impossible on the other of two data sets.

    Such an output is called an escape. The attacker knows both distributions, and gives escapes an infinite statistic.
    The bound is for the data set for which it is larger.

    Args:
        halves: statistics of outputs on both data sets. Only the second halves are used, because the first ones have
            been used to select a test.
        error: probability that the bound fails; half of it is used for each data set.

    Returns:
        The bound on the probability, in [0, 1].
    """
    return _largest_escape_rate(halves.count, error)


def escape_promises(halves: SplitStatistics, delta: float, error: float) -> bool:
    """Return whether outputs that are impossible on the other data set seem to be more probable than δ.

    Such an output is called an escape, and its statistic is infinite. If escapes are more probable than δ, the
    mechanism is not (ε, δ)-differentially private for any finite ε. Only the first halves of both samples are used.

    Args:
        halves: statistics of outputs on both data sets.
        delta: δ of the audit.
        error: probability that the bound on the escapes fails.

    Returns:
        True if a lower bound on the probability of escapes is above δ.
    """
    return _largest_escape_rate(halves.choose, error) > delta


def _largest_escape_rate(samples: tuple[Floats, Floats], error: float) -> float:
    """Return a lower bound on the probability of an infinite statistic, the larger of those on two data sets.

    An infinite statistic marks an output that is impossible on the other data set.

    Args:
        samples: statistics of outputs on the first and on the second data set.
        error: probability that a bound fails; half of it is used for each data set.

    Returns:
        The bound on the rate, in [0, 1].
    """
    counts = [int(np.isinf(sample).sum()) for sample in samples]
    bounds = [lower_rate([count], sample.size, error / 2)[0] for count, sample in zip(counts, samples, strict=True)]
    return float(max(bounds))


def roc(first: Floats, second: Floats, points: int = 120) -> list[tuple[float, float]]:
    """Return the true positive rate of threshold tests against their false positive rate (the ROC curve).

    A test is positive if the statistic of an output is at least its threshold. The first data set is the positive one.

    Args:
        first: statistics of outputs on the first data set.
        second: statistics of outputs on the second data set.
        points: number of thresholds from each extreme of each sample.

    Returns:
        Pairs of a false and a true positive rate in ascending order, from (0, 0) to (1, 1).
    """
    negatives = np.sort(second)
    positives = np.sort(first)
    candidates = np.concatenate([_values_at_ranks(negatives, points), _values_at_ranks(positives, points)])
    thresholds = np.unique(candidates)[::-1]
    false = _count_positives(negatives, thresholds, above=True) / negatives.size
    true = _count_positives(positives, thresholds, above=True) / positives.size
    return [(0.0, 0.0), *zip(false.tolist(), true.tolist(), strict=True), (1.0, 1.0)]


def _values_at_ranks(ordered: Floats, count: int) -> Floats:
    """Return the values of a sorted sample at ranks that grow geometrically from both of its extremes.

    Args:
        ordered: the sorted sample.
        count: number of ranks from each extreme, before equal ranks are merged.

    Returns:
        The values, in ascending order from the least and then in descending order from the largest one.
    """
    ranks = np.unique(np.geomspace(1, ordered.size, count).astype(np.int64)) - 1
    last_index = ordered.size - 1
    return np.concatenate([ordered[ranks], ordered[last_index - ranks]])


def _thresholds_to_try(samples: tuple[Floats, Floats]) -> Floats:
    """Return the thresholds to try: values of both samples, from each of their extremes."""
    return np.unique(np.concatenate([_values_at_ranks(sample, RANKS) for sample in samples]))


def _count_positives(ordered: Floats, thresholds: Floats, *, above: bool) -> Floats:
    """Count, for each threshold, the outputs of a sample for which a test is positive.

    Args:
        ordered: statistics of the outputs, sorted.
        thresholds: the thresholds.
        above: whether the test is positive at the threshold and above; otherwise at the threshold and below.

    Returns:
        The number of positive outputs for each threshold.
    """
    if above:
        return np.asarray(ordered.size - np.searchsorted(ordered, thresholds, side="left"))
    return np.asarray(np.searchsorted(ordered, thresholds, side="right"))

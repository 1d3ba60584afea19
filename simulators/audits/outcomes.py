"""Mechanisms with a few outputs: randomized response, and the mechanism that is tight for one (ε, δ)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from epsilond.simulators.audits.worlds import Floats, Integers


@dataclass(frozen=True)
class Outcomes:
    """A mechanism with finitely many outcomes, given by the probability of each on neighbouring data sets.

    Outcomes with the same ratios of probabilities between the data sets may be merged into one.

    Attributes:
        log_probabilities: `log_probabilities[world][outcome]` is the log probability of an outcome on the data set
            ("world") with this index; −∞ if the outcome is impossible.
        work: cost of one output, in units of Gaussian noise on one number.
    """

    log_probabilities: tuple[tuple[float, ...], ...]
    work: float = 1.0

    @property
    def worlds(self) -> int:
        """Number of data sets ("worlds")."""
        return len(self.log_probabilities)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outcomes, and return their log probabilities on every data set ("world").

        An outcome of probability 0 is never drawn.

        Args:
            generator: source of randomness.
            world: index of the data set on which each outcome is drawn, (runs,).

        Returns:
            The log probabilities, (worlds, runs).
        """
        log_probabilities = np.asarray(self.log_probabilities)
        uniform = generator.random(world.size)
        outcome = np.zeros(world.size, dtype=np.int64)
        for index, probabilities in enumerate(np.exp(log_probabilities)):
            is_in_world = world == index
            possible = np.flatnonzero(probabilities)
            # Inversion: take the first outcome whose cumulative probability exceeds the uniform number. The last bound
            # is left out, since rounding could make it less than 1, and a uniform number could exceed it.
            cumulative = np.cumsum(probabilities[possible])[:-1] / probabilities.sum()
            chosen = np.searchsorted(cumulative, uniform[is_in_world], side="right")
            outcome[is_in_world] = possible[chosen]
        return np.asarray(log_probabilities[:, outcome])


def response(epsilon: float, categories: int) -> Outcomes:
    """Return the outcome probabilities of k-ary randomized response on two neighbouring data sets.

    The record has category 0 in the first data set and category 1 in the second. A report is the true category with
    probability 1/(1 + (k − 1) e^−ε), and each false category with e^−ε times this probability.

    Args:
        epsilon: ε of the randomized response.
        categories: number k of categories, at least 2.

    Returns:
        The mechanism with three outcomes: a report of category 0, of category 1, and of any further category.
    """
    log_false_report = -epsilon - math.log1p((categories - 1) * math.exp(-epsilon))
    log_true_report = log_false_report + epsilon
    log_rest = -math.inf
    if categories > 2:
        log_rest = log_false_report + math.log(categories - 2)

    # The further categories are false on both data sets, so one outcome may stand for all of them.
    log_on_first = (log_true_report, log_false_report, log_rest)
    log_on_second = (log_false_report, log_true_report, log_rest)
    return Outcomes((log_on_first, log_on_second))


def canonical(epsilon: float, delta: float, worlds: int) -> Outcomes:
    """Return the most revealing (ε, δ)-differentially private mechanism on two neighbouring data sets.

    With probability δ its output is the data set itself. Otherwise it is randomized response with parameter ε.

    Args:
        epsilon: ε of the randomized response.
        delta: probability of an output that reveals the data set, at least 0 and below 1.
        worlds: number of data sets, 2 or 3. The third is the data set without the changed record; on it, the outcomes
            have the probabilities of the second.

    Returns:
        The mechanism with four outcomes: the first data set is revealed, a response for the first, a response for the
        second, and the second is revealed.
    """
    log_delta = math.log(delta) if delta > 0 else -math.inf
    log_true_response = math.log1p(-delta) - math.log1p(math.exp(-epsilon))
    log_false_response = log_true_response - epsilon
    log_on_first = (log_delta, log_true_response, log_false_response, -math.inf)
    log_on_second = log_on_first[::-1]
    return Outcomes((log_on_first, log_on_second, log_on_second)[:worlds])


def sum_of_trials(high_trials: int, low_trials: int, probability: float) -> Floats:
    """Return the log probability of each number of successes in independent trials of two kinds.

    Args:
        high_trials: number of trials with success probability p.
        low_trials: number of trials with success probability 1 − p.
        probability: success probability p, 1/2 < p < 1.

    Returns:
        The log probabilities of 0, 1, …, high_trials + low_trials successes; −∞ where a probability underflows to 0.
    """
    high_probabilities = _binomial(high_trials, probability)
    # Successes of a trial with probability 1 − p are failures of one with probability p.
    low_probabilities = _binomial(low_trials, probability)[::-1]

    # The tails underflow to 0. Only the numbers between them are convolved, which saves time.
    high_numbers = np.flatnonzero(high_probabilities)
    low_numbers = np.flatnonzero(low_probabilities)
    first_high, last_high = high_numbers[0], high_numbers[-1]
    first_low, last_low = low_numbers[0], low_numbers[-1]
    positive_high = high_probabilities[first_high : last_high + 1]
    positive_low = low_probabilities[first_low : last_low + 1]
    positive_sums = np.convolve(positive_high, positive_low)

    # The first positive sum belongs to the smallest possible number of successes of both kinds.
    probabilities = np.zeros(high_trials + low_trials + 1)
    first_sum = first_high + first_low
    probabilities[first_sum : first_sum + positive_sums.size] = positive_sums
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def _binomial(trials: int, probability: float) -> Floats:
    """Return the binomial probabilities of 0, …, n successes in n independent trials.

    They are computed from logarithms of factorials, because the factorials themselves overflow.

    Args:
        trials: number n of trials, at least 0.
        probability: probability of success in each trial, in (0, 1).

    Returns:
        The n + 1 probabilities, rounded to doubles; 0 where a probability underflows.
    """
    successes = np.arange(trials + 1.0)
    failures = trials - successes
    log_choices = gammaln(trials + 1.0) - gammaln(successes + 1.0) - gammaln(failures + 1.0)
    log_probabilities = log_choices + successes * np.log(probability) + failures * np.log1p(-probability)
    return np.asarray(np.exp(log_probabilities))

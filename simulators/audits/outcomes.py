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

    Outcomes with equal probabilities on all data sets may be merged.

    Attributes:
        log_probabilities: log probability of each outcome on each data set, as `log_probabilities[world][outcome]`,
            where `world` is the index of the data set.
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
            world: index of the data set of each run, on which its outcome is drawn.

        Returns:
            The log probabilities, (worlds, runs).
        """
        log_probabilities = np.asarray(self.log_probabilities)
        uniform = generator.random(world.size)
        outcome = np.zeros(world.size, dtype=np.int64)
        for number, probabilities in enumerate(np.exp(log_probabilities)):
            # Inversion: the outcome at which the cumulative probability exceeds the uniform number.
            is_in_world = world == number
            possible = np.flatnonzero(probabilities)
            cumulative = np.cumsum(probabilities[possible])[:-1] / probabilities.sum()
            chosen = np.searchsorted(cumulative, uniform[is_in_world], side="right")
            outcome[is_in_world] = possible[chosen]
        return np.asarray(log_probabilities[:, outcome])


def response(epsilon: float, categories: int) -> Outcomes:
    """Return the outcome probabilities of randomized response on two neighbouring data sets.

    The record has category 0 in the data set FIRST, and category 1 in SECOND.
    All further categories have equal probabilities on both data sets, and are merged into one outcome.

    Args:
        epsilon: ε of the response.
        categories: number of categories.

    Returns:
        The probabilities of the outcomes on both data sets.
    """
    # A false category has probability e^−ε/(1 + (k − 1) e^−ε) for k categories; the true one e^ε times as much.
    log_false_report = -epsilon - math.log1p((categories - 1) * math.exp(-epsilon))
    log_true_report = log_false_report + epsilon
    log_rest = -math.inf
    if categories > 2:
        log_rest = log_false_report + math.log(categories - 2)

    # Outcomes: a report of category 0, of category 1, and of a further one.
    first = (log_true_report, log_false_report, log_rest)
    second = (log_false_report, log_true_report, log_rest)
    return Outcomes((first, second))


def canonical(epsilon: float, delta: float, worlds: int) -> Outcomes:
    """Return the most revealing (ε, δ)-differentially private mechanism on two data sets.

    With probability δ it reveals the data set. Otherwise it is randomized response at ε.

    Args:
        epsilon: ε of the randomized response.
        delta: probability of an output that reveals the data set.
        worlds: 3 if the relation has a data set without the record, which then equals the second one; otherwise 2.

    Returns:
        The probabilities of the outcomes on both data sets.
    """
    log_delta = math.log(delta) if delta > 0 else -math.inf
    log_true = math.log1p(-delta) - math.log1p(math.exp(-epsilon))
    # Outcomes: FIRST is revealed, a response for FIRST, a response for SECOND, and SECOND is revealed.
    first = (log_delta, log_true, log_true - epsilon, -math.inf)
    second = first[::-1]
    return Outcomes((first, second, second)[:worlds])


def sum_of_trials(high_trials: int, low_trials: int, probability: float) -> Floats:
    """Return the log probability of each number of successes in independent trials of two kinds.

    Args:
        high_trials: number of trials with success probability p.
        low_trials: number of trials with success probability 1 − p.
        probability: success probability p, 1/2 < p < 1.

    Returns:
        The log probabilities of 0, 1, … successes; −∞ where a probability is below every double.
    """
    high_probabilities = _binomial(high_trials, probability)
    # Successes of a trial with probability 1 − p are failures of one with probability p.
    low_probabilities = _binomial(low_trials, probability)[::-1]

    # Only the numbers with positive probability are convolved, because tails underflow to 0.
    high_numbers = np.flatnonzero(high_probabilities)
    low_numbers = np.flatnonzero(low_probabilities)
    first_high, last_high = high_numbers[0], high_numbers[-1]
    first_low, last_low = low_numbers[0], low_numbers[-1]
    positive_high = high_probabilities[first_high : last_high + 1]
    positive_low = low_probabilities[first_low : last_low + 1]
    positive_sums = np.convolve(positive_high, positive_low)

    # Put the sums in their place among all numbers of successes.
    probabilities = np.zeros(high_trials + low_trials + 1)
    first_sum = first_high + first_low
    probabilities[first_sum : first_sum + positive_sums.size] = positive_sums
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def _binomial(trials: int, probability: float) -> Floats:
    """Return the probabilities of 0, …, n successes in n independent trials.

    They are computed from logarithms of factorials, so that no factorial overflows.

    Args:
        trials: number n of trials, at least 0.
        probability: probability of success in each trial, in (0, 1).

    Returns:
        The n + 1 probabilities, in double precision.
    """
    successes = np.arange(trials + 1.0)
    failures = trials - successes
    log_choices = gammaln(trials + 1.0) - gammaln(successes + 1.0) - gammaln(failures + 1.0)
    log_probabilities = log_choices + successes * np.log(probability) + failures * np.log1p(-probability)
    return np.asarray(np.exp(log_probabilities))

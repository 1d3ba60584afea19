"""Auditing in one run: a lower bound on ε from guesses about many canaries (Steinke, Nasr and Jagielski 2023).

Each of m canaries is in the data with probability ½, independently. The attacker sees the output of the training and
guesses for r canaries whether they are in. Let W be binomial with r trials and probability e^ε/(1 + e^ε). Assume (ε, δ)
differential privacy under adding or removing one canary. Then, for every number v (Theorem 5.2):

    P(v or more guesses are right) ≤ P(W ≥ v) + 2mδ max_i P(v > W ≥ v − i)/i.

Several independent runs are one run of a mechanism with the canaries of all runs: each canary is in one of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, expit

from epsilond.accountants.numerics.root_search import bisect_reals
from epsilond.simulators.audits.worlds import Floats

Bools = npt.NDArray[np.bool_]

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
"""Shares of the canaries that are guessed; every share is tried, and the error is divided by their number."""
ROUNDING = 1.0 + 1e-11
"""Factor on tail probabilities that covers their rounding error."""
LEAST_ERROR = 1e-300
"""Floor under the logarithm's argument, so that log 0 is never evaluated."""
BISECTIONS = 60
"""Number of bisection steps."""
LARGEST = 64.0
"""Largest ε of the search; e^ε/(1 + e^ε) rounds to 1 well below it."""


def log_error(*, canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """Bound the probability that an attacker guesses many memberships right, under (ε, δ)-differential privacy.

    Each of m canaries (records of the audit) is in the data with probability ½, independently. An attacker guesses for
    r of them whether they are. The probability of v or more right guesses is at most:

        P(W ≥ v) + 2mδ max_i P(v > W ≥ v − i)/i,  with i from 1 to v.

    Here W is binomial with r trials and probability e^ε/(1 + e^ε) (Steinke, Nasr and Jagielski 2023, Theorem 5.2).

    Args:
        canaries: number m of canaries.
        guesses: number r of guesses, 1 ≤ r ≤ m.
        right: number v of right guesses, 0 ≤ v ≤ r.
        epsilon: ε ≥ 0, in nats.
        delta: δ in [0, 1].

    Returns:
        The natural logarithm of the bound, rounded up, at most 0.
    """
    if right == 0:
        return 0.0
    thresholds = np.arange(right, -1, -1)  # v, v − 1, …, 0
    tails = _tails(thresholds, guesses, float(expit(epsilon)))
    tail_of_right = tails[0]
    steps = np.arange(1, right + 1)  # i = 1, …, v, with P(v > W ≥ v − i) = tails[i] − tails[0]
    # Rounded up: the larger tail is raised and the smaller one lowered.
    differences = tails[1:] * ROUNDING - tail_of_right / ROUNDING
    largest_slope = float(np.max(differences / steps))
    probability = (tail_of_right + 2.0 * canaries * delta * largest_slope) * ROUNDING
    return math.log(min(max(probability, LEAST_ERROR), 1.0))


def _tails(least: npt.NDArray[np.int64], trials: int, rate: float) -> Floats:
    """Return upper tails P(W ≥ k) of a binomial variable W, by the regularised incomplete beta function.

    Args:
        least: values of k, integers from 0 to n.
        trials: number n of trials of W.
        rate: success probability p of each trial, in [0, 1].

    Returns:
        The tails, of the shape of `least`, in [0, 1].
    """
    # For k ≥ 1 the tail is I_p(k, n − k + 1), and for k = 0 it is 1.
    positive = np.maximum(least, 1)
    tails = betainc(positive, trials - positive + 1, rate)
    return np.asarray(np.where(least == 0, 1.0, tails))


def epsilon_lower(*, canaries: int, guesses: int, right: int, delta: float, error: float) -> float:
    """Return the largest ε that the number of right guesses disproves, or 0 if it disproves none.

    An ε is disproved if as many right guesses, or more, have probability at most `error` under (ε, δ)-differential
    privacy. This probability increases with ε, so that bisection finds the largest such ε.

    Args:
        canaries: number m of canaries.
        guesses: number r of guesses, 1 ≤ r ≤ m.
        right: number of right guesses, at most r.
        delta: δ at which ε is bounded.
        error: probability that the bound fails.

    Returns:
        A lower bound on ε [nat], between 0 and `LARGEST`.

    Guarantees:
        With probability at least 1 − error, the result is at most the true ε.
    """
    threshold = math.log(error)

    def is_refuted(epsilon: float) -> bool:
        """Decide whether as many right guesses have probability at most `error` at an ε."""
        error_bound = log_error(canaries=canaries, guesses=guesses, right=right, epsilon=epsilon, delta=delta)
        return error_bound <= threshold

    if not is_refuted(0.0):
        return 0.0
    # ε is disproved at the lower end of the last interval, so this end is a valid bound.
    largest_refuted, _ = bisect_reals(is_refuted, 0.0, LARGEST, steps=BISECTIONS)
    return largest_refuted


@dataclass(frozen=True)
class GuessingBound:
    """Lower bound on ε from one choice of guesses, with its counts.

    Attributes:
        epsilon_lower: the bound, in nats.
        guesses: number of guesses.
        right: number of right guesses.
        canaries: number of canaries, each of which is in the data with probability ½.
    """

    epsilon_lower: float
    guesses: int
    right: int
    canaries: int


def guess(scores: Floats, members: Bools, *, delta: float, error: float) -> GuessingBound:
    """Return the best lower bound on ε from guesses which canaries are in the data.

    The canaries with the highest scores are guessed to be members, and as many with the lowest scores not to be
    members. Several numbers of guesses, which are fixed shares of all canaries, are tried. The bound of each may fail
    with an equal part of the probability `error`. So the best bound holds with probability at least 1 − error.

    Args:
        scores: larger if the attacker believes in membership, (m,), for m canaries.
        members: whether each canary is in the data, (m,).
        delta: δ at which ε is bounded.
        error: probability that the bound fails.

    Returns:
        The bound on ε, with the numbers of guesses, right guesses and canaries.
    """
    order = np.argsort(scores, kind="stable")
    # Half of the guesses are that a canary is a member, and half that it is not.
    halves = sorted({max(1, round(share * scores.size / 2)) for share in SHARES if scores.size >= 2})
    error_of_each = error / len(halves)
    best: GuessingBound | None = None
    for half in halves:
        right_members = np.sum(members[order[-half:]])
        right_others = np.sum(~members[order[:half]])
        right = int(right_members + right_others)
        epsilon = epsilon_lower(canaries=scores.size, guesses=2 * half, right=right, delta=delta, error=error_of_each)
        if best is None or epsilon > best.epsilon_lower:
            best = GuessingBound(epsilon, 2 * half, right, scores.size)
    assert best is not None
    return best

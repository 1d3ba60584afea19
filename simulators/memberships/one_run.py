"""Auditing in one run: from right guesses about many canaries to a lower bound on ε (Steinke, Nasr and Jagielski 2023).

Each of m canaries is in the data with probability ½, by a coin of its own. The attacker sees what the training gives
out and guesses of r canaries whether they are in. Under (ε, δ)-differential privacy of adding or removing one canary,
with W binomial of r and e^ε/(1 + e^ε),

    P(v or more are right) ≤ P(W ≥ v) + 2mδ max_i P(v > W ≥ v − i)/i        (Theorem 5.2).

Several independent runs are one run of a mechanism whose canaries are those of all runs: each canary is in one of them.
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
"""Shares of the canaries that are guessed, tried one beside the other; the error is divided by their number."""
ROUNDING = 1.0 + 1e-11
"""Charged on tail probabilities."""
LEAST_ERROR = 1e-300
BISECTIONS = 60
LARGEST = 64.0
"""ε beyond which no bound is looked for: e^ε/(1 + e^ε) is 1 in doubles long before."""


def log_error(*, canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """Upper bound on the logarithm of P(`right` or more of `guesses` are right) under (ε, δ)-differential privacy.

    At most 0. 1 ≤ guesses ≤ canaries, 0 ≤ right ≤ guesses; ε ≥ 0 in nats, 0 ≤ δ ≤ 1.
    """
    if right == 0:
        return 0.0
    least = np.arange(right, -1, -1)
    tails = _tails(least, guesses, float(expit(epsilon)))
    steps = np.arange(1, right + 1)
    steepest = float(np.max((tails[1:] * ROUNDING - tails[0] / ROUNDING) / steps))
    found = (tails[0] + 2.0 * canaries * delta * steepest) * ROUNDING
    return math.log(min(max(found, LEAST_ERROR), 1.0))


def _tails(least: npt.NDArray[np.int64], trials: int, rate: float) -> Floats:
    """P(W ≥ k) of a binomial W, for each k."""
    inner = betainc(np.maximum(least, 1), trials - np.maximum(least, 1) + 1, rate)
    return np.asarray(np.where(least == 0, 1.0, inner))


def epsilon_lower(*, canaries: int, guesses: int, right: int, delta: float, error: float) -> float:
    """An ε at which (ε, δ)-differential privacy is refuted: so many right guesses have probability `error` at most.

    Guarantee: above the true ε in at most a share `error` of experiments. 0 where nothing is refuted. Any ε that is
    refuted is a valid bound; of these a bisection finds the largest, as error probabilities rise with ε.
    """
    wanted = math.log(error)

    def refuted(epsilon: float) -> bool:
        told = log_error(canaries=canaries, guesses=guesses, right=right, epsilon=epsilon, delta=delta)
        return told <= wanted

    if not refuted(0.0):
        return 0.0
    return bisect_reals(refuted, 0.0, LARGEST, steps=BISECTIONS)[0]


@dataclass(frozen=True)
class Guessed:
    """What one choice of guesses proves."""

    epsilon_lower: float
    guesses: int
    right: int
    canaries: int


def guess(scores: Floats, members: Bools, *, delta: float, error: float) -> Guessed:
    """The best of the bounds by guessing the highest scores in, and as many of the lowest out.

    `scores` and `members` are (m,), larger where the attacker believes in membership. How many are guessed is decided
    before by `SHARES`; each choice is wrong with probability `error` over their number, so that the best holds too.
    """
    order = np.argsort(scores, kind="stable")
    sides = sorted({max(1, round(share * scores.size / 2)) for share in SHARES if scores.size >= 2})
    best: Guessed | None = None
    for side in sides:
        right = int(np.sum(members[order[-side:]]) + np.sum(~members[order[:side]]))
        found = epsilon_lower(
            canaries=scores.size, guesses=2 * side, right=right, delta=delta, error=error / len(sides)
        )
        if best is None or found > best.epsilon_lower:
            best = Guessed(found, 2 * side, right, scores.size)
    assert best is not None
    return best

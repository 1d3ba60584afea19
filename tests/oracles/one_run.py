"""Auditing in one run from its definition: binomial tails term by term, in multiple precision."""

import mpmath as mp


def error_probability(*, canaries, guesses, right, epsilon, delta):
    """The right side of Theorem 5.2 of Steinke, Nasr and Jagielski."""
    with mp.workdps(50):
        rate = 1 / (1 + mp.exp(-mp.mpf(epsilon)))
        mass = [mp.binomial(guesses, k) * rate**k * (1 - rate) ** (guesses - k) for k in range(guesses + 1)]
        tail = mp.fsum(mass[right:])
        steepest = max((mp.fsum(mass[right - i : right]) / i for i in range(1, right + 1)), default=mp.mpf(0))
        return min(mp.mpf(1), tail + 2 * canaries * mp.mpf(delta) * steepest)

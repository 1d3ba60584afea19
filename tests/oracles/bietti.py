"""Figures of Bietti et al. in multiple precision, from the definitions; nothing of the code under test."""

from __future__ import annotations

from typing import Any

import mpmath as mp

Number = Any


def gaussian_delta(mu: Number, epsilon: Number) -> Number:
    """δ(ε) of N(μ, 1) against N(0, 1)."""

    def below(x: Number) -> Number:
        return mp.erfc(-x / mp.sqrt(2)) / 2

    return below(mu / 2 - epsilon / mu) - mp.e**epsilon * below(-epsilon / mu - mu / 2)


def least_mu(epsilon: Number, delta: Number) -> Number:
    """μ* with δ(ε) = δ, by bisection on its logarithm."""
    low, high = mp.mpf(10) ** -12, mp.mpf(10) ** 6
    for _ in range(220):
        middle = mp.sqrt(low * high)
        low, high = (middle, high) if gaussian_delta(middle, epsilon) < delta else (low, middle)
    return low


def bound(
    alpha: Number, *, clients: int, rounds: int, smoothness: Number, v: Number, spread: Number, shared: Number,
    local: Number, noise: Number, dimension: int,
) -> Number:  # fmt: skip
    """4L_α‖z*‖²/n + 3σ‖z*‖/√n with all clients, ‖z*‖² minimised numerically over how much of v̄ is shared."""
    n, big = mp.mpf(rounds), mp.mpf(clients)

    def norm(share: Number) -> Number:
        own = big * ((1 - share) * v) ** 2 + big * mp.mpf(spread) ** 2
        return own + ((share * v) ** 2 / alpha if alpha else 0)

    low, high = mp.mpf(0), mp.mpf(0 if alpha == 0 else 1)
    for _ in range(90):  # the norm is convex in what is shared
        third = (high - low) / 3
        low, high = (low, high - third) if norm(low + third) <= norm(high - third) else (low + third, high)
    squared = norm(low)
    variance = (alpha * mp.mpf(shared) ** 2 + mp.mpf(local) ** 2) / big + alpha * dimension * mp.mpf(noise) ** 2
    return 4 * mp.mpf(smoothness) * max(alpha, 1 / big) * squared / n + 3 * mp.sqrt(variance * squared / n)


def average_gap(*, squared: Number, step: Number, smoothness: Number, variance: Number, rounds: int) -> Number:
    """The largest mean gap f − f* that d ↦ d − 2η(1 − 2ηL)(f − f*) + 2η²σ² allows from d = ‖z*‖² on, d ≥ 0 at the end.

    In every round ⟨∇f(z), z − z*⟩ ≥ f − f* and E‖g‖² ≤ 4L(f − f*) + 2σ².
    """
    distance, step = mp.mpf(squared), mp.mpf(step)
    for _ in range(rounds):
        distance += 2 * step**2 * mp.mpf(variance)
    return distance / (2 * step * (1 - 2 * step * mp.mpf(smoothness)) * rounds)

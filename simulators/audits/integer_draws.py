"""Large samples of integer noise: in floating point, and by the exact sampler of the clients."""

from __future__ import annotations

import math

import numpy as np

from epsilond.mechanisms.discrete_laplace import truncated_discrete_laplace
from epsilond.mechanisms.randomness import seeded
from epsilond.simulators.audits.worlds import Floats, Integers

MOST_LEVELS = 2**52
"""Largest noise bound; doubles do not represent all integers above 2^53."""


def integer_draws(generator: np.random.Generator, decay_rate: float, levels: int | None, count: int) -> Floats:
    """Draw discrete Laplace noise: integers y with |y| ≤ levels and probability proportional to e^(−α|y|).

    The computation is in floating point. Magnitudes are drawn by inversion and get a random sign; −0 is rejected, so
    that 0 is not counted twice.

    Args:
        generator: source of randomness.
        decay_rate: decay rate α > 0.
        levels: bound on |y|, at most 2^52; None for no bound.
        count: number of draws.

    Returns:
        Integers as floats, (count,).
    """
    # Probability that a geometric magnitude without a bound is at most `levels`.
    reach = 1.0 if levels is None else -math.expm1(-decay_rate * (levels + 1))
    draws = np.empty(count)
    missing = np.arange(count)
    while missing.size:
        # Draw the magnitudes by inversion.
        uniform = generator.random(missing.size)
        magnitudes = np.floor(-np.log1p(-reach * uniform) / decay_rate)
        if levels is not None:
            np.minimum(magnitudes, levels, out=magnitudes)

        # Draw the signs. The entries with −0 are drawn again.
        is_negative = generator.random(missing.size) < 0.5
        draws[missing] = np.where(is_negative, -magnitudes, magnitudes)
        missing = missing[is_negative & (magnitudes == 0)]
    return draws


def exact_draws(generator: np.random.Generator, decay_rate: float, levels: int, count: int) -> Integers:
    """Draw truncated discrete Laplace noise y with probabilities proportional to e^(−α|y|), without rounding.

    Args:
        generator: source of randomness.
        decay_rate: decay rate α > 0.
        levels: bound on |y|, at most 2^40.
        count: number of draws.

    Returns:
        Integers, (count,).
    """
    return truncated_discrete_laplace(decay_rate, levels, (count,), seeded(generator))

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

    The computation is in floating point. A magnitude is drawn by inversion and gets a random sign. The value −0 is
    drawn again, because 0 would otherwise have twice its probability.

    Args:
        generator: source of randomness.
        decay_rate: decay rate α > 0.
        levels: bound on |y|, at most 2^52; None for no bound.
        count: number of draws.

    Returns:
        Integers as floats, (count,).
    """
    # Probability that a geometric magnitude without a bound is at most `levels`. A uniform number below it gives a
    # magnitude within the bound.
    probability_within = 1.0 if levels is None else -math.expm1(-decay_rate * (levels + 1))
    draws = np.empty(count)
    missing = np.arange(count)
    while missing.size:
        uniform = generator.random(missing.size)
        magnitudes = np.floor(-np.log1p(-probability_within * uniform) / decay_rate)
        if levels is not None:
            # Rounding can give a magnitude just above the bound.
            np.minimum(magnitudes, levels, out=magnitudes)

        is_negative = generator.random(missing.size) < 0.5
        draws[missing] = np.where(is_negative, -magnitudes, magnitudes)
        missing = missing[is_negative & (magnitudes == 0)]
    return draws


def exact_draws(generator: np.random.Generator, decay_rate: float, levels: int, count: int) -> Integers:
    """Draw truncated discrete Laplace noise with the exact sampler that clients run.

    An integer y has a probability proportional to e^(−α|y|). No probability is rounded.

    Args:
        generator: source of randomness.
        decay_rate: decay rate α > 0.
        levels: bound on |y|, from 0 to 2^34.
        count: number of draws.

    Returns:
        Integers, (count,).

    Raises:
        InvalidInput: `decay_rate` or `levels` is out of range.
    """
    return truncated_discrete_laplace(decay_rate, levels, (count,), seeded(generator))

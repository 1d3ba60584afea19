"""Integer noise by the thousand: in floating point, and by the exact sampler that clients run."""

from __future__ import annotations

import math

import numpy as np

from epsilond.mechanisms.discrete_laplace import truncated_discrete_laplace
from epsilond.mechanisms.randomness import seeded
from epsilond.simulators.audits.worlds import Floats, Integers

MOST_LEVELS = 2**52
"""Integers beyond are no longer told apart by doubles."""


def integer_draws(generator: np.random.Generator, decay_rate: float, levels: int | None, count: int) -> Floats:
    """Draws of P(y) ∝ e^(−α|y|), |y| ≤ levels, as doubles: sizes by inversion, a random sign, and no second zero.

    `levels` ≤ 2^52; None is no bound.
    """
    reach = 1.0 if levels is None else -math.expm1(-decay_rate * (levels + 1))
    drawn = np.empty(count)
    missing = np.arange(count)
    while missing.size:
        sizes = np.floor(-np.log1p(-reach * generator.random(missing.size)) / decay_rate)
        if levels is not None:
            np.minimum(sizes, levels, out=sizes)
        negative = generator.random(missing.size) < 0.5
        drawn[missing] = np.where(negative, -sizes, sizes)
        missing = missing[negative & (sizes == 0)]
    return drawn


def exact_draws(generator: np.random.Generator, decay_rate: float, levels: int, count: int) -> Integers:
    """The same law without a rounded probability, by the sampler that every simulation uses. `levels` ≤ 2^40."""
    return truncated_discrete_laplace(decay_rate, levels, (count,), seeded(generator))

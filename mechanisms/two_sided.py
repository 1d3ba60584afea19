"""Discrete Laplace and discrete Gaussian noise on all integers, for whole arrays, with exactly their laws.

Source: Canonne, Kamath and Steinke 2020, Algorithms 1 to 3. Candidates are drawn for all entries at once, and again for
those that are refused. A parameter that is a double is taken as the fraction that it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.flips import below, exponential_flips
from epsilond.mechanisms.randomness import Bools, Integers, RandomSource, SideBySide, seeded

LEAST_DECAY_RATE = 2.0**-40
LEAST_NOISE_STD, MOST_NOISE_STD = 2.0**-20, 2.0**40


def discrete_laplace(decay_rate: float, shape: tuple[int, ...], source: RandomSource) -> Integers:
    """Independent integers with probabilities proportional to e^(−α|y|); 2^−40 ≤ α < ∞ is `decay_rate`.

    Raises:
        InvalidInput: the rate is outside its range.
    """
    if not LEAST_DECAY_RATE <= decay_rate < math.inf:
        raise InvalidInput.at("/decay_rate", "is out of range", allowed="≥ 2^-40, finite")
    rate = Fraction(decay_rate)
    return _each_row(shape, source, lambda count, rows: _accepted(count, lambda size: _laplace(rate, size, rows)))


def discrete_gaussian(noise_std: float, shape: tuple[int, ...], source: RandomSource) -> Integers:
    """Independent integers with probabilities proportional to e^(−y²/(2σ²)); 2^−20 ≤ σ ≤ 2^40 is `noise_std`.

    σ is the parameter: the standard deviation is never above it, and near it from σ = 1 on.

    Integers that neighbours move by at most Δ in ℓ2 norm are Δ²/(2σ²)-zero-concentrated private with it (the same
    paper, Theorem 4, each coordinate on its own). The exact curve of the continuous Gaussian is not its curve.

    Raises:
        InvalidInput: σ is outside its range.
    """
    if not LEAST_NOISE_STD <= noise_std <= MOST_NOISE_STD:
        raise InvalidInput.at("/noise_std", "is out of range", allowed="≥ 2^-20 and ≤ 2^40")
    variance = Fraction(noise_std) ** 2
    return _each_row(shape, source, lambda count, rows: _accepted(count, lambda size: _gaussian(variance, size, rows)))


Candidates = Callable[[int], tuple[Integers, Bools]]
"""So many candidates, and which of them are accepted."""


def _accepted(count: int, candidates: Candidates) -> Integers:
    drawn = np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        values, kept = candidates(count - done)
        accepted = values[kept]
        drawn[done : done + accepted.size] = accepted
        done += accepted.size
    return drawn


def _laplace(rate: Fraction, count: int, source: RandomSource) -> tuple[Integers, Bools]:
    """±(U + tV), t = ⌈1/α⌉: U below t is kept with probability e^−αU, V counts whole blocks; one zero is refused."""
    block = -(-rate.denominator // rate.numerator)
    within = below(block, (count,), source)
    kept = exponential_flips(np.asarray(float(rate) * within), lambda place: rate * int(within[place]), source)
    blocks = np.zeros(count, dtype=np.int64)
    going = np.flatnonzero(kept)
    whole = rate * block
    while going.size:
        going = going[exponential_flips(np.full(going.size, float(whole)), lambda _: whole, source)]
        blocks[going] += 1
    sizes = within + block * blocks
    negative = source.flips(0.5, (count,))
    return np.where(negative, -sizes, sizes), kept & ~(negative & (sizes == 0))


def _gaussian(variance: Fraction, count: int, source: RandomSource) -> tuple[Integers, Bools]:
    """Discrete Laplace Y of rate 1/t, t = ⌊σ⌋ + 1, kept with probability e^−(|Y| − σ²/t)²/(2σ²)."""
    block = math.isqrt(variance.numerator // variance.denominator) + 1
    values, proposed = _laplace(Fraction(1, block), count, source)
    places = np.flatnonzero(proposed)
    chosen, centre = values[places], variance / block
    exponents = np.square(np.abs(chosen) - float(centre)) / float(2 * variance)
    accepted = exponential_flips(
        exponents, lambda place: (abs(int(chosen[place])) - centre) ** 2 / (2 * variance), source
    )
    kept = np.zeros(count, dtype=np.bool_)
    kept[places[accepted]] = True
    return values, kept


def _each_row(shape: tuple[int, ...], source: RandomSource, draw: Callable[[int, RandomSource], Integers]) -> Integers:
    """Rejection takes more or fewer words: rows of several generators are drawn one after another."""
    if not isinstance(source, SideBySide):
        return draw(math.prod(shape), source).reshape(shape)
    return np.stack([draw(math.prod(shape[1:]), seeded(one)).reshape(shape[1:]) for one in source.generators])

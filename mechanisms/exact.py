"""Exact samplers one draw at a time, in integers alone: slow, and short enough to be compared with the papers.

`discrete_laplace` and `quantization` draw the same laws for whole arrays.

Every probability is a fraction of integers. A parameter that is a double is taken as the fraction that it is, so that
what is drawn has exactly the law that the accounting is about; a sampler in floating point would leak through its
rounding (Mironov 2012). Bernoulli(e^−γ) is that of Canonne, Kamath and Steinke 2020, Algorithm 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Protocol

from epsilond.accountants.errors import InvalidInput


class Choices(Protocol):
    """Random choices, one at a time."""

    def below(self, count: int) -> int:
        """Uniform on 0, …, count − 1."""

    def flip(self, probability: Fraction) -> bool:
        """Whether an event of that probability happens."""


class Bits:
    """Choices from a generator of random bits: the operating system's, or a seeded one for experiments."""

    def __init__(self, seed: int | None = None) -> None:
        self._generator = random.SystemRandom() if seed is None else random.Random(seed)  # noqa: S311  a seed is for experiments

    def below(self, count: int) -> int:
        """Uniform on 0, …, count − 1, from whole bits by rejection."""
        return self._generator.randrange(count)

    def flip(self, probability: Fraction) -> bool:
        """Exactly: one of `denominator` equally likely numbers is below the numerator."""
        return self._generator.randrange(probability.denominator) < probability.numerator


def exponential_flip(exponent: Fraction, source: Choices) -> bool:
    """True with probability e^−exponent, exponent ≥ 0.

    Σ_k (−γ)^k/k! for γ ≤ 1: the number of successes of Bernoulli(γ/1), Bernoulli(γ/2), … before the first failure is
    even with probability e^−γ. Larger exponents are products.
    """
    while exponent > 1:
        if not exponential_flip(Fraction(1), source):
            return False
        exponent -= 1
    successes = 0
    while source.flip(exponent / (successes + 1)):
        successes += 1
    return successes % 2 == 0


def truncated_discrete_laplace(decay_rate: float, noise_levels: int, source: Choices) -> int:
    """One draw of Y on −m, …, m with probabilities proportional to e^(−α|y|); α is `decay_rate` > 0, m ≥ 0.

    Raises:
        InvalidInput: a parameter is outside its range.
    """
    if not 0.0 < decay_rate < float("inf"):
        raise InvalidInput.at("/decay_rate", "is out of range", allowed="> 0")
    if noise_levels < 0:
        raise InvalidInput.at("/noise_levels", "is out of range", allowed="≥ 0")
    alpha, most = Fraction(decay_rate), noise_levels
    while True:
        if alpha * most <= 1:
            drawn = source.below(2 * most + 1) - most
            if exponential_flip(alpha * abs(drawn), source):
                return drawn
        else:
            size = _geometric(alpha, source)
            negative = source.flip(Fraction(1, 2))
            if size <= most and not (negative and size == 0):
                return -size if negative else size


def _geometric(alpha: Fraction, source: Choices) -> int:
    """Y ≥ 0 with probabilities proportional to e^(−αy), as U + tV: U below t = ⌈1/α⌉, and V counts whole blocks."""
    block = -(-alpha.denominator // alpha.numerator)
    while True:
        within = source.below(block)
        if exponential_flip(alpha * within, source):
            break
    blocks = 0
    while exponential_flip(alpha * block, source):
        blocks += 1
    return within + block * blocks


def stochastic_rounding(values: Iterable[float], levels: int, source: Choices) -> list[int]:
    """Each u in [−1, 1] to one of the two multiples of 1/levels around it, unbiased; the multiples are returned.

    Source: Das et al., Algorithm 1, line 3.

    Raises:
        InvalidInput: a value is outside [−1, 1], or levels < 1.
    """
    if levels < 1:
        raise InvalidInput.at("/quantization_levels", "is out of range", allowed="≥ 1")
    rounded = []
    for place, value in enumerate(values):
        if not -1.0 <= value <= 1.0:
            raise InvalidInput.at(f"/values/{place}", "is out of range", allowed="≥ -1 and ≤ 1")
        scaled = Fraction(value) * levels
        floor = scaled.numerator // scaled.denominator
        share = scaled - floor
        rounded.append(floor + (1 if share and source.flip(share) else 0))
    return rounded


def quantized_message(
    update: Sequence[float], *, levels: int, noise_levels: int, decay_rate: float, source: Choices
) -> list[int]:
    """What a client sends of a unit vector: rounded to the grid, with independent truncated noise on every coordinate.

    Integers from −(levels + noise_levels) to levels + noise_levels.
    """
    return [
        value + truncated_discrete_laplace(decay_rate, noise_levels, source)
        for value in stochastic_rounding(update, levels, source)
    ]

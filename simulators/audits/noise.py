"""Noise that is added to a value which the worlds disagree on: continuous, integer, and integer cut off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from epsilond.mechanisms.randomness import seeded
from epsilond.simulators.audits.integer_draws import exact_draws, integer_draws
from epsilond.simulators.audits.worlds import FIRST, SECOND, Floats, Integers


class NoiseDistribution(Protocol):
    """A law on the line."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Independent draws (count,)."""

    def log_density(self, values: Floats) -> Floats:
        """Up to a constant; −inf outside the support."""


@dataclass(frozen=True)
class Normal:
    """N(0, 1)."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """By numpy."""
        return seeded(generator).normal((count,))

    def log_density(self, values: Floats) -> Floats:
        """−y²/2."""
        return np.asarray(-0.5 * values * values)


@dataclass(frozen=True)
class TwoSided:
    """Density e^(−|y|): Laplace noise of scale 1."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """By numpy."""
        return generator.laplace(size=count)

    def log_density(self, values: Floats) -> Floats:
        """−|y|."""
        return np.asarray(-np.abs(values))


@dataclass(frozen=True)
class IntegerNoise:
    """P(y) ∝ e^(−αy) for |y| ≤ m on the integers; m = None is all of them.

    `exact`: drawn by the sampler that a client would run, from a seeded source of bits.
    """

    decay_rate: float
    noise_levels: int | None
    exact: bool = False

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """As `exact` says."""
        if self.exact and self.noise_levels is not None:
            return exact_draws(generator, self.decay_rate, self.noise_levels, count).astype(np.float64)
        return integer_draws(generator, self.decay_rate, self.noise_levels, count)

    def log_density(self, values: Floats) -> Floats:
        """−α|y|, and −inf beyond m."""
        sizes = np.abs(values)
        inside = -self.decay_rate * sizes
        return np.asarray(
            inside if self.noise_levels is None else np.where(sizes <= self.noise_levels, inside, -math.inf)
        )


@dataclass(frozen=True)
class Added:
    """Noise on a value, which is `places[world]` in each world, in the noise's own unit."""

    noise: NoiseDistribution
    places: tuple[float, ...]
    work: float = 1.0

    @property
    def worlds(self) -> int:
        """As many as there are values."""
        return len(self.places)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """The densities of value plus noise around every world's value."""
        places = np.asarray(self.places)
        released = places[world] + self.noise.draw(generator, world.size)
        return np.stack([self.noise.log_density(released - place) for place in self.places])

    @property
    def step(self) -> float:
        """How far one occurrence of the victim's record moves the value from SECOND to FIRST."""
        return self.places[FIRST] - self.places[SECOND]


def additive(noise: NoiseDistribution, relation: str, shift: float) -> Added:
    """A sum of contributions within ±shift: opposite ones for replace-one, one and none for the other relations."""
    return Added(noise, (shift, -shift, 0.0) if relation == "replace-one" else (shift, 0.0, 0.0))


def shifted(noise: NoiseDistribution, relation: str, shift: int) -> Added:
    """A value that the relation itself moves by `shift`: what replacing does is not known to be two removals."""
    return Added(noise, (float(shift), 0.0) if relation == "replace-one" else (float(shift), 0.0, 0.0))

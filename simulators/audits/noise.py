"""Noise on a value that differs between the worlds: continuous, integer, and truncated integer noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from epsilond.mechanisms.randomness import seeded
from epsilond.simulators.audits.integer_draws import exact_draws, integer_draws
from epsilond.simulators.audits.worlds import FIRST, SECOND, Floats, Integers


class NoiseDistribution(Protocol):
    """A noise distribution that can be sampled, with a density that is known up to a constant factor."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent values.

        Args:
            generator: source of randomness.
            count: number of values.

        Returns:
            The values, (count,).
        """

    def log_density(self, values: Floats) -> Floats:
        """Return the log density of each value, up to an added constant that is the same for all values.

        Args:
            values: values of the noise, any shape.

        Returns:
            Log densities of the same shape; −∞ outside the support.
        """


@dataclass(frozen=True)
class NormalNoise:
    """Standard normal noise, N(0, 1)."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent standard normal values.

        Args:
            generator: source of randomness.
            count: number of values.

        Returns:
            The values, (count,).
        """
        return seeded(generator).normal((count,))

    def log_density(self, values: Floats) -> Floats:
        """Return the log density −y²/2 of each value y, up to an added constant."""
        return np.asarray(-0.5 * values * values)


@dataclass(frozen=True)
class LaplaceNoise:
    """Laplace distribution of scale 1, with a density proportional to e^(−|y|) at y."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent values of the Laplace distribution.

        Args:
            generator: source of randomness.
            count: number of values.

        Returns:
            The values, (count,).
        """
        return generator.laplace(size=count)

    def log_density(self, values: Floats) -> Floats:
        """Return the log density −|y| of each value y, up to an added constant."""
        return np.asarray(-np.abs(values))


@dataclass(frozen=True)
class IntegerNoise:
    """Discrete Laplace noise: an integer y with |y| ≤ m has a probability proportional to e^(−α|y|).

    Attributes:
        decay_rate: decay rate α, above 0.
        noise_levels: largest absolute value m; None for noise that is not truncated.
        exact: True to draw truncated noise with the exact sampler that clients run. Its parameters then have to be in
            the range of this sampler. Noise that is not truncated is drawn in floating point in any case.
    """

    decay_rate: float
    noise_levels: int | None
    exact: bool = False

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent integers y with probability proportional to e^(−α|y|), for the decay rate α.

        The exact sampler works only for truncated noise. All other noise is drawn in floating point.

        Args:
            generator: source of randomness.
            count: number of integers, at least 0.

        Returns:
            The integers as floats, (count,).
        """
        if self.exact and self.noise_levels is not None:
            return exact_draws(generator, self.decay_rate, self.noise_levels, count).astype(np.float64)
        return integer_draws(generator, self.decay_rate, self.noise_levels, count)

    def log_density(self, values: Floats) -> Floats:
        """Return the log probability −α|y| of each integer y, for the decay rate α, up to an added constant.

        Args:
            values: integers y, any shape.

        Returns:
            Log probabilities of the same shape; −∞ where |y| is above `noise_levels`.
        """
        magnitudes = np.abs(values)
        untruncated = np.asarray(-self.decay_rate * magnitudes)
        if self.noise_levels is None:
            return untruncated
        return np.where(magnitudes <= self.noise_levels, untruncated, -math.inf)


@dataclass(frozen=True)
class NoisyValue:
    """A number that differs between neighbouring data sets, released with noise.

    The data sets that an attacker distinguishes are called worlds. FIRST and SECOND are the two neighbours. ABSENT, a
    possible third one, lacks the client or record in which they differ.

    Attributes:
        noise: distribution of the noise.
        value_in_world: the number in FIRST, in SECOND and, if it is known, in ABSENT, in units of the noise.
        work: cost of one output, in units of Gaussian noise on one number.
    """

    noise: NoiseDistribution
    value_in_world: tuple[float, ...]
    work: float = 1.0

    @property
    def worlds(self) -> int:
        """Number of data sets ("worlds"): 2, or 3 with ABSENT."""
        return len(self.value_in_world)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outputs (a value plus noise), and return their log densities on every data set ("world").

        In each world, the density of an output z is the density of the noise at z − v, for the number v in that world.

        Args:
            generator: source of randomness.
            world: index of the world in which each output is drawn, (runs,).

        Returns:
            The log densities, (worlds, runs), up to a constant that all worlds share.
        """
        values = np.asarray(self.value_in_world)
        outputs = values[world] + self.noise.draw(generator, world.size)
        log_densities = [self.noise.log_density(outputs - value) for value in self.value_in_world]
        return np.stack(log_densities)

    @property
    def step(self) -> float:
        """Value of the number on the data set FIRST minus its value on the neighbour SECOND, in units of the noise."""
        return self.value_in_world[FIRST] - self.value_in_world[SECOND]


def noisy_sum(noise: NoiseDistribution, relation: str, shift: float) -> NoisyValue:
    """Return the attack on a noisy sum in which one contribution is a number between −shift and shift.

    All other contributions are 0. The changed contribution is `shift` on the first data set. On the second one it is
    −shift if the relation is replace-one, and otherwise 0.

    Args:
        noise: distribution of the noise.
        relation: neighbouring relation: replace-one, zero-out-one or add-or-remove-one.
        shift: largest absolute value of the contribution, in units of the noise.

    Returns:
        The attack, with the sum on both data sets and on the data set without the contribution.
    """
    second_value = -shift if relation == "replace-one" else 0.0
    return NoisyValue(noise, (shift, second_value, 0.0))


def noisy_shift(noise: NoiseDistribution, relation: str, shift: int) -> NoisyValue:
    """Return the attack on a noisy number that differs by `shift` between two neighbouring data sets.

    A third data set lacks the client or record in which the two differ. Its number is that of the second data set.
    Under replace-one it is unknown, and the third data set is left out.

    Args:
        noise: distribution of the noise.
        relation: neighbouring relation: replace-one, zero-out-one or add-or-remove-one.
        shift: difference of the number, in units of the noise scale.

    Returns:
        The attack, with the value of the number on each data set.
    """
    if relation == "replace-one":
        return NoisyValue(noise, (float(shift), 0.0))
    return NoisyValue(noise, (float(shift), 0.0, 0.0))

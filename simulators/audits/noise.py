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
    """A distribution of noise that can be drawn, and of which the density is known up to a constant."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent values.

        Args:
            generator: source of randomness.
            count: number of values.

        Returns:
            The values, (count,).
        """

    def log_density(self, values: Floats) -> Floats:
        """Return the log density of each value, up to a constant.

        Args:
            values: values of the noise, any shape.

        Returns:
            Log densities of the same shape; −inf outside the support.
        """


@dataclass(frozen=True)
class NormalNoise:
    """Standard normal noise, N(0, 1)."""

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent values, by the sampler that a server would run on a seeded source of bits.

        Args:
            generator: source of randomness, which seeds the sampler.
            count: number of values.

        Returns:
            The values, (count,).
        """
        return seeded(generator).normal((count,))

    def log_density(self, values: Floats) -> Floats:
        """Return the log density −y²/2 of each value y, up to a constant."""
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
        """Return the log density −|y| of each value y, up to a constant."""
        return np.asarray(-np.abs(values))


@dataclass(frozen=True)
class IntegerNoise:
    """Discrete Laplace noise: an integer y with |y| ≤ m has a probability proportional to e^(−α|y|).

    Attributes:
        decay_rate: decay rate α, above 0.
        noise_levels: largest absolute value m; None for noise that is not truncated.
        exact: whether truncated noise is drawn by the sampler that a client would run, on a seeded source of bits.
    """

    decay_rate: float
    noise_levels: int | None
    exact: bool = False

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent integers y with probability proportional to e^(−α|y|), for the decay rate α.

        Args:
            generator: source of randomness.
            count: number of integers, at least 0.

        Returns:
            The integers as floats, (count,). They come from the exact sampler if `exact` is set and the noise is
            truncated.
        """
        if self.exact and self.noise_levels is not None:
            return exact_draws(generator, self.decay_rate, self.noise_levels, count).astype(np.float64)
        return integer_draws(generator, self.decay_rate, self.noise_levels, count)

    def log_density(self, values: Floats) -> Floats:
        """Return the log probability −α|y| of each integer y, for the decay rate α, up to a constant.

        Args:
            values: integers y, any shape.

        Returns:
            Log probabilities of the same shape; −∞ beyond the truncation.
        """
        magnitudes = np.abs(values)
        untruncated = np.asarray(-self.decay_rate * magnitudes)
        if self.noise_levels is None:
            return untruncated
        return np.where(magnitudes <= self.noise_levels, untruncated, -math.inf)


@dataclass(frozen=True)
class NoisyValue:
    """A number that differs between neighbouring data sets, released with noise.

    The code calls the data sets that an attacker distinguishes worlds. The worlds are FIRST and SECOND, two
    neighbouring data sets, and possibly ABSENT, without the client or record in which they differ.

    Attributes:
        noise: distribution of the noise.
        value_in_world: the number in each world, in units of the noise scale.
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

        The log densities of one output differ only by the value that the noise is added to.

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its output is drawn, (runs,).

        Returns:
            The log densities, (worlds, runs), up to a constant that all worlds share.
        """
        values = np.asarray(self.value_in_world)
        released = values[world] + self.noise.draw(generator, world.size)
        log_densities = [self.noise.log_density(released - value) for value in self.value_in_world]
        return np.stack(log_densities)

    @property
    def step(self) -> float:
        """Difference of the number between FIRST and SECOND, for one occurrence of the changed record."""
        return self.value_in_world[FIRST] - self.value_in_world[SECOND]


def noisy_sum(noise: NoiseDistribution, relation: str, shift: float) -> NoisyValue:
    """Return the attack on a noisy sum in which one contribution is a number between −shift and shift.

    Args:
        noise: distribution of the noise.
        relation: replace-one has opposite contributions in the two data sets; the other relations have one and none.
        shift: norm of a contribution in units of the noise.

    Returns:
        The attack, with the value of the sum on the two data sets and on the one without the contribution.
    """
    second = -shift if relation == "replace-one" else 0.0
    return NoisyValue(noise, (shift, second, 0.0))


def noisy_shift(noise: NoiseDistribution, relation: str, shift: int) -> NoisyValue:
    """Return the attack on a noisy number that differs by `shift` between two neighbouring data sets.

    A third data set lacks the client or record in which the two differ. Under replace-one the number on the third data
    set is unknown. It is then left out.

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

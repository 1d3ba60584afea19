"""Symmetric log-concave noise on integers: discrete Gaussian and Skellam noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ive

from epsilond.mechanisms.randomness import seeded
from epsilond.mechanisms.two_sided import discrete_gaussian
from epsilond.simulators.audits.worlds import Floats


@dataclass(frozen=True)
class DiscreteGaussianNoise:
    """Discrete Gaussian noise: an integer y has a probability proportional to e^(−y²/(2σ²)).

    Attributes:
        scale: parameter σ, in grid steps.
    """

    scale: float

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent integers, by the sampler that a server would run.

        Args:
            generator: source of randomness, which seeds the sampler.
            count: number of integers.

        Returns:
            The integers as floats, (count,).
        """
        return np.asarray(discrete_gaussian(self.scale, (count,), seeded(generator)), dtype=np.float64)

    def log_density(self, values: Floats) -> Floats:
        """Return the logarithm −y²/(2σ²) of each value's probability, up to a constant.

        Args:
            values: integers y, any shape.

        Returns:
            Logarithms of the same shape.
        """
        return np.asarray(-0.5 * np.square(values / self.scale))


@dataclass(frozen=True)
class SkellamNoise:
    """Skellam noise: the difference of two independent Poisson variables with equal means.

    Attributes:
        variance: variance μ of the noise, which is the sum of both means, in squared grid steps.
    """

    variance: float

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """Draw independent integers, each the difference of two Poisson variables.

        Args:
            generator: source of randomness.
            count: number of integers.

        Returns:
            The integers as floats, (count,).
        """
        first, second = generator.poisson(0.5 * self.variance, (2, count))
        return np.asarray(first - second, dtype=np.float64)

    def log_density(self, values: Floats) -> Floats:
        """Return the logarithm of each value's probability, log I_|y|(μ) − μ with the modified Bessel function I.

        Args:
            values: integers y, any shape.

        Returns:
            Log probabilities of the same shape; −∞ where the probability is below every double.
        """
        scaled_bessel = ive(np.abs(values), self.variance)  # I_|y|(μ) e^(−μ)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(scaled_bessel))

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
        """Draw independent integers with the package's sampler for servers, which here reads a numpy generator.

        Args:
            generator: source of randomness.
            count: number of integers.

        Returns:
            The integers as floats, (count,).
        """
        return np.asarray(discrete_gaussian(self.scale, (count,), seeded(generator)), dtype=np.float64)

    def log_density(self, values: Floats) -> Floats:
        """Return the log probability −y²/(2σ²) of each integer y, up to an added constant.

        Args:
            values: integers y, any shape.

        Returns:
            Log probabilities of the same shape.
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
        """Draw independent integers, each the difference of two Poisson variables with mean μ/2.

        Args:
            generator: source of randomness.
            count: number of integers.

        Returns:
            The integers as floats, (count,).
        """
        minuends, subtrahends = generator.poisson(0.5 * self.variance, (2, count))
        return np.asarray(minuends - subtrahends, dtype=np.float64)

    def log_density(self, values: Floats) -> Floats:
        """Return the log probability of each integer y.

        The probability is I_|y|(μ) e^(−μ), where I is the modified Bessel function of the first kind.

        Args:
            values: integers y, any shape.

        Returns:
            Log probabilities of the same shape; −∞ where the probability underflows to 0.
        """
        probabilities = ive(np.abs(values), self.variance)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(probabilities))

"""Noise on a number of random size, which is drawn in every release and not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.audits.noise import NoiseDistribution, noisy_sum
from epsilond.simulators.audits.worlds import Floats, Integers

LEAST_WEIGHT = 1e-18
"""Probability below which a size is left out of the statistic; it is still drawn."""


@dataclass(frozen=True)
class RandomlySizedValue:
    """Attack on a contribution of random size that is released with noise.

    The attacker distinguishes two data sets, which differ in one client or record, and a third one without it. The
    statistic is the log density, a mixture over the sizes. Sizes of tiny probability are left out of it, which makes
    the attack only weaker.

    Attributes:
        noise: distribution of the noise.
        sizes: possible sizes of the contribution, in units of the noise scale.
        probabilities: probability of each size.
        signs: sign of the contribution on each data set; the released number is the drawn size times this sign. It is 0
            without the contribution.
    """

    noise: NoiseDistribution
    sizes: tuple[float, ...]
    probabilities: tuple[float, ...]
    signs: tuple[float, ...]

    @property
    def worlds(self) -> int:
        """Number of data sets ("worlds")."""
        return len(self.signs)

    @property
    def work(self) -> float:
        """Cost of one output, with a density for each size, in units of Gaussian noise on one number."""
        return 1.0 + 0.5 * len(self.sizes)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outputs, and return their log densities on every data set ("world").

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its output is drawn.

        Returns:
            The log densities, (worlds, runs).
        """
        weights = np.asarray(self.probabilities)
        probabilities = weights / weights.sum()  # numpy rejects probabilities that do not sum to 1 after rounding
        sizes = generator.choice(np.asarray(self.sizes), size=world.size, p=probabilities)
        signs = np.asarray(self.signs)[world]
        released = sizes * signs + self.noise.draw(generator, world.size)
        return np.stack([self._log_density(released, sign) for sign in self.signs])

    def _log_density(self, released: Floats, sign: float) -> Floats:
        """Return the log density of outputs on one data set, as a mixture over the sizes.

        Args:
            released: outputs, (runs,).
            sign: +1 or −1 if the changed record adds a positive or a negative contribution; 0 without the record.

        Returns:
            Log densities, (runs,), up to a constant that is the same for all data sets.
        """
        if sign == 0.0:
            return self.noise.log_density(released)
        total = np.full(released.size, -math.inf)
        for size, probability in zip(self.sizes, self.probabilities, strict=True):
            # Sizes with negligible probability are left out of the mixture.
            if probability > LEAST_WEIGHT:
                log_density = self.noise.log_density(released - sign * size)
                np.logaddexp(total, math.log(probability) + log_density, out=total)
        return total


def randomly_sized(
    noise: NoiseDistribution, relation: str, sizes: tuple[float, ...], probabilities: tuple[float, ...]
) -> RandomlySizedValue:
    """Return the attack on a noisy sum in which one contribution has a random size.

    Args:
        noise: distribution of the noise.
        relation: replace-one has opposite contributions in the two data sets; the other relations have one and none.
        sizes: norms of the contribution, in units of the noise.
        probabilities: probability of each size.

    Returns:
        The attack, with the sign of the contribution on each data set.
    """
    signs = noisy_sum(noise, relation, 1.0).value_in_world
    return RandomlySizedValue(noise, sizes, probabilities, signs)

"""Attacks on random batches, if the attacker sees whether the changed record (the victim) is in one, and if not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from epsilond.simulators.audits.draws.participation import SampledParticipation
from epsilond.simulators.audits.noise import NoisyValue
from epsilond.simulators.audits.worlds import (
    ABSENT,
    FIRST,
    SECOND,
    AttackedMechanism,
    Floats,
    Integers,
    mix_log_densities,
)

LEAST_WEIGHT = 1e-18
"""Probability of either tail of multiplicities that the statistic leaves out; they are still drawn."""


@dataclass(frozen=True)
class HiddenDraw:
    """Attack on a mechanism that runs on a secret random batch of records.

    A record outside the batch must not change the output. This holds for Poisson batches, and for batches of fixed size
    in which all other records contribute zero. An attacker distinguishes two data sets, FIRST and SECOND, which differ
    in one record, the victim's. A third case, ABSENT, is that the batch does not contain this record.

    Attributes:
        inner: mechanism on the batch.
        participation: draw of the victim's record.
        removal: True if SECOND is the data set without the victim's record, so that no batch contains it there.
    """

    inner: AttackedMechanism
    participation: SampledParticipation
    removal: bool

    @property
    def worlds(self) -> int:
        """Number of distributions that are compared: FIRST, SECOND and ABSENT, the batch without the record."""
        return 3

    @property
    def work(self) -> float:
        """Cost of drawing a batch, and of the mechanism on it."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outputs, and return their log densities in each case.

        FIRST and SECOND are neighbouring data sets, and ABSENT is a batch without the record in which they differ. The
        batch is secret, so that the density is a mixture of the cases with and without the record.

        Args:
            generator: source of randomness.
            world: for each run, the case FIRST, SECOND or ABSENT in which its output is drawn.

        Returns:
            The log densities in FIRST, SECOND and ABSENT, (3, runs).
        """
        is_included = self.participation.draw(generator, world.size)
        logs = self.inner.draw(generator, np.where(is_included, world, ABSENT))
        absent = logs[ABSENT]
        rate = self.participation.rate
        first = mix_log_densities(rate, logs[FIRST], absent)
        second = absent
        if not self.removal:
            second = mix_log_densities(rate, logs[SECOND], absent)
        return np.stack([first, second, absent])


@dataclass(frozen=True)
class FixedSizeDraw:
    """Attack on a secret random batch of fixed size, in which all records except the changed one are equal.

    FIRST and SECOND are the two data sets; they differ in one record, the victim's. All other records equal the record
    that the victim has in SECOND. If the batch does not contain the victim, the output is therefore distributed as in
    SECOND.

    Attributes:
        inner: mechanism on the batch.
        participation: draw of the victim's record.
        worlds: number of data sets that the attacker distinguishes.
    """

    inner: AttackedMechanism
    participation: SampledParticipation
    worlds: int = 2

    @property
    def work(self) -> float:
        """Cost of drawing a batch, and of the mechanism on it."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outputs, and return their log densities on the data sets FIRST and SECOND.

        The data sets differ in one record, the victim's. On FIRST the density is a mixture over batches with and
        without that record. On SECOND all batches are equal.

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its output is drawn.

        Returns:
            The log densities, (2, runs).
        """
        is_included = self.participation.draw(generator, world.size)
        logs = self.inner.draw(generator, np.where(is_included, world, SECOND))
        first = mix_log_densities(self.participation.rate, logs[FIRST], logs[SECOND])
        return np.stack([first, logs[SECOND]])


@dataclass(frozen=True)
class SeenDraw:
    """Attack on a random batch with members that the attacker sees.

    The data sets differ in one client or record, the victim. If it is not in the batch, the output reveals nothing.

    Attributes:
        inner: mechanism on the batch.
        participation: draw of the victim.
    """

    inner: AttackedMechanism
    participation: SampledParticipation

    @property
    def worlds(self) -> int:
        """Number of worlds, the data sets that the attacker distinguishes; as for the mechanism on the batch."""
        return self.inner.worlds

    @property
    def work(self) -> float:
        """Cost of drawing a batch, and of the mechanism on it."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outputs, and return their log densities on each data set.

        If the changed client or record does not participate, the output reveals nothing, and all its log densities are
        0.

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its output is drawn.

        Returns:
            The log densities, (worlds, runs).
        """
        is_included = self.participation.draw(generator, world.size)
        logs = np.zeros((self.worlds, world.size))
        logs[:, is_included] = self.inner.draw(generator, world[is_included])
        return logs


@dataclass(frozen=True)
class RepeatedDraw:
    """Attack on a batch drawn with replacement, for noise on one number: a record drawn k times counts k times.

    FIRST and SECOND are the two data sets; they differ in one record, the victim's. All other records equal the record
    that the victim has in SECOND. On FIRST the number is shifted by k steps, where k is how often the batch contains
    the victim's record, its multiplicity.

    Attributes:
        noisy_value: the number with noise; its `step` is the shift for one occurrence of the victim's record.
        batch_size: number of independent draws.
        population: number of records that are drawn from.
        worlds: number of data sets that the attacker distinguishes.
    """

    noisy_value: NoisyValue
    batch_size: int
    population: int
    worlds: int = 2

    @property
    def work(self) -> float:
        """Cost of one output, with a density for each multiplicity, in units of Gaussian noise on one number."""
        return 2.0 + 0.5 * len(self.multiplicities)

    @property
    def _multiplicity(self) -> Any:
        """Binomial distribution of how often the changed record is in a batch."""
        from scipy.stats import binom  # noqa: PLC0415  the import takes a second, and only this draw needs it

        return binom(self.batch_size, 1.0 / self.population)

    @property
    def multiplicities(self) -> range:
        """Multiplicities of the changed record that enter the statistic, without tails of probability `LEAST_WEIGHT`.

        Leaving them out makes the attack only weaker, because any statistic gives a valid lower bound.
        """
        distribution = self._multiplicity
        first = max(int(distribution.ppf(LEAST_WEIGHT)), 0)
        last = max(int(distribution.isf(LEAST_WEIGHT)), 1)
        return range(first, last + 1)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw outputs, and return their log densities on the data sets FIRST and SECOND.

        The data sets differ in one record, the victim's. On FIRST the density is a mixture over the number of times
        that the batch contains this record.

        Args:
            generator: source of randomness.
            world: index of the data set of each run, on which its output is drawn.

        Returns:
            The log densities, (2, runs).
        """
        distribution = self._multiplicity
        times = generator.binomial(self.batch_size, 1.0 / self.population, size=world.size)
        shifts = np.where(world == FIRST, times * self.noisy_value.step, 0.0)
        outputs = shifts + self.noisy_value.noise.draw(generator, world.size)

        # The density on FIRST is summed over the multiplicities, as logarithms.
        total = np.full(world.size, -math.inf)
        for count in self.multiplicities:
            weight = float(distribution.logpmf(count))
            if weight > -math.inf:
                log_density = self.noisy_value.noise.log_density(outputs - count * self.noisy_value.step)
                np.logaddexp(total, weight + log_density, out=total)
        return np.stack([total, self.noisy_value.noise.log_density(outputs)])


def log_mean_exp(logs: Floats) -> Floats:
    """Return the logarithm of the mean of the exponentials of `logs`, over the last axis."""
    return np.asarray(logsumexp(logs, axis=-1) - math.log(logs.shape[-1]))

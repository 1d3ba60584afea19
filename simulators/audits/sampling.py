"""Attacks on subsampling: the victim's participation is random, and the attacker sees it or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from epsilond.simulators.audits.noise import NoisyValue
from epsilond.simulators.audits.participation import SampledParticipation
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
"""Probability below which a multiplicity is left out of the statistic; it is still drawn."""


@dataclass(frozen=True)
class HiddenDraw:
    """A secret random batch. A record outside the batch adds nothing to the output.

    This is so for Poisson batches, and for batches of fixed size in which all other records contribute zero.
    """

    inner: AttackedMechanism
    participation: SampledParticipation
    removal: bool
    """True if SECOND is the data set without the record, which is then never drawn."""

    @property
    def worlds(self) -> int:
        """Three worlds; ABSENT is the batch without the record."""
        return 3

    @property
    def work(self) -> float:
        """Cost of the draw and the mechanism."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Return the log densities of outputs, as mixtures over the draw."""
        is_included = self.participation.draw(generator, world.size)
        logs = self.inner.draw(generator, np.where(is_included, world, ABSENT))
        rate = self.participation.rate
        first = mix_log_densities(rate, logs[FIRST], logs[ABSENT])
        second = logs[ABSENT] if self.removal else mix_log_densities(rate, logs[SECOND], logs[ABSENT])
        return np.stack([first, second, logs[ABSENT]])


@dataclass(frozen=True)
class FixedSizeDraw:
    """A secret random batch of fixed size, in which all records except the victim's are equal.

    They equal the victim's record in the world SECOND. An output without the victim is therefore distributed as in
    SECOND.
    """

    inner: AttackedMechanism
    participation: SampledParticipation
    worlds: int = 2

    @property
    def work(self) -> float:
        """Cost of the draw and the mechanism."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Return the log densities: a mixture in FIRST. In SECOND the batch does not depend on the draw."""
        is_included = self.participation.draw(generator, world.size)
        logs = self.inner.draw(generator, np.where(is_included, world, SECOND))
        return np.stack([mix_log_densities(self.participation.rate, logs[FIRST], logs[SECOND]), logs[SECOND]])


@dataclass(frozen=True)
class SeenDraw:
    """A draw that the attacker sees. Without the victim the output carries no information."""

    inner: AttackedMechanism
    participation: SampledParticipation

    @property
    def worlds(self) -> int:
        """Worlds of the mechanism."""
        return self.inner.worlds

    @property
    def work(self) -> float:
        """Cost of the draw and the mechanism."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Return the log densities, all 0 if the victim does not participate."""
        is_included = self.participation.draw(generator, world.size)
        logs = np.zeros((self.worlds, world.size))
        logs[:, is_included] = self.inner.draw(generator, world[is_included])
        return logs


@dataclass(frozen=True)
class RepeatedDraw:
    """`batch_size` independent draws from `population`: a record drawn k times moves the value by k steps.

    All other records equal the victim's second record.
    """

    noisy_value: NoisyValue
    batch_size: int
    population: int
    worlds: int = 2

    @property
    def work(self) -> float:
        """Cost of one density per multiplicity."""
        return 2.0 + 0.5 * len(self.multiplicities)

    @property
    def _times(self) -> Any:
        """Binomial distribution of the multiplicity of the victim's record."""
        from scipy.stats import binom  # noqa: PLC0415  the import takes a second, and only this draw needs it

        return binom(self.batch_size, 1.0 / self.population)

    @property
    def multiplicities(self) -> range:
        """Multiplicities of probability at least `LEAST_WEIGHT`."""
        distribution = self._times
        first = max(int(distribution.ppf(LEAST_WEIGHT)), 0)
        last = max(int(distribution.isf(LEAST_WEIGHT)), 1)
        return range(first, last + 1)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Return the log densities: in FIRST a mixture over the multiplicity."""
        distribution = self._times
        times = generator.binomial(self.batch_size, 1.0 / self.population, size=world.size)
        shifts = np.where(world == FIRST, times * self.noisy_value.step, 0.0)
        outputs = shifts + self.noisy_value.noise.draw(generator, world.size)
        total = np.full(world.size, -math.inf)
        for count in self.multiplicities:
            weight = float(distribution.logpmf(count))
            if weight > -math.inf:
                log_density = self.noisy_value.noise.log_density(outputs - count * self.noisy_value.step)
                np.logaddexp(total, weight + log_density, out=total)
        return np.stack([total, self.noisy_value.noise.log_density(outputs)])


def mean_log(logs: Floats) -> Floats:
    """Return the logarithm of the mean of e^logs over the last axis."""
    return np.asarray(logsumexp(logs, axis=-1) - math.log(logs.shape[-1]))

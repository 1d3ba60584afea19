"""Batches: the victim is drawn or not, and the attacker knows it or does not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from epsilond.simulators.audits.noise import Added
from epsilond.simulators.audits.participation import SampledParticipation
from epsilond.simulators.audits.worlds import ABSENT, FIRST, SECOND, Attacked, Floats, Integers, mixed

LEAST_WEIGHT = 1e-18
"""Multiplicities rarer than this are left out of the statistic (they are drawn all the same)."""


@dataclass(frozen=True)
class HiddenDraw:
    """Who was drawn is secret. A record that is not drawn is missing: from a Poisson batch, or among zeros."""

    inner: Attacked
    participation: SampledParticipation
    removal: bool
    """SECOND is the data set without the record, so that it is never drawn there."""

    @property
    def worlds(self) -> int:
        """ABSENT is the batch without the record."""
        return 3

    @property
    def work(self) -> float:
        """The draw and the mechanism."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Densities are means over the draw."""
        drawn = self.participation.draw(generator, world.size)
        logs = self.inner.draw(generator, np.where(drawn, world, ABSENT))
        rate = self.participation.rate
        first = mixed(rate, logs[FIRST], logs[ABSENT])
        second = logs[ABSENT] if self.removal else mixed(rate, logs[SECOND], logs[ABSENT])
        return np.stack([first, second, logs[ABSENT]])


@dataclass(frozen=True)
class FixedSizeDraw:
    """A batch of fixed size, everyone else's record equal to the victim's second one: drawn or SECOND."""

    inner: Attacked
    participation: SampledParticipation
    worlds: int = 2

    @property
    def work(self) -> float:
        """The draw and the mechanism."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """In FIRST a mixture, in SECOND the batch is the same whoever is drawn."""
        drawn = self.participation.draw(generator, world.size)
        logs = self.inner.draw(generator, np.where(drawn, world, SECOND))
        return np.stack([mixed(self.participation.rate, logs[FIRST], logs[SECOND]), logs[SECOND]])


@dataclass(frozen=True)
class SeenDraw:
    """The attacker sees whether the victim takes part: without it there is nothing to learn."""

    inner: Attacked
    participation: SampledParticipation

    @property
    def worlds(self) -> int:
        """Those of the mechanism."""
        return self.inner.worlds

    @property
    def work(self) -> float:
        """The draw and the mechanism."""
        return self.participation.work + self.inner.work

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Zeros where it takes no part: equal densities."""
        drawn = self.participation.draw(generator, world.size)
        logs = np.zeros((self.worlds, world.size))
        logs[:, drawn] = self.inner.draw(generator, world[drawn])
        return logs


@dataclass(frozen=True)
class RepeatedDraw:
    """`batch_size` independent draws from `population`: drawn k times, the record moves the value k steps.

    Everyone else's record equals the victim's second one.
    """

    added: Added
    batch_size: int
    population: int
    worlds: int = 2

    @property
    def work(self) -> float:
        """A density for each multiplicity."""
        return 2.0 + 0.5 * len(self.multiplicities)

    @property
    def _times(self) -> Any:
        """The law of how often the record is drawn."""
        from scipy.stats import binom  # noqa: PLC0415  a second of imports, for this draw alone

        return binom(self.batch_size, 1.0 / self.population)

    @property
    def multiplicities(self) -> range:
        """Those that are not too rare."""
        law = self._times
        return range(max(int(law.ppf(LEAST_WEIGHT)), 0), max(int(law.isf(LEAST_WEIGHT)), 1) + 1)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """A mixture over how often it was drawn."""
        law = self._times
        times = generator.binomial(self.batch_size, 1.0 / self.population, size=world.size)
        moved = np.where(world == FIRST, times * self.added.step, 0.0)
        released = moved + self.added.noise.draw(generator, world.size)
        total = np.full(world.size, -math.inf)
        for count in self.multiplicities:
            weight = float(law.logpmf(count))
            if weight > -math.inf:
                np.logaddexp(
                    total, weight + self.added.noise.log_density(released - count * self.added.step), out=total
                )
        return np.stack([total, self.added.noise.log_density(released)])


def mean_log(logs: Floats) -> Floats:
    """Log of the mean of e^logs over the last axis."""
    return np.asarray(logsumexp(logs, axis=-1) - math.log(logs.shape[-1]))

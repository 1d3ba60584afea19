"""Reports in a random order: whose is whose is hidden, and only how they look together can be attacked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.audits.sampling import mean_log
from epsilond.simulators.audits.worlds import FIRST, SECOND, Attacked, Floats, Integers

CELLS = 500_000
"""Reports held at once."""


@dataclass(frozen=True)
class ShuffledReports:
    """The victim's report among those of `clients` − 1 others, whose contributions equal the victim's second one.

    Any of the reports may be the victim's, so in FIRST the density is that in SECOND times the mean over reports of
    their own likelihood ratio.
    """

    report: Attacked
    clients: int
    worlds: int = 2

    @property
    def work(self) -> float:
        """Every client's, and as much again to set them side by side."""
        return 1.5 * self.clients * max(self.report.work, 1.0)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """The likelihood ratio of the set of reports, in chunks."""
        rows = max(1, CELLS // self.clients)
        chunks = [self._chunk(generator, world[at : at + rows]) for at in range(0, world.size, rows)]
        return np.concatenate(chunks, axis=1) if chunks else np.zeros((2, 0))

    def _chunk(self, generator: np.random.Generator, world: Integers) -> Floats:
        worlds = np.full((world.size, self.clients), SECOND, dtype=np.int64)
        worlds[:, 0] = world
        logs = self.report.draw(generator, worlds.ravel()).reshape(-1, world.size, self.clients)
        ratio = logs[FIRST] - logs[SECOND]
        revealed = np.isposinf(ratio).any(axis=1)
        first = mean_log(np.where(np.isposinf(ratio), 0.0, ratio))
        return np.stack([np.where(revealed, 0.0, first), np.where(revealed, -math.inf, 0.0)])


@dataclass(frozen=True)
class ShuffledResponses:
    """Randomized response: the counts of the categories are all there is.

    Others are of a third category where there is one, so that what they report of 0 and 1 is lies alone; with two
    categories they are of the second.
    """

    epsilon: float
    categories: int
    clients: int
    worlds: int = 2
    work: float = 3.0

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Σ_r v_r h_r/g_r in each world: v the victim's law of reports, h the counts, g the others' law."""
        sizes = np.asarray([1, 1] if self.categories == 2 else [1, 1, 1, self.categories - 3], dtype=np.float64)
        others = self._law(2 if self.categories > 2 else 1, sizes)
        laws = np.stack([self._law(FIRST, sizes), self._law(SECOND, sizes)])
        counts = generator.multinomial(self.clients - 1, others * sizes, size=world.size).astype(np.float64)
        ends = np.cumsum(laws * sizes, axis=1)[:, :-1]
        place = (generator.random(world.size)[:, None] >= ends[world]).sum(axis=1)
        counts[np.arange(world.size), place] += 1.0
        return np.asarray(np.log((laws / others) @ counts.T))

    def _law(self, category: int, sizes: Floats) -> Floats:
        """Probability of one report of each group, on a record of `category`."""
        lie = math.exp(-self.epsilon - math.log1p((self.categories - 1) * math.exp(-self.epsilon)))
        law = np.full(sizes.size, lie)
        law[category] = lie * math.exp(self.epsilon)
        return law

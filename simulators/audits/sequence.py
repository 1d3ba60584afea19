"""One mechanism after another on the same data set: what the attacker learns adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.audits.worlds import Attacked, Floats, Integers


@dataclass(frozen=True)
class InSequence:
    """Each of `parts` is run as many times as its count says, with randomness of its own."""

    parts: tuple[tuple[Attacked, int], ...]

    @property
    def worlds(self) -> int:
        """ABSENT has a law only where every part gives it one."""
        return min((part.worlds for part, _ in self.parts), default=3)

    @property
    def work(self) -> float:
        """Of all runs."""
        return sum(part.work * times for part, times in self.parts)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Independent outputs: log densities are summed."""
        total = np.zeros((self.worlds, world.size))
        for part, times in self.parts:
            for _ in range(times):
                total += part.draw(generator, world)[: self.worlds]
        return total


def in_sequence(parts: Sequence[tuple[Attacked, int]]) -> Attacked:
    """The parts in their order; a single run of one part is that part."""
    if len(parts) == 1 and parts[0][1] == 1:
        return parts[0][0]
    return InSequence(tuple(parts))

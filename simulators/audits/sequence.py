"""Sequences of mechanisms on the same data set, with privacy losses that add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.audits.worlds import AttackedMechanism, Floats, Integers


@dataclass(frozen=True)
class InSequence:
    """Attacked mechanism that consists of several mechanisms, which run one after another and independently.

    Attributes:
        parts: the mechanisms, each with its number of runs.
    """

    parts: tuple[tuple[AttackedMechanism, int], ...]

    @property
    def worlds(self) -> int:
        """Number of data sets ("worlds"): 3 if every part has a known distribution without the victim, otherwise 2."""
        return min((part.worlds for part, _ in self.parts), default=3)

    @property
    def work(self) -> float:
        """Cost of all runs."""
        return sum(part.work * times for part, times in self.parts)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """Draw the outputs of all parts, and return their joint log densities on every data set ("world").

        Args:
            generator: source of randomness.
            world: index of the data set of each run, (n,), for n runs.

        Returns:
            Sums of the log densities of the independent outputs, (worlds, n).
        """
        log_densities = np.zeros((self.worlds, world.size))
        for part, times in self.parts:
            for _run in range(times):
                log_densities += part.draw(generator, world)[: self.worlds]
        return log_densities


def in_sequence(parts: Sequence[tuple[AttackedMechanism, int]]) -> AttackedMechanism:
    """Return the mechanism that runs several mechanisms one after another, with independent randomness.

    Args:
        parts: the mechanisms, each with its number of runs, at least 1.

    Returns:
        The sequence. A single run of one mechanism is returned as that mechanism.
    """
    if len(parts) == 1:
        mechanism, runs = parts[0]
        if runs == 1:
            return mechanism
    return InSequence(tuple(parts))

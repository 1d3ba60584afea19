"""Mechanisms with a handful of outputs: randomized response, and the mechanism that is (ε, δ) and nothing better."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.audits.worlds import Floats, Integers


@dataclass(frozen=True)
class Outcomes:
    """`log_probabilities[world][outcome]`; outcomes that all worlds give alike may be counted as one."""

    log_probabilities: tuple[tuple[float, ...], ...]
    work: float = 1.0

    @property
    def worlds(self) -> int:
        """One row each."""
        return len(self.log_probabilities)

    def draw(self, generator: np.random.Generator, world: Integers) -> Floats:
        """By inversion; an outcome of probability 0 is never drawn."""
        logs = np.asarray(self.log_probabilities)
        uniform = generator.random(world.size)
        outcome = np.zeros(world.size, dtype=np.int64)
        for number, row in enumerate(np.exp(logs)):
            here = world == number
            possible = np.flatnonzero(row)
            ends = np.cumsum(row[possible])[:-1] / row.sum()
            outcome[here] = possible[np.searchsorted(ends, uniform[here], side="right")]
        return np.asarray(logs[:, outcome])


def response(epsilon: float, categories: int) -> Outcomes:
    """Category 0 in one world and 1 in the other; all further categories are one outcome."""
    log_other = -epsilon - math.log1p((categories - 1) * math.exp(-epsilon))
    log_kept = log_other + epsilon
    rest = log_other + math.log(categories - 2) if categories > 2 else -math.inf
    return Outcomes(((log_kept, log_other, rest), (log_other, log_kept, rest)))


def canonical(epsilon: float, delta: float, worlds: int) -> Outcomes:
    """With probability δ the output names the data set, else it is randomized response at ε.

    Without the record the mechanism is as with the second data set, where the relation is about its absence.
    """
    log_delta = math.log(delta) if delta > 0 else -math.inf
    log_true = math.log1p(-delta) - math.log1p(math.exp(-epsilon))
    first = (log_delta, log_true, log_true - epsilon, -math.inf)
    second = first[::-1]
    return Outcomes((first, second, second)[:worlds])

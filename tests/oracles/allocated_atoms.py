"""Random allocation of mechanisms with few outcomes, by enumeration of all outputs of all batches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

Outcome = tuple[float, float]
"""Masses of one outcome with the unit in the batch and without it."""


def discrete_laplace(decay_rate: float, shift: int) -> list[Outcome]:
    """Geometric noise around `shift` and around 0; outcomes beyond either centre have one ratio and are merged."""
    r = math.exp(-decay_rate)
    unit, tail = (1.0 - r) / (1.0 + r), 1.0 / (1.0 + r)
    inner = [(unit * r ** (shift - y), unit * r**y) for y in range(1, shift)]
    return [(tail * r**shift, tail), *inner, (tail, tail * r**shift)]


def epochs_of(batch: Sequence[Outcome], epochs: int) -> list[Outcome]:
    """Masses of the outputs of one batch in several epochs."""
    runs = itertools.product(batch, repeat=epochs)
    return [(math.prod(one[0] for one in run), math.prod(one[1] for one in run)) for run in runs]


def allocated(batch: Sequence[Outcome], steps: int, chosen: int = 1) -> Iterator[Outcome]:
    """Masses of the outputs of all batches, with the unit in a random set of batches and without it."""
    sets = list(itertools.combinations(range(steps), chosen))
    for outputs in itertools.product(batch, repeat=steps):
        absent = math.prod(masses[1] for masses in outputs)
        present = math.fsum(
            math.prod(masses[0 if i in held else 1] for i, masses in enumerate(outputs)) for held in sets
        )
        yield present / len(sets), absent


def divergences(outputs: Sequence[Outcome], epsilon: float) -> tuple[float, float]:
    """Both hockey-stick divergences, of removing and of adding."""
    gamma = math.exp(epsilon)
    return (
        math.fsum(max(present - gamma * absent, 0.0) for present, absent in outputs),
        math.fsum(max(absent - gamma * present, 0.0) for present, absent in outputs),
    )

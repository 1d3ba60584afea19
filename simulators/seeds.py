"""Randomness of repetitions: the same seed gives the same numbers, whoever draws them and in whatever order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

POPULATION = 2**32 - 1
"""First part of the keys of what a problem draws."""


def generators(seed: int, repetitions: Iterable[int]) -> list[np.random.Generator]:
    """One independent generator for each repetition, named by its number.

    That of repetition i is child i of `numpy.random.SeedSequence(seed)`, as `spawn` numbers its children: work may be
    cut into blocks and handed out in any way.
    """
    return [np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,))) for number in repetitions]


def own_stream(generator: np.random.Generator, part: int) -> np.random.Generator:
    """A stream of a repetition's own, beside the one of its generator and those of other parts."""
    told = generator.bit_generator.seed_seq
    assert isinstance(told, np.random.SeedSequence)
    return np.random.default_rng(np.random.SeedSequence(told.entropy, spawn_key=(*told.spawn_key, part)))


def population_generator(seed: int, *part: int) -> np.random.Generator:
    """That of a part of a problem's population, named by one number or more.

    Its key begins with `POPULATION` and has at least two numbers; a repetition's has one. So a problem and repetitions
    of the same seed never share a stream.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(POPULATION, *part)))

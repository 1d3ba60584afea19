"""Random streams of repetitions: a seed determines every stream, independently of the order of use."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

POPULATION = 2**32 - 1
"""First number in the keys of the random streams of a problem's population."""


def generators(seed: int, repetitions: Iterable[int]) -> list[np.random.Generator]:
    """Return an independent random generator for each repetition of a simulation.

    A generator depends only on the seed and the repetition's number, so that repetitions may be divided into blocks in
    any way. That of repetition i is child i of `numpy.random.SeedSequence(seed)`, numbered as by `spawn`.

    Args:
        seed: seed of the simulation.
        repetitions: numbers of the repetitions, from 0.

    Returns:
        One generator for each repetition, in the given order.
    """
    sequences = [np.random.SeedSequence(seed, spawn_key=(number,)) for number in repetitions]
    return [np.random.default_rng(sequence) for sequence in sequences]


def own_stream(generator: np.random.Generator, part: int) -> np.random.Generator:
    """Return a new random generator that is derived from the generator of a repetition.

    It is independent of the given generator, which does not advance, and of new generators with other numbers.

    Args:
        generator: generator of the repetition, as `generators` returns it.
        part: number of the new generator, at least 0.
    """
    parent = generator.bit_generator.seed_seq
    assert isinstance(parent, np.random.SeedSequence)
    child = np.random.SeedSequence(parent.entropy, spawn_key=(*parent.spawn_key, part))
    return np.random.default_rng(child)


def population_generator(seed: int, *part: int) -> np.random.Generator:
    """Return the random generator of one part of a problem's population.

    Its key begins with `POPULATION` and has at least two numbers, whereas a repetition's key has one. A problem and
    repetitions of the same seed therefore never share a stream.

    Args:
        seed: seed of the problem.
        part: one number or more, which identify the part.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(POPULATION, *part)))

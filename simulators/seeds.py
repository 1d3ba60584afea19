"""Randomness of repetitions: the same seed gives the same numbers, whoever draws them and in whatever order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def generators(seed: int, repetitions: Iterable[int]) -> list[np.random.Generator]:
    """One independent generator for each repetition, named by its number.

    That of repetition i is child i of `numpy.random.SeedSequence(seed)`, as `spawn` numbers its children: work may be
    cut into blocks and handed out in any way.
    """
    return [np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,))) for number in repetitions]

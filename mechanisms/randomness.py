"""Where random bits come from: the operating system's generator, or seeded ones for tests and simulations.

`secure()` keeps no state, cannot be seeded and is safe after a fork. Everything else here is reproducible, and so no
protection at all: whoever has the seed takes the noise off again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

WORD = 64
SUMMANDS = 4
"""Independent normal numbers in each that `secure()` gives."""
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Place = tuple[int, ...]


class RandomSource(Protocol):
    """A source of random bits, and of what is made of them in arrays of any shape."""

    def words(self, shape: tuple[int, ...]) -> Words:
        """64 fair bits for each entry."""

    def more(self, place: Place) -> int:
        """64 further bits for the entry at a place of an array that was drawn."""

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """Multiples of 2^−53 in [0, 1)."""

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Standard normal numbers, in floating point."""

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Independently true with that probability, in [0, 1]."""

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """Independent uniform subsets of `size` of 0, …, population − 1, in no particular order: (*shape, size)."""

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """Independent uniform orders of 0, …, count − 1: (*shape, count)."""


class Secure:
    """The operating system's generator. Integers, flips, subsets and permutations have exactly their law."""

    def words(self, shape: tuple[int, ...]) -> Words:
        """Of `os.urandom`."""
        return np.frombuffer(os.urandom(8 * math.prod(shape)), dtype=np.uint64).reshape(shape)

    def more(self, place: Place) -> int:
        """The same for every place."""
        del place
        return int.from_bytes(os.urandom(8), "little")

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """The first 53 bits of words."""
        return np.asarray(np.ldexp((self.words(shape) >> np.uint64(11)).astype(np.float64), -53))

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Half the sum of four independent numbers by Box and Muller, from 512 bits.

        A sum has far more preimages than a single number, so that rounding tells less of how a value came about
        (Holohan and Braghin 2021). It still is floating point: no number is beyond ±19, and some doubles never occur.
        """
        count = math.prod(shape)
        total = np.zeros(count)
        for _ in range(SUMMANDS):
            radius = np.sqrt(-2.0 * np.log(np.ldexp(self.words((count,)).astype(np.float64) + 0.5, -WORD)))
            # The sine of the same angle would make a pair: two terms of one pair add up to a single number again.
            total += radius * np.cos(2.0 * math.pi * self.uniform((count,)))
        return np.asarray(total / math.sqrt(SUMMANDS)).reshape(shape)

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Exactly: words below the probability, with more bits where the first 64 leave it open."""
        scaled = Fraction(probability) * (1 << WORD)
        floor = scaled.numerator // scaled.denominator
        if floor >= 1 << WORD:
            return np.ones(shape, dtype=np.bool_)
        drawn = self.words(shape)
        chosen = np.asarray(drawn < np.uint64(floor))
        for place in map(tuple, np.argwhere(drawn == np.uint64(floor)).tolist()):
            chosen[place] = is_below(int(drawn[place]), Fraction(probability), self, place)
        return chosen

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """The beginnings of permutations."""
        if size == population:
            return np.broadcast_to(np.arange(population), (*shape, population))
        return self.permutations(shape, population)[..., :size]

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """The order of independent words, drawn again where two are equal: then all orders are equally likely."""
        rows = math.prod(shape)
        found = np.empty((rows, count), dtype=np.int64)
        missing = np.arange(rows)
        while missing.size:
            keys = self.words((missing.size, count))
            order = np.argsort(keys, axis=-1)
            ordered = np.take_along_axis(keys, order, axis=-1)
            distinct = np.all(ordered[:, 1:] != ordered[:, :-1], axis=-1)
            found[missing[distinct]] = order[distinct]
            missing = missing[~distinct]
        return found.reshape(*shape, count)


@dataclass(frozen=True)
class Seeded:
    """One generator of numpy: reproducible, and no protection."""

    generator: np.random.Generator

    def words(self, shape: tuple[int, ...]) -> Words:
        """By numpy."""
        return self.generator.integers(0, (1 << WORD) - 1, endpoint=True, dtype=np.uint64, size=shape)

    def more(self, place: Place) -> int:
        """The next word."""
        del place
        return int(self.words(()))

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """By numpy."""
        return self.generator.random(shape)

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """By numpy."""
        return self.generator.standard_normal(shape)

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Uniform numbers below it, so that the law is rounded to 53 bits."""
        return np.asarray(self.uniform(shape) < probability)

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """Those with the smallest of independent keys. All of them need no draw, and stand in their own order."""
        if size == population:
            return np.broadcast_to(np.arange(population), (*shape, population))
        return np.argpartition(self.uniform((*shape, population)), size - 1, axis=-1)[..., :size]

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """By numpy."""
        return self.generator.permuted(np.broadcast_to(np.arange(count), (*shape, count)), axis=-1)


@dataclass(frozen=True)
class SideBySide:
    """Several generators, one for each row of every array: row i sees nothing of its neighbours.

    The first number of each shape is that of the generators.
    """

    generators: Sequence[np.random.Generator]

    def _rows(self, shape: tuple[int, ...]) -> list[Seeded]:
        if not shape or shape[0] != len(self.generators):
            raise ValueError(f"of {len(self.generators)} generators no array of shape {shape} is drawn")
        return [Seeded(generator) for generator in self.generators]

    def words(self, shape: tuple[int, ...]) -> Words:
        """Row i from generator i."""
        drawn = np.empty(shape, dtype=np.uint64)
        for row, source in enumerate(self._rows(shape)):
            drawn[row] = source.words(shape[1:])
        return drawn

    def more(self, place: Place) -> int:
        """From the generator of the place's row."""
        return int(Seeded(self.generators[place[0]]).words(()))

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """Row i from generator i."""
        return np.stack([source.uniform(shape[1:]) for source in self._rows(shape)])

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Row i from generator i."""
        return np.stack([source.normal(shape[1:]) for source in self._rows(shape)])

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Row i from generator i."""
        return np.stack([source.flips(probability, shape[1:]) for source in self._rows(shape)])

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """Row i from generator i."""
        return np.stack([source.subsets(shape[1:], population, size) for source in self._rows(shape)])

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """Row i from generator i."""
        return np.stack([source.permutations(shape[1:], count) for source in self._rows(shape)])


def secure() -> RandomSource:
    """The operating system's generator: what private data is released with, and the default everywhere."""
    return Secure()


def seeded(seed: int | np.random.Generator) -> RandomSource:
    """For tests and simulations only: a release with seeded noise protects nobody."""
    return Seeded(seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed))


def seeded_side_by_side(generators: Sequence[np.random.Generator]) -> RandomSource:
    """For simulations only: repetition i is row i of every array, from generator i."""
    return SideBySide(generators)


def is_below(word: int, probability: Fraction, source: RandomSource, place: Place) -> bool:
    """Whether a uniform number that begins with the bits of `word` is below a probability, exactly."""
    bits, value = WORD, word
    while True:
        scaled = probability * (1 << bits)
        if value + 1 <= scaled:
            return True
        if value >= scaled:
            return False
        value, bits = value << WORD | source.more(place), bits + WORD

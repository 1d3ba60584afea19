"""Sources of random bits: the operating system's generator, and seeded generators for tests and simulations.

`secure()` keeps no state, cannot be seeded and is safe after a fork. Seeded sources are reproducible and so protect
nothing: a reader of the seed can subtract the noise.
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
"""Number of bits in a random word."""
SUMMANDS = 4
"""Number of independent normal numbers that `secure()` adds for each normal number that it returns."""
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Place = tuple[int, ...]


class RandomSource(Protocol):
    """A source of random bits, with methods that draw arrays of random numbers from them.

    Every function that draws noise takes such a source, so that tests and simulations can replace the bits of the
    operating system by reproducible ones.
    """

    def words(self, shape: tuple[int, ...]) -> Words:
        """Draw an integer of 64 fair bits for each entry of an array."""

    def next_word(self, place: Place) -> int:
        """Draw 64 further bits for the entry at a place of an array that was drawn before."""

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """Draw an array of uniform multiples of 2^−53 in [0, 1)."""

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Draw an array of standard normal numbers, in floating point."""

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Draw an array of independent events, each with the given probability in [0, 1]."""

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """Draw independent uniform subsets of {0, …, population − 1}, each in an arbitrary order.

        Args:
            shape: shape of the array of subsets.
            population: number of elements of the full set.
            size: number of elements of each subset, at most `population`.

        Returns:
            An array of shape (*shape, size).
        """

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """Draw independent uniform orders of 0, …, count − 1, as an array of shape (*shape, count)."""


class Secure:
    """The operating system's generator. Integers, flips, subsets and permutations have exactly their distribution."""

    def words(self, shape: tuple[int, ...]) -> Words:
        """Read 64 bits of `os.urandom` for each entry."""
        return np.frombuffer(os.urandom(8 * math.prod(shape)), dtype=np.uint64).reshape(shape)

    def next_word(self, place: Place) -> int:
        """Read 64 bits of `os.urandom`, for any place."""
        del place
        return int.from_bytes(os.urandom(8), "little")

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """Draw uniform multiples of 2^−53 in [0, 1), from the first 53 bits of words."""
        first_bits = self.words(shape) >> np.uint64(11)
        return np.asarray(np.ldexp(first_bits.astype(np.float64), -53))

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Draw standard normal numbers, each half the sum of four independent Box–Muller numbers, from 512 bits.

        Far more combinations of random bits give the same sum than the same single number. So the rounded value reveals
        less about the bits (Holohan and Braghin 2021). The numbers are still floating point: their size is at most 19,
        and some doubles never occur.

        Args:
            shape: shape of the array of numbers.

        Returns:
            Numbers of the given shape.
        """
        count = math.prod(shape)
        total = np.zeros(count)
        for _ in range(SUMMANDS):
            uniform = np.ldexp(self.words((count,)).astype(np.float64) + 0.5, -WORD)
            radius = np.sqrt(-2.0 * np.log(uniform))
            angle = 2.0 * math.pi * self.uniform((count,))
            # The sine of the same angle is not used: the sum of both terms would be a single Box–Muller number again.
            total += radius * np.cos(angle)
        return np.asarray(total / math.sqrt(SUMMANDS)).reshape(shape)

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Draw independent events, each with exactly the given probability.

        An event happens if a uniform number in [0, 1) is below the probability. The first 64 bits of the number decide
        this, unless they equal those of the probability. Then more bits are drawn.

        Args:
            probability: probability in [0, 1], read as the exact fraction that the double is.
            shape: shape of the array of events.

        Returns:
            A mask of the given shape; true where the event happens.
        """
        threshold = math.floor(Fraction(probability) * (1 << WORD))  # first 64 bits of the probability
        if threshold >= 1 << WORD:
            return np.ones(shape, dtype=np.bool_)
        words = self.words(shape)
        happens = np.asarray(words < np.uint64(threshold))
        is_undecided = words == np.uint64(threshold)
        for place in map(tuple, np.argwhere(is_undecided).tolist()):
            happens[place] = is_below(int(words[place]), Fraction(probability), self, place)
        return happens

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """Draw independent uniform subsets: the first entries of permutations.

        Args:
            shape: shape of the array of subsets.
            population: number of elements of the full set.
            size: number of elements of each subset. The full set takes no random bits.

        Returns:
            An array of shape (*shape, size).
        """
        if size == population:
            return np.broadcast_to(np.arange(population), (*shape, population))
        return self.permutations(shape, population)[..., :size]

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """Draw independent uniform permutations, as the sorting order of independent words of 64 bits.

        Words are drawn again if two of them are equal. Therefore all permutations have exactly the same probability.

        Args:
            shape: shape of the array of permutations.
            count: number of elements that are permuted, at least 0.

        Returns:
            Permutations of 0, …, count − 1, as an array of shape (*shape, count).
        """
        rows = math.prod(shape)
        permutations = np.empty((rows, count), dtype=np.int64)
        missing_rows = np.arange(rows)
        while missing_rows.size:
            keys = self.words((missing_rows.size, count))
            order = np.argsort(keys, axis=-1)
            sorted_keys = np.take_along_axis(keys, order, axis=-1)
            is_distinct = np.all(sorted_keys[:, 1:] != sorted_keys[:, :-1], axis=-1)
            permutations[missing_rows[is_distinct]] = order[is_distinct]
            missing_rows = missing_rows[~is_distinct]
        return permutations.reshape(*shape, count)


@dataclass(frozen=True)
class Seeded:
    """A reproducible random source, made from a generator of numpy. Its noise protects no data.

    Attributes:
        generator: the generator, which every draw advances.
    """

    generator: np.random.Generator

    def words(self, shape: tuple[int, ...]) -> Words:
        """Draw 64 bits for each entry."""
        return self.generator.integers(0, (1 << WORD) - 1, endpoint=True, dtype=np.uint64, size=shape)

    def next_word(self, place: Place) -> int:
        """Draw 64 bits, for any place."""
        del place
        return int(self.words(()))

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """Draw uniform numbers in [0, 1)."""
        return self.generator.random(shape)

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Draw standard normal numbers."""
        return self.generator.standard_normal(shape)

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Draw independent events, with the probability rounded up to a multiple of 2^−53."""
        return np.asarray(self.uniform(shape) < probability)

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """Draw independent uniform subsets: the elements with the smallest of independent keys.

        Args:
            shape: shape of the array of subsets.
            population: number of elements of the full set.
            size: number of elements of each subset. The full set takes no draw, and is in ascending order.

        Returns:
            An array of shape (*shape, size).
        """
        if size == population:
            return np.broadcast_to(np.arange(population), (*shape, population))
        keys = self.uniform((*shape, population))
        order = np.argpartition(keys, size - 1, axis=-1)
        return order[..., :size]

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """Draw independent uniform permutations of 0, …, count − 1."""
        return self.generator.permuted(np.broadcast_to(np.arange(count), (*shape, count)), axis=-1)


@dataclass(frozen=True)
class SideBySide:
    """Several generators of numpy, one for each row of every array; the draws of row i depend on generator i only.

    Simulations draw all repetitions at once, one in each row. The first dimension of every requested shape must be the
    number of generators.

    Attributes:
        generators: one generator of numpy for each row.
    """

    generators: Sequence[np.random.Generator]

    def _rows(self, shape: tuple[int, ...]) -> list[Seeded]:
        """Return one source for each row of an array.

        Args:
            shape: shape of the array.

        Returns:
            One source for each row, in the order of the generators.

        Raises:
            ValueError: the first dimension is not the number of generators.
        """
        if not shape or shape[0] != len(self.generators):
            raise ValueError(f"of {len(self.generators)} generators no array of shape {shape} is drawn")
        return [Seeded(generator) for generator in self.generators]

    def words(self, shape: tuple[int, ...]) -> Words:
        """Draw 64 bits for each entry, row i from generator i."""
        words = np.empty(shape, dtype=np.uint64)
        for row, source in enumerate(self._rows(shape)):
            words[row] = source.words(shape[1:])
        return words

    def next_word(self, place: Place) -> int:
        """Draw 64 bits from the generator of the place's row."""
        return int(Seeded(self.generators[place[0]]).words(()))

    def uniform(self, shape: tuple[int, ...]) -> Floats:
        """Draw uniform numbers in [0, 1), row i from generator i."""
        return np.stack([source.uniform(shape[1:]) for source in self._rows(shape)])

    def normal(self, shape: tuple[int, ...]) -> Floats:
        """Draw standard normal numbers, row i from generator i."""
        return np.stack([source.normal(shape[1:]) for source in self._rows(shape)])

    def flips(self, probability: float, shape: tuple[int, ...]) -> Bools:
        """Draw independent events of a probability, row i from generator i."""
        return np.stack([source.flips(probability, shape[1:]) for source in self._rows(shape)])

    def subsets(self, shape: tuple[int, ...], population: int, size: int) -> Integers:
        """Draw independent uniform subsets, row i from generator i.

        Args:
            shape: shape of the array of subsets.
            population: number of elements of the full set.
            size: number of elements of each subset.

        Returns:
            An array of shape (*shape, size).
        """
        return np.stack([source.subsets(shape[1:], population, size) for source in self._rows(shape)])

    def permutations(self, shape: tuple[int, ...], count: int) -> Integers:
        """Draw independent uniform permutations, row i from generator i."""
        return np.stack([source.permutations(shape[1:], count) for source in self._rows(shape)])


def secure() -> RandomSource:
    """Return the operating system's generator, the default everywhere and the only source for private data."""
    return Secure()


def seeded(seed: int | np.random.Generator) -> RandomSource:
    """Return a reproducible source for tests and simulations; seeded noise in a release protects no data.

    Args:
        seed: a seed, or a generator of numpy, which is then advanced by the draws.

    Returns:
        A source with reproducible bits.
    """
    if isinstance(seed, np.random.Generator):
        return Seeded(seed)
    return Seeded(np.random.default_rng(seed))


def seeded_side_by_side(generators: Sequence[np.random.Generator]) -> RandomSource:
    """Return a source for simulations that draws row i of every array, for repetition i, from generator i.

    Args:
        generators: one generator per repetition.

    Returns:
        The source. The first dimension of every array that it draws is the number of generators.
    """
    return SideBySide(generators)


def is_below(word: int, probability: Fraction, source: RandomSource, place: Place) -> bool:
    """Decide exactly whether a uniform number in [0, 1) is below a probability.

    The first 64 bits are compared with the probability. Until the comparison is certain, 64 bits are appended.

    Args:
        word: the first 64 bits of the uniform number.
        probability: the threshold, in [0, 1].
        source: source of the further bits.
        place: place of the number in its array.

    Returns:
        Whether the uniform number is below the probability.
    """
    bits = WORD
    value = word
    while True:
        scaled = probability * (1 << bits)
        if value + 1 <= scaled:
            return True
        if value >= scaled:
            return False
        value = (value << WORD) | source.next_word(place)
        bits += WORD

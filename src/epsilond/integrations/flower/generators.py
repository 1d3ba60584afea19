"""The global generators of numpy and Python, which Flower uses for its noise and for the choice of clients."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np

WORDS: Final = 624
"""Number of 32-bit words in the state of numpy's global generator, the Mersenne Twister."""


class GeneratorStates:
    """Digests of the states that a random generator had before each round.

    A state that occurs again shows that the generator was reset, so that its random numbers repeat.
    """

    def __init__(self) -> None:
        self._digests: set[str] = set()

    def repeats(self, state: object) -> bool:
        """Store a state of the generator, and return whether it was stored before.

        Args:
            state: state of the generator; any value that can be pickled.
        """
        # Digests of 128 bits take little memory, and different states practically never have the same one.
        digest = hashlib.blake2b(pickle.dumps(state), digest_size=16).hexdigest()
        repeats = digest in self._digests
        self._digests.add(digest)
        return repeats


def numpy_state() -> object:
    """Return the state of numpy's global generator, which draws the noise of Flower's wrappers."""
    name, words, *rest = np.random.get_state(legacy=True)  # noqa: NPY002  # the generator that Flower uses
    return name, np.asarray(words).tobytes(), rest


def python_state() -> object:
    """Return the state of Python's global generator, which draws the clients of Flower's strategies."""
    return random.getstate()


@contextmanager
def system_noise() -> Iterator[None]:
    """Seed numpy's global generator from the operating system, and restore its state afterwards.

    Flower draws its noise from this generator, which a program may have seeded with a known number.

    Yields:
        None, once, while the generator has its new seed.
    """
    before = np.random.get_state()  # noqa: NPY002
    # A seed as large as the state: a word has 4 bytes.
    np.random.seed(np.frombuffer(os.urandom(4 * WORDS), np.uint32))  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002

"""Random bits that tests can repeat."""

from types import SimpleNamespace

import numpy as np
import pytest

from epsilond.mechanisms import randomness


@pytest.fixture
def fixed_urandom(monkeypatch):
    """The operating system's bits replaced by those of a seed."""

    def use(seed):
        monkeypatch.setattr(randomness, "os", SimpleNamespace(urandom=np.random.default_rng(seed).bytes))

    return use


class Words:
    """A source that gives the words it is told to, one after another, and counts what is left."""

    def __init__(self, *given):
        self.given = list(given)

    def words(self, shape):
        return np.array([self.next_word() for _ in range(int(np.prod(shape)))], dtype=np.uint64).reshape(shape)

    def next_word(self, *_):
        return self.given.pop(0)


@pytest.fixture
def scripted():
    return Words

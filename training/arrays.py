"""The arrays that everything here is about, and how other packages' become ours."""

from __future__ import annotations

from epsilond.mechanisms.arrays import Array, to_numpy
from epsilond.mechanisms.randomness import Bools, Floats
from epsilond.mechanisms.randomness import Integers as Indices

__all__ = ["Array", "Bools", "Floats", "Indices", "as_floats"]


def as_floats(given: Array, *, pointer: str) -> Floats:
    """A new array of doubles, from numpy, a sequence, or what speaks DLPack: torch, jax, ….

    Raises:
        InvalidInput: it is no array of real numbers.
    """
    return to_numpy(given, pointer=pointer)[0].astype("float64")

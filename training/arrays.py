"""Array types of this package, and the conversion of arrays from other packages."""

from __future__ import annotations

from epsilond.mechanisms.arrays import Array, to_numpy
from epsilond.mechanisms.randomness import Bools, Floats
from epsilond.mechanisms.randomness import Integers as Indices

__all__ = ["Array", "Bools", "Floats", "Indices", "as_floats"]


def as_floats(array: Array, *, pointer: str) -> Floats:
    """Copy an array of any package, or a sequence, to a numpy array of doubles.

    Args:
        array: an array of numpy, a sequence, or an object with DLPack (torch, jax, …).
        pointer: JSON pointer to the array in the caller's input, for error messages.

    Returns:
        A new array of the same shape, which shares no memory with the given one.

    Raises:
        InvalidInput: the object is not an array of real numbers.
    """
    return to_numpy(array, pointer=pointer)[0].astype("float64")

"""Arrays of whichever library come in, and the same kind goes out: numpy, torch, jax, and what speaks DLPack."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import Floats

Array: TypeAlias = Any
"""An array of numpy, or of a library that hands its memory over by DLPack."""
AnyNumbers: TypeAlias = npt.NDArray[Any]
"""A numpy array of any type of number."""
AnyType: TypeAlias = np.dtype[Any]
"""The numpy type of an array's numbers."""
Back = Callable[[AnyNumbers], Array]


def read(values: Array, *, pointer: str = "/values") -> tuple[AnyNumbers, Back]:
    """As an array of numpy, and what turns one of the same type into the kind that came in.

    Numbers that are no floats are read as doubles.

    Raises:
        InvalidInput: it is no array of real numbers, or is on another device than the processor.
    """
    found, back = _as_numpy(values, pointer)
    if found.dtype.kind in "iub":
        found = found.astype(np.float64)
    if found.dtype not in (np.float16, np.float32, np.float64):
        raise InvalidInput.at(pointer, "is not an array of real numbers", allowed="float16, float32, float64")
    return found, back


def is_list_of_arrays(values: object) -> bool:
    """Whether these are the layers of a model and not one array."""
    return isinstance(values, list | tuple) and len(values) > 0 and all(hasattr(one, "shape") for one in values)


def flattened(
    values: Array | Sequence[Array], *, records: bool, pointer: str
) -> tuple[Floats, Callable[[Floats], Array]]:
    """An array, or the layers of a model, as one vector of doubles; with `records`, as (records, coordinates).

    Also what turns a vector into arrays like one record of them: of the same shapes, kinds and types.

    Raises:
        InvalidInput: they are no arrays, or layers count records differently.
    """
    several = is_list_of_arrays(values)
    layers = [
        read(one, pointer=f"{pointer}/{place}" if several else pointer)
        for place, one in enumerate(values if several else [values])
    ]
    given = [one for one, _ in layers]
    if records and any(one.ndim == 0 or len(one) != len(given[0]) for one in given):
        raise InvalidInput.at(pointer, "need a first axis that counts contributions, of one length in all layers")
    shapes = [one.shape[1:] if records else one.shape for one in given]
    sizes = [math.prod(shape) for shape in shapes]
    rows = [
        one.astype(np.float64).reshape(len(one) if records else 1, size) for one, size in zip(given, sizes, strict=True)
    ]
    flat = np.concatenate(rows, axis=1)

    def like(vector: Floats) -> Array:
        ends = np.cumsum(sizes)[:-1]
        found = [
            back(part.reshape(shape).astype(one.dtype))
            for part, shape, (one, back) in zip(np.split(vector, ends), shapes, layers, strict=True)
        ]
        return found if several else found[0]

    return flat if records else flat[0], like


def towards_zero(values: Floats, dtype: AnyType) -> AnyNumbers:
    """In a type of fewer digits, never larger in absolute value."""
    if dtype == np.float64:
        return values
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    larger = np.abs(rounded).astype(np.float64) > np.abs(values)
    return np.asarray(np.where(larger, np.nextafter(rounded, dtype.type(0.0)), rounded))


def _as_numpy(values: Array, pointer: str) -> tuple[AnyNumbers, Back]:
    if isinstance(values, np.ndarray | np.generic | Sequence | int | float):
        try:
            return np.asarray(values), lambda made: made
        except ValueError as error:
            raise InvalidInput.at(pointer, "is not an array") from error
    if not hasattr(values, "__dlpack__"):
        raise InvalidInput.at(pointer, f"{type(values).__name__} is not an array")
    # A tensor that gradients are recorded for gives its memory away only without them.
    plain = values.detach() if hasattr(values, "detach") else values
    try:
        found = np.from_dlpack(plain)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidInput.at(pointer, f"cannot be read as an array of numpy: {error}") from error
    return found, _namespace(values, pointer).from_dlpack


def _namespace(values: Array, pointer: str) -> Array:
    if hasattr(values, "__array_namespace__"):
        return values.__array_namespace__()
    library = sys.modules.get(type(values).__module__.partition(".")[0])
    if not hasattr(library, "from_dlpack"):
        raise InvalidInput.at(pointer, f"{type(values).__name__} cannot be made from an array of numpy")
    return library

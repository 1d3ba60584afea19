"""Conversion of arrays of any library to numpy and back: numpy, torch, jax, and others that support DLPack."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.randomness import Floats

Array: TypeAlias = Any
"""An array of numpy, or of a library that shares its memory by DLPack."""
AnyNumbers: TypeAlias = npt.NDArray[Any]
"""A numpy array of any type of number."""
AnyType: TypeAlias = np.dtype[Any]
"""The numpy type of an array's numbers."""
Restorer = Callable[[AnyNumbers], Array]
"""A function that converts a numpy array to the library of the caller's array."""


def to_numpy(values: Array, *, pointer: str = "/values") -> tuple[AnyNumbers, Restorer]:
    """Convert an array of any supported library to numpy.

    Integers and booleans become doubles.

    Args:
        values: an array, or a nested sequence of numbers.
        pointer: JSON pointer to the array, for error messages.

    Returns:
        The numpy array of floats, and a function that converts a numpy array to the caller's library.

    Raises:
        InvalidInput: `values` is not an array of real numbers, or numpy cannot read its memory, such as that of a GPU.
    """
    numbers, restore = _import_array(values, pointer)
    if numbers.dtype.kind in "iub":
        numbers = numbers.astype(np.float64)
    if numbers.dtype not in (np.float16, np.float32, np.float64):
        raise InvalidInput.at(pointer, "is not an array of real numbers", allowed="float16, float32, float64")
    return numbers, restore


def is_list_of_arrays(values: object) -> bool:
    """Return whether `values` is a list of arrays (the layers of a model) rather than a single array."""
    if not isinstance(values, list | tuple) or not values:
        return False
    return all(hasattr(layer, "shape") for layer in values)


@dataclass(frozen=True)
class _Layer:
    """One array of the caller, such as a layer of a model, converted to numpy.

    Attributes:
        numbers: the numpy array.
        record_shape: shape of one record in it.
        restorer: conversion of a numpy array to the caller's library.
    """

    numbers: AnyNumbers
    record_shape: tuple[int, ...]
    restorer: Restorer

    @property
    def size(self) -> int:
        """Number of coordinates of one record."""
        return math.prod(self.record_shape)

    def restore_record(self, coordinates: Floats) -> Array:
        """Convert the coordinates of one record to the shape, type and library of this array."""
        return self.restorer(coordinates.reshape(self.record_shape).astype(self.numbers.dtype))


def flatten(
    values: Array | Sequence[Array], *, records: bool, pointer: str
) -> tuple[Floats, Callable[[Floats], Array]]:
    """Concatenate the coordinates of an array, or of the layers of a model, as doubles.

    Args:
        values: an array, or a list of arrays.
        records: whether the first axis of each array counts records.
        pointer: JSON pointer to the values, for error messages.

    Returns:
        A vector of doubles, or an array (records, coordinates) if `records` is true. Also a function that converts a
        vector of one record's coordinates to arrays with the shapes, types and library of one record.

    Raises:
        InvalidInput: the values are not arrays, or the layers have different numbers of records.
    """
    is_list = is_list_of_arrays(values)
    layers = _import_layers(values, records, pointer)
    count = _count_records(layers, pointer) if records else 1
    rows = [layer.numbers.astype(np.float64).reshape(count, layer.size) for layer in layers]
    flat = np.concatenate(rows, axis=1)

    # Positions at which the coordinates of the second and later layers begin.
    ends = np.cumsum([layer.size for layer in layers])
    boundaries = ends[:-1]

    def restore(vector: Floats) -> Array:
        """Convert the coordinates of one record to an array, or to a list of layers."""
        pieces = np.split(vector, boundaries)
        arrays = [layer.restore_record(piece) for layer, piece in zip(layers, pieces, strict=True)]
        return arrays if is_list else arrays[0]

    if not records:
        (flat,) = flat  # one row
    return flat, restore


def round_towards_zero(values: Floats, dtype: AnyType) -> AnyNumbers:
    """Convert doubles to a type of lower precision, never to a larger absolute value.

    The norm of a clipped contribution therefore stays within its bound after the conversion.

    Args:
        values: finite doubles, any shape.
        dtype: target type float16, float32 or float64.

    Returns:
        The values in `dtype`. With float64, `values` itself.
    """
    if dtype == np.float64:
        return values
    # An overflow gives an infinity, which the last step replaces by the largest finite number.
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype)
    # Where rounding to nearest went away from zero, take the next number towards zero.
    is_too_large = np.abs(rounded).astype(np.float64) > np.abs(values)
    next_towards_zero = np.nextafter(rounded, dtype.type(0.0))
    return np.asarray(np.where(is_too_large, next_towards_zero, rounded))


def _import_layers(values: Array | Sequence[Array], records: bool, pointer: str) -> list[_Layer]:
    """Convert an array, or the layers of a model, to numpy.

    Args:
        values: an array of any supported library, or a list of arrays with one entry per layer.
        records: True if the first axis of each array counts records, so that it is not part of a record's shape.
        pointer: JSON pointer to the values, for error messages.

    Returns:
        One entry per array, with the numbers, the shape of one record, and the conversion back to the caller's library.

    Raises:
        InvalidInput: a value is not an array of real numbers.
    """
    is_list = is_list_of_arrays(values)
    arrays = values if is_list else [values]
    layers = []
    for index, array in enumerate(arrays):
        array_pointer = f"{pointer}/{index}" if is_list else pointer
        numbers, restorer = to_numpy(array, pointer=array_pointer)
        record_shape = numbers.shape[1:] if records else numbers.shape
        layers.append(_Layer(numbers, record_shape, restorer))
    return layers


def _count_records(layers: Sequence[_Layer], pointer: str) -> int:
    """Return the number of records, which is the common length of the first axes of all layers.

    Args:
        layers: arrays of the layers of a model, at least one.
        pointer: JSON pointer to the values, for errors.

    Returns:
        The number of records, at least 0.

    Raises:
        InvalidInput: a layer has no axis, or the lengths differ.
    """
    counts = {layer.numbers.shape[:1] for layer in layers}
    if len(counts) > 1 or counts == {()}:
        raise InvalidInput.at(pointer, "need a first axis that counts contributions, of one length in all layers")
    return len(layers[0].numbers)


def _import_array(values: Array, pointer: str) -> tuple[AnyNumbers, Restorer]:
    """Convert an array of any supported library to numpy without a copy, if its library allows that.

    Args:
        values: the array, or a nested sequence of numbers.
        pointer: JSON pointer to the array, for error messages.

    Returns:
        The numpy array, and a function that converts a numpy array to the caller's library.

    Raises:
        InvalidInput: `values` is not an array, or cannot be read as one of numpy.
    """
    if isinstance(values, np.ndarray | np.generic | Sequence | int | float):
        try:
            return np.asarray(values), lambda numbers: numbers
        except ValueError as error:
            raise InvalidInput.at(pointer, "is not an array") from error
    if not hasattr(values, "__dlpack__"):
        raise InvalidInput.at(pointer, f"{type(values).__name__} is not an array")
    # A tensor with a recorded gradient shares its memory only after it is detached.
    detached = values.detach() if hasattr(values, "detach") else values
    try:
        numbers = np.from_dlpack(detached)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidInput.at(pointer, f"cannot be read as an array of numpy: {error}") from error
    return numbers, _array_namespace(values, pointer).from_dlpack


def _array_namespace(values: Array, pointer: str) -> Array:
    """Return the module of an array's library, which has the function `from_dlpack`.

    DLPack is a protocol by which libraries exchange arrays. The result converts numpy arrays back to the caller's
    library.

    Args:
        values: an array of any library.
        pointer: JSON pointer to the values, for errors.

    Returns:
        The namespace that the array reports by the array API standard. Otherwise, the top module of its type.

    Raises:
        InvalidInput: the library has no such function.
    """
    if hasattr(values, "__array_namespace__"):
        return values.__array_namespace__()
    library = sys.modules.get(type(values).__module__.partition(".")[0])
    if not hasattr(library, "from_dlpack"):
        raise InvalidInput.at(pointer, f"{type(values).__name__} cannot be made from an array of numpy")
    return library

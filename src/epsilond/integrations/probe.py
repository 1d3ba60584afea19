"""Coordinates of a model at which noise and sums are observed in every round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = Mapping[str, NDArray[np.number]]
"""A model by the names of its arrays."""

COORDINATES: Final = 256
"""Number of coordinates: enough to notice in one round that the noise has half of its recorded size."""
RELATIVE_ROUNDING: Final = 0.05
"""Largest distance of neighbouring floating-point numbers at which noise is tested, in deviations of the noise."""


class Probe:
    """A fixed sample of a model's coordinates, at which noise and sums are tested.

    It has about `COORDINATES` coordinates, with some of each array that is not empty.

    Args:
        shapes: shapes of the model's arrays by name.

    Attributes:
        groups: shape (g,): index in the sample at which the coordinates of each array begin.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Choose evenly spaced coordinates of each array, about `COORDINATES` in total.

        Args:
            shapes: shape of each array by its name. Arrays without entries get no coordinates.
        """
        sizes = {name: int(np.prod(shape, dtype=np.int64)) for name, shape in shapes.items()}
        total_size = max(sum(sizes.values()), 1)
        self._shapes = dict(shapes)
        self._coordinates: dict[str, NDArray[np.int64]] = {}
        # Each array gets a part of the sample in proportion to its size.
        starts: list[int] = []
        start = 0
        for name, size in sizes.items():
            if size == 0:
                continue
            count = max(1, COORDINATES * size // total_size)
            coordinates = np.unique(np.linspace(0, size - 1, count).astype(np.int64))
            self._coordinates[name] = coordinates
            starts.append(start)
            start += len(coordinates)
        self.groups: NDArray[np.intp] = np.asarray(starts, dtype=np.intp)

    def fits(self, arrays: Arrays) -> bool:
        """Return whether arrays have the names and shapes for which the sample was made.

        Args:
            arrays: arrays of a model by name.

        Returns:
            True if all names and shapes are equal.
        """
        present_shapes = {name: array.shape for name, array in arrays.items()}
        return present_shapes == self._shapes

    def take(self, arrays: Arrays) -> NDArray[np.float64]:
        """Return the values of arrays at the sampled coordinates, in double precision.

        Args:
            arrays: arrays by name, with the shapes of the sample.

        Returns:
            The values of all arrays, one array after the other. It is empty if no array has entries.
        """
        if not self._coordinates:
            return np.zeros(0)
        parts = [np.asarray(arrays[name]).reshape(-1)[chosen] for name, chosen in self._coordinates.items()]
        return np.concatenate(parts).astype(np.float64)

    def spacing(self, arrays: Arrays) -> float:
        """Return the largest distance between neighbouring floating-point numbers at the sampled coordinates.

        The distance bounds the rounding error of a value, which must be small compared with the noise that is tested.

        Args:
            arrays: arrays by name, with the shapes of the sample.

        Returns:
            The largest distance (unit in the last place), in the precision of each array.
        """
        largest = 0.0
        for name, chosen in self._coordinates.items():
            values = _floats(arrays[name]).reshape(-1)[chosen]
            distances = np.spacing(np.abs(values))
            largest = max(largest, float(np.max(distances)))
        return largest


def _floats(array: NDArray[np.number]) -> NDArray[np.number]:
    """Return an array as floating-point numbers of its own precision; integers become double precision."""
    if np.issubdtype(array.dtype, np.floating):
        return array
    return array.astype(np.float64)

"""Coordinates of a model at which noise and sums are observed in every round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = Mapping[str, NDArray[np.number]]
"""A model by the names of its arrays."""

COORDINATES: Final = 256
"""Number of coordinates; enough to reject half of the recorded noise in one round with 1e-10."""
RELATIVE_ROUNDING: Final = 0.05
"""Largest distance of floating-point numbers, over the standard deviation of the noise, at which noise is tested."""


class Probe:
    """A fixed sample of a model's coordinates, at which noise and sums are tested, with some of each non-empty array.

    It has about `COORDINATES` coordinates.

    Args:
        shapes: shapes of the model's arrays by name.

    Attributes:
        groups: shape (g,): index in the sample at which the coordinates of each array begin.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        sizes = {name: int(np.prod(shape, dtype=np.int64)) for name, shape in shapes.items()}
        total = max(sum(sizes.values()), 1)
        self._shapes = dict(shapes)
        self._coordinates: dict[str, NDArray[np.int64]] = {}
        starts: list[int] = []
        start = 0
        for name, size in sizes.items():
            if size == 0:
                continue
            count = max(1, COORDINATES * size // total)
            coordinates = np.unique(np.linspace(0, size - 1, count).astype(np.int64))
            self._coordinates[name] = coordinates
            starts.append(start)
            start += len(coordinates)
        self.groups: NDArray[np.intp] = np.asarray(starts, dtype=np.intp)

    def fits(self, arrays: Arrays) -> bool:
        """Return whether arrays have the shapes of the first round."""
        return {name: array.shape for name, array in arrays.items()} == self._shapes

    def take(self, arrays: Arrays) -> NDArray[np.float64]:
        """Return the values of arrays at the sampled coordinates, in double precision."""
        parts = [np.asarray(arrays[name]).reshape(-1)[chosen] for name, chosen in self._coordinates.items()]
        return np.concatenate(parts).astype(np.float64) if parts else np.zeros(0)

    def spacing(self, arrays: Arrays) -> float:
        """Return the largest distance between neighbouring floating-point numbers at the sampled coordinates."""
        largest = 0.0
        for name, chosen in self._coordinates.items():
            values = _floats(arrays[name]).reshape(-1)[chosen]
            largest = max(largest, float(np.max(np.spacing(np.abs(values)))))
        return largest


def _floats(array: NDArray[np.number]) -> NDArray[np.number]:
    """Return an array as floating-point numbers of its own precision."""
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(np.float64)

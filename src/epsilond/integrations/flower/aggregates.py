"""Checks of the aggregation in one round of a Flower wrapper. Flower is not imported."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilond.integrations.probe import Arrays, Probe

RELATIVE: Final = 1e-4
"""Relative tolerance of a clipped norm and of a mean; rounding in single precision stays below it."""


class Aggregate:
    """Check of one aggregation in Flower: whether the returned mean is the mean of the clients' clipped replies.

    A probe is a sample of the model's coordinates, at which means are compared.

    Attributes:
        nodes: Flower's id of the client of each reply.
        weights: the weight that each reply reports; None if it reports none.
        largest: largest ℓ2 norm of an update; NaN if one is undefined.
        returned: the mean that the inner strategy returned, at the coordinates of the probe; None if it returned none.
        spacing: largest distance of successive floating-point numbers at these coordinates.
    """

    def __init__(self, current: Arrays, probe: Probe) -> None:
        """Start the check of an aggregation, before the first reply of a client.

        Args:
            current: the model from which the clients trained.
            probe: the sample of coordinates at which means and noise are compared.
        """
        self.nodes: list[int] = []
        self.weights: list[object] = []
        self.largest = 0.0
        self.returned: NDArray[np.float64] | None = None
        self.spacing = 0.0

        # The expected sum of the replies at the coordinates of the probe, and bounds on rounding errors.
        self._current = current
        self._probe = probe
        self._buffers: dict[str, NDArray[np.number]] = {}
        self._rounding = 0.0
        self._tolerance = 0.0
        self._expected: NDArray[np.float64] = np.zeros(0)
        self._squares = {name: _square(array) for name, array in current.items()}

    def add(self, node: int, weight: object, model: Arrays) -> None:
        """Add the reply of one client to the expected mean, and update the largest norm and the rounding bound.

        Args:
            node: Flower's id of the client.
            weight: the weight that it reported; None if it reported none.
            model: the model in the reply.
        """
        self.nodes.append(node)
        self.weights.append(weight)
        norm = self._update_norm(model)
        if not norm <= self.largest:  # true for NaN too, which then remains the largest
            self.largest = norm
        # Client and wrapper round each coordinate a few times, by at most its relative precision. The factor 4 is a
        # margin for these errors.
        squared_errors = sum(precision(array) ** 2 * self._squares[name] for name, array in model.items())
        self._rounding = max(self._rounding, 4.0 * math.sqrt(squared_errors))
        values = self._probe.take(model)
        self._expected = values if len(self._expected) == 0 else self._expected + values

    def _update_norm(self, model: Arrays) -> float:
        """Return the ℓ2 norm of a client's update, that is, of its model minus the current model.

        All replies share the buffers of the differences, because models are large.

        Args:
            model: arrays of the model in the reply, by name.

        Returns:
            The norm, which may be ∞; NaN if the difference has a NaN.
        """
        squared_norm = 0.0
        with np.errstate(invalid="ignore", over="ignore"):
            for name, array in model.items():
                kind = np.result_type(array, self._current[name])
                buffer = self._buffers.get(name)
                if buffer is None or buffer.dtype != kind:
                    buffer = np.empty(array.shape, kind)
                    self._buffers[name] = buffer
                np.subtract(array, self._current[name], out=buffer)
                squared_norm += _square(buffer)
        return math.sqrt(squared_norm) if squared_norm >= 0.0 else math.nan

    def close(self, returned: Arrays | None) -> None:
        """Compute the expected mean after all replies, and store the mean that the inner strategy returned.

        Args:
            returned: the mean that the inner strategy returned; None if it returned none.
        """
        self._expected = self._expected / max(len(self.nodes), 1)
        if returned is None or not self._probe.fits(returned):
            return
        self.returned = self._probe.take(returned)
        self.spacing = self._probe.spacing(returned)
        # A bound on the rounding error of a sum of all replies.
        largest = float(np.max(np.abs(self.returned), initial=0.0))
        self._tolerance = len(self.nodes) * max(map(precision, returned.values()), default=0.0) * largest

    def exceeds(self, clipping_norm: float) -> bool:
        """Return whether an update is longer than the clipping norm, up to rounding, or is not finite.

        Args:
            clipping_norm: norm to which the updates should have been clipped.
        """
        return not self.largest <= clipping_norm * (1.0 + RELATIVE) + self._rounding

    def is_equal_mean(self, clipping_norm: float) -> bool:
        """Return whether the returned mean is the mean of the replies with equal weights, up to rounding.

        The noise is scaled for equal weights. With other weights, a client may have more influence than it hides.

        Args:
            clipping_norm: norm to which the updates were clipped.

        Returns:
            True if all coordinates of the probe agree within the tolerance. False if no mean was returned.
        """
        if self.returned is None or len(self.returned) != len(self._expected):
            return False
        # The rounding error of the sum, and a relative error of one clipped update by single precision.
        tolerance = self._tolerance + RELATIVE * clipping_norm / max(len(self.nodes), 1)
        return bool(np.all(np.abs(self.returned - self._expected) <= tolerance))

    def unequal_weights(self) -> tuple[object, object] | None:
        """Return two weights that differ; None if all are equal."""
        for weight in self.weights[1:]:
            if weight != self.weights[0]:
                return self.weights[0], weight
        return None

    def surplus(self, contacted: Sequence[int]) -> int:
        """Count the replies that should not exist: repeated ones of a client, and those of clients that got no message.

        Args:
            contacted: Flower's ids of the clients that got a message.
        """
        return len(self.nodes) - len(set(self.nodes) & set(contacted))


def precision(array: NDArray[np.number]) -> float:
    """Return the relative precision of an array's number type: the distance from 1 to the next larger number.

    Args:
        array: an array of numbers.

    Returns:
        The precision; 0 for integers, which are exact.
    """
    kind = array.dtype.type
    return float(np.finfo(kind).eps) if issubclass(kind, np.floating) else 0.0


def _square(array: NDArray[np.number]) -> float:
    """Return the squared ℓ2 norm of an array."""
    return float(np.vdot(array, array))

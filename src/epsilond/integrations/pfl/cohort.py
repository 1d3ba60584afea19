"""The users of one iteration of pfl, as the last postprocessor left their statistics."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Final, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from epsilond.integrations.probe import Arrays, Probe

RELATIVE: Final = 1e-4
"""Relative tolerance of norms and sums; rounding in single precision stays below it."""
TINY: Final = 1e-30
"""Size of a sum below which the tolerance is absolute."""


class UserCohort:
    """The users of one iteration: their number, ids and weights, and the sum of their statistics (model updates).

    Attributes:
        size: number of users.
        identities: ids of those users for which the data set gives an id.
        weights: the set of weights of their statistics.
        total_weight: sum of the weights over all users.
    """

    def __init__(self) -> None:
        self.size = 0
        self.identities: list[Hashable] = []
        self.weights: set[float] = set()
        self.total_weight = 0.0
        self._largest = 0.0
        self._sum: NDArray[np.float64] = np.zeros(0)
        self._scale = 0.0

    def add(self, identity: Hashable | None, arrays: Arrays, *, weight: SupportsFloat | None, probe: Probe) -> None:
        """Add the statistics (model update) of one user to the sum, and store the user's id, weight and norm.

        Args:
            identity: id of the user; None if not known.
            arrays: the statistics after clipping, as arrays by name.
            weight: weight of the statistics; None if they have none.
            probe: the sample of coordinates at which the sum is computed.
        """
        self.size += 1
        if identity is not None:
            self.identities.append(identity)
        if weight is not None:
            self.weights.add(float(weight))
            self.total_weight += float(weight)

        squared_norm = sum(float(np.vdot(array, array)) for array in arrays.values())
        norm = math.sqrt(squared_norm)
        if not norm <= self._largest:  # true for NaN too, which then remains the largest
            self._largest = norm

        # The first user, or a change of the sampled coordinates, starts a new sum.
        values = probe.take(arrays)
        if len(self._sum) != len(values):
            self._sum = values
        else:
            self._sum = self._sum + values
        self._scale += float(np.max(np.abs(values), initial=0.0))

    @property
    def repeated(self) -> int:
        """Number of statistics beyond the first of each user."""
        return len(self.identities) - len(set(self.identities))

    def exceeds(self, bound: float) -> bool:
        """Return whether the statistics of any user exceed a bound on their norm.

        Args:
            bound: clipping bound on the ℓ2 norm.

        Returns:
            True if a norm exceeds the bound by more than rounding in single precision, or is NaN.
        """
        # The negation makes the result true for NaN.
        return not self._largest <= bound * (1.0 + RELATIVE)

    def is_sum(self, values: NDArray[np.float64]) -> bool:
        """Return whether values are the sum of all users' statistics, up to rounding.

        The noise is scaled to this sum, and may be too small for another aggregate.

        Args:
            values: the values at the sampled coordinates.

        Returns:
            True if each value agrees within the tolerance. False if no user was added.
        """
        if self.size == 0 or len(values) != len(self._sum):
            return False
        # Rounding errors are relative to the summed sizes of the users' values. The least tolerance is absolute.
        tolerance = RELATIVE * max(self._scale, TINY)
        return bool(np.all(np.abs(values - self._sum) <= tolerance))

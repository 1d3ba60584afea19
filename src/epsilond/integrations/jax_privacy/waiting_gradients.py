"""The gradients of a run that were computed since the last noise update."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class WaitingGradients:
    """Gradients that were computed since the last update with noise, and that get noise in the next one.

    A row is an input from which one gradient was computed. A row is active if it is not marked as padding and its loss
    is not 0. Other rows that are not marked may be padding that the program did not mark.

    Attributes:
        records: number of rows that are not marked as padding.
        active: number of active rows.
        record_rows: fingerprints of the rows that are not marked as padding, an array for each call.
        active_rows: fingerprints of the active rows, an array for each call.
        total: sum of the clipped gradients at the sampled coordinates; None before the first call.
        absolute_total: sum of the absolute values of the calls' sums, which bounds rounding errors.
    """

    records: int = 0
    active: int = 0
    record_rows: list[NDArray[np.uint64]] = field(default_factory=list)
    active_rows: list[NDArray[np.uint64]] = field(default_factory=list)
    total: NDArray[np.float64] | None = None
    absolute_total: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def add_sum(self, clipped_sum: NDArray[np.float64]) -> None:
        """Add the sum of clipped gradients that one call of the gradient function returned to the totals.

        Args:
            clipped_sum: the sum at the sampled coordinates.
        """
        if self.total is None:
            self.total = clipped_sum
            self.absolute_total = np.abs(clipped_sum)
        else:
            self.total = self.total + clipped_sum
            self.absolute_total = self.absolute_total + np.abs(clipped_sum)

    def fits(self, size: int, noise_free_sum: NDArray[np.float64]) -> bool:
        """Return whether the collected gradients may belong to a batch with a given number of records.

        Without gradients, only an empty batch with a sum of zeros fits.

        Args:
            size: number of records of the batch.
            noise_free_sum: the sum to which the noise was added, at the sampled coordinates.

        Returns:
            True if the size is between the number of active rows and the number of rows that are not marked as padding,
            both included.
        """
        if self.total is None:
            return size == 0 and not np.any(noise_free_sum)
        may_have_padding = self.active <= size <= self.records
        return self.records == size or may_have_padding

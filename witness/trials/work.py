"""Work of a trial, counted in operations, and the time that it takes on one core.

The times of single operations were measured with one thread of OpenBLAS, by trials of the experiments on the papers'
own data. Estimates with them are within a factor of 2 of the processor time of these trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

SECONDS_PER_MULTIPLY_ADD: Final = 5e-11
"""Time of one multiplication and addition in a product of two matrices, in seconds: 3e-11 in single and 8e-11 in double
precision."""
SECONDS_PER_NUMBER: Final = 6e-9
"""Time of one number that is drawn, gathered by its index, or put into a transcendental function, in seconds."""
SECONDS_PER_COORDINATE: Final = 4e-10
"""Time of one number in one pass of elementwise arithmetic over models in memory, in seconds."""


@dataclass(frozen=True, kw_only=True)
class TrialWork:
    """Numbers of operations of one trial, that is, of one training, from which its time is estimated.

    Attributes:
        multiply_adds: number of pairs of a multiplication and an addition in products of matrices.
        numbers: number of values that are drawn, gathered by their indices, or put into a transcendental function.
        coordinates: number of model coordinates in all passes of elementwise arithmetic.
    """

    multiply_adds: float = 0.0
    numbers: float = 0.0
    coordinates: float = 0.0

    @property
    def seconds(self) -> float:
        """Estimated time on one core, in seconds."""
        return (
            SECONDS_PER_MULTIPLY_ADD * self.multiply_adds
            + SECONDS_PER_NUMBER * self.numbers
            + SECONDS_PER_COORDINATE * self.coordinates
        )

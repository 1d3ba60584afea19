"""Requirements on the cells of losses of a lattice composition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.tilted import TiltCoordinate


@dataclass(frozen=True)
class Demand:
    """Requirements on the cells (intervals of losses) of a lattice composition, for every tilt λ of an interval.

    The tilt is the exponent of the weight e^{λL} of a loss L. The interval of tilts is called a band; one lattice
    serves all of them.

    Attributes:
        coordinates: the least, the middle and the largest tilt of the band.
        relative_width: width of the enclosure of δ that the cells may cause, relative to δ.
        cells: limit on the number of cells.
        bulk_variance: variance of the total loss without its rare large losses, in nats², if ε is in the bulk of
            this distribution; math.inf otherwise.
        coarsening: number of times that the unit and the widths of cells are doubled to fit the transform into the
            budget.
    """

    coordinates: tuple[TiltCoordinate, ...]
    relative_width: float
    cells: int
    bulk_variance: float
    coarsening: int

    @property
    def curvature(self) -> float:
        """Factor from a change of the loss's variance to twice that of log δ: the largest |λ (1 + λ)| in the band.

        If ε is within the bulk, the total loss without rare rounds, it is at least the reciprocal of the bulk's
        variance. There δ depends on the width of the bulk.
        """
        pole_sizes = [math.exp(coordinate.pole) for coordinate in self.coordinates]
        return max(*pole_sizes, 1.0 / self.bulk_variance)

    @property
    def steepness(self) -> float:
        """Largest 1 + |λ| in the band. The expansion in the cell width holds for cells narrower than its reciprocal."""
        return max(1.0 + abs(coordinate.tilt) for coordinate in self.coordinates)

    @property
    def log_width(self) -> float:
        """Logarithm of the required relative width."""
        return math.log(self.relative_width)

"""Requirements on the cells of losses of a lattice composition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epsilond.accountants.engine.lattice.tilted import TiltCoordinate


@dataclass(frozen=True)
class Demand:
    """Requirements on the cells (intervals of losses) of a lattice composition, for an interval of tilts λ.

    The tilt is the exponent of the weight e^{λL} of a loss L. One lattice is used for all tilts of the interval.

    Attributes:
        coordinates: the least, the middle and the largest tilt of the interval.
        relative_width: width of the enclosure of δ that the cells may cause, relative to δ.
        cells: limit on the number of cells.
        bulk_variance: variance of the total loss without its rare large losses, in nats², if ε is among the common
            values of this loss; math.inf otherwise.
        coarsening: number of times that the unit and the widths of cells are doubled, so that the transform stays
            within the limits on its work.
    """

    coordinates: tuple[TiltCoordinate, ...]
    relative_width: float
    cells: int
    bulk_variance: float
    coarsening: int

    @property
    def curvature(self) -> float:
        """Bound on twice the change of log δ per change of the loss's variance, in 1/nats².

        It is the largest |λ (1 + λ)| over the tilts. If ε is among the common values of the total loss, it is at least
        the reciprocal of their variance, because δ then depends on this variance.
        """
        pole_sizes = [math.exp(coordinate.pole) for coordinate in self.coordinates]
        return max(*pole_sizes, 1.0 / self.bulk_variance)

    @property
    def steepness(self) -> float:
        """Largest 1 + |λ| over the tilts. Errors can be expanded in the width of cells narrower than its reciprocal."""
        return max(1.0 + abs(coordinate.tilt) for coordinate in self.coordinates)

    @property
    def log_width(self) -> float:
        """Logarithm of the required relative width."""
        return math.log(self.relative_width)

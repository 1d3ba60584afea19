"""The spec of the Laplace mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import ScaleMultiplier, request
from epsilond.accountants.specs.primitives import KIND, NoisySum


@request
class Laplace:
    """Adds Laplace noise of scale b per coordinate to a sum of contributions of ℓ1 norm at most C.

    b = scale_multiplier · C. The relation gives the sensitivity: 2C for replace-one, C for the others.

    Admits: the sums that `Gaussian` admits, with Laplace noise.
    """

    kind: Annotated[Literal["laplace"], KIND] = "laplace"
    scale_multiplier: ScaleMultiplier

    @property
    def primitive(self) -> NoisySum:
        """Laplace noise on a sum."""
        return NoisySum("laplace", self.scale_multiplier)

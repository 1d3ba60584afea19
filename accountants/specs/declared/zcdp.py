"""The spec of a mechanism that is known to be zero-concentrated differentially private."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from epsilond.accountants.quantities import PureDelta, ZcdpRho, request
from epsilond.accountants.specs.primitives import KIND, DeclaredBounds


@request
class Zcdp:
    """A mechanism of which only ρ-zero-concentrated privacy is known, in the relation of the request.

    With a `delta` it is δ-approximately ρ-zCDP (Bun and Steinke 2016, Definition 8.1). On any two neighbours there are
    events of probability 1 − δ. Given these, the outputs have Rényi divergences of at most ρa at every order a > 1.

    Admits: every mechanism with this guarantee, as `approximate` does.
    """

    kind: Annotated[Literal["zcdp"], KIND] = "zcdp"
    rho: ZcdpRho
    delta: PureDelta = 0.0

    @property
    def primitive(self) -> DeclaredBounds:
        """A mechanism that the guarantee admits: one that is √(2ρ)-private, except with probability δ."""
        # Rounded down by more than the error of the square root, because a smaller ε is also admitted.
        return DeclaredBounds(math.sqrt(2.0 * self.rho) * (1.0 - 2.0**-50), self.delta)

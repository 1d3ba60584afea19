"""The spec of a mechanism that is known only by its guarantee."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import Epsilon, PureDelta, request
from epsilond.accountants.specs.primitives import KIND, BlackBox


@request
class Approximate:
    """Some mechanism of which nothing is known but that it is (ε, δ)-differentially private in the request's relation.

    δ = 0 is allowed: a pure guarantee.

    Admits: whatever keeps that guarantee. Under replace-one and zero-out-one it may tell how many records there are,
    and what it makes of a zeroed record need not be what it makes of an absent one.
    """

    kind: Annotated[Literal["approximate"], KIND] = "approximate"
    epsilon: Epsilon
    delta: PureDelta

    @property
    def primitive(self) -> BlackBox:
        """An unknown mechanism with this guarantee."""
        return BlackBox(self.epsilon, self.delta)

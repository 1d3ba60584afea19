"""The spec of a mechanism with a known guarantee and no other known property."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import AnyEpsilon, PureDelta, request
from epsilond.accountants.specs.primitives import KIND, BlackBox


@request
class Approximate:
    """A mechanism of which only an (ε, δ) guarantee is known, in the relation of the request.

    δ = 0 is allowed: a pure guarantee. ε = 0 is allowed: outputs on neighbours differ by at most δ in total variation.

    Admits: every mechanism with this guarantee. Under replace-one and zero-out-one its output may reveal the number of
    records. Its output for a zeroed record may differ from that for an absent record.
    """

    kind: Annotated[Literal["approximate"], KIND] = "approximate"
    epsilon: AnyEpsilon
    delta: PureDelta

    @property
    def primitive(self) -> BlackBox:
        """The basic mechanism, of which only this guarantee is known."""
        return BlackBox(self.epsilon, self.delta)

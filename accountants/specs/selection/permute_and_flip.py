"""The spec of the permute-and-flip mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import Epsilon, request
from epsilond.accountants.specs.primitives import KIND, ScoredChoice


@request
class PermuteAndFlip:
    """Visits the candidates in random order and accepts one with probability e^(ε (score − largest score)/2).

    The first accepted candidate is released. ε is `epsilon`, the pure privacy parameter of the mechanism. Between
    neighbours in the request's relation each score changes by at most 1.

    Admits: any number of candidates, and any score within that sensitivity. The candidates are the same for all data.
    A zeroed record may change scores that an absent one does not.
    """

    kind: Annotated[Literal["permute_and_flip"], KIND] = "permute_and_flip"
    epsilon: Epsilon

    @property
    def primitive(self) -> ScoredChoice:
        """The candidate with the largest score after exponential noise."""
        return ScoredChoice(self.epsilon, "exponential")

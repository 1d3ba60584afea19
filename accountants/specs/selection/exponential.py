"""The spec of the exponential mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import Epsilon, Quantity, request
from epsilond.accountants.specs.primitives import KIND, ScoredChoice

MONOTONIC = Quantity(
    description="true: between two neighbours either no score increases or no score decreases. A candidate "
    "then has weight e^(ε score)"
)


@request
class Exponential:
    """Chooses one candidate with probability ∝ e^(ε score/2), or ∝ e^(ε score) if the scores are monotonic.

    ε is `epsilon`, the pure privacy parameter of the mechanism. Between neighbours in the request's relation each score
    changes by at most 1. Monotonic scores all change in the same direction, for example counts of records under
    add-or-remove-one. Only the chosen candidate is released.

    Admits: any number of candidates, any score within that sensitivity, and any fixed weight of each candidate. The
    candidates and their weights are the same for all data. A zeroed record may change scores that an absent one does
    not.
    """

    kind: Annotated[Literal["exponential"], KIND] = "exponential"
    epsilon: Epsilon
    monotonic: Annotated[bool, MONOTONIC] = False

    @property
    def primitive(self) -> ScoredChoice:
        """The candidate with the largest score after Gumbel noise."""
        return ScoredChoice(self.epsilon, "gumbel")

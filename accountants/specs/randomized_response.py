"""The spec of k-ary randomized response."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.quantities import Categories, Epsilon, request
from epsilond.accountants.specs.primitives import KIND, CategoryReport


@request
class RandomizedResponse:
    """Each record reports its own category with probability e^ε/(e^ε + k − 1), any other one with 1/(e^ε + k − 1).

    Here ε is `epsilon` and k is `categories`. `epsilon` is the guarantee for replacing a record's category by another,
    in every relation.

    Admits: reports that are seen with the names of their records. They show who is in a batch, so a random draw with
    inclusion probability q keeps ε, and only gives δ' = q δ. For reports without names or order use `shuffled`. A
    zeroed record still sends a report, as if of some category, fixed or random. An absent record sends nothing, so
    add-or-remove-one has no bound.
    """

    kind: Annotated[Literal["randomized_response"], KIND] = "randomized_response"
    epsilon: Epsilon
    categories: Categories

    @property
    def primitive(self) -> CategoryReport:
        """The report of a record's category, under the name of the record."""
        return CategoryReport(self.epsilon, self.categories)

"""The spec of a mechanism with known Rényi divergences."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import EPSILON, RENYI_ORDER, Quantity, request
from epsilond.accountants.specs.primitives import KIND, DeclaredBounds

ORDERS = Quantity(symbol="a", description="Rényi orders in increasing order, each above 1 and at most 1e6")
DIVERGENCES = Quantity(
    symbol="ε(a)",
    unit="nat",
    description="upper bound on the Rényi divergence at each of the orders, in nats; at least 0 and at most 1e9",
)
MOST_ORDERS = 1000
"""Largest number of orders: a bound of a run is evaluated at each."""


@request
class Rdp:
    """A mechanism of which only bounds on its Rényi divergences are known, in the relation of the request.

    On any two neighbours, in both directions, the divergence of order `orders[i]` is at most `epsilons[i]`.

    Admits: every mechanism with these divergences, as `approximate` does.
    """

    kind: Annotated[Literal["rdp"], KIND] = "rdp"
    orders: Annotated[tuple[float, ...], ORDERS]
    epsilons: Annotated[tuple[float, ...], DIVERGENCES]

    def check(self) -> None:
        """Check that there are as many divergences as orders, that orders increase, and that all are in range.

        Raises:
            InvalidInput: the lists are empty, too long or of different lengths, the orders do not increase, or an entry
                is out of range. Only the first fault is reported.
        """
        if not 1 <= len(self.orders) <= MOST_ORDERS:
            raise InvalidInput.at("/orders", "has too few or too many entries", allowed=f"1 to {MOST_ORDERS} orders")
        if len(self.orders) != len(self.epsilons):
            raise InvalidInput.at("/epsilons", "must have as many entries as orders")
        if not all(RENYI_ORDER.contains(order) for order in self.orders):
            raise InvalidInput.at("/orders", "an entry is out of range", allowed=RENYI_ORDER.allowed)
        if any(left >= right for left, right in itertools.pairwise(self.orders)):
            raise InvalidInput.at("/orders", "must increase")
        if not all(divergence == 0.0 or EPSILON.contains(divergence) for divergence in self.epsilons):
            raise InvalidInput.at("/epsilons", "an entry is out of range", allowed="≥ 0 and ≤ 1e+09")

    @property
    def primitive(self) -> DeclaredBounds:
        """An ε-private mechanism that satisfies the declared bounds, with a large ε.

        Every ε-private mechanism has a Rényi divergence D_a ≤ min(ε, aε²/2) at order a. So it satisfies the bound
        D_a ≤ v if ε ≤ v or aε²/2 ≤ v. The ε is the largest one for which this holds at every declared order.
        """
        bounds = zip(self.orders, self.epsilons, strict=True)
        epsilon = min(max(divergence, math.sqrt(2.0 * divergence / order)) for order, divergence in bounds)
        # Rounded down by more than the error of the square root, because a smaller ε also satisfies the bounds.
        rounded_down = 1.0 - 2.0**-50
        return DeclaredBounds(epsilon * rounded_down, 0.0)

"""The spec of the Poisson binomial mechanism."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Dimension, Quantity, request
from epsilond.accountants.specs.primitives import KIND, SummedTrials

LARGEST_SUM = 2**17
"""Largest possible value of a sum that is accounted for; its distribution is computed in some milliseconds."""
TRIALS = Quantity(
    symbol="m",
    ge=1,
    le=LARGEST_SUM,
    description="number of trials of the Binomial variable of one client and one coordinate",
)
THETA = Quantity(
    symbol="θ",
    ge=2.0**-20,
    le=0.5 - 2.0**-20,
    description="largest distance of a trial's success probability from 1/2: at a coordinate x it is 1/2 + theta·x/C",
)
SUMMED_CLIENTS = Quantity(
    symbol="n", ge=1, le=LARGEST_SUM, description="smallest number of clients in any sum that the adversary sees"
)


@request
class PoissonBinomial:
    """Releases sums over clients of Binomial(trials, 1/2 + theta·x/C) for each coordinate x of a client's vector.

    C bounds the absolute value of every coordinate (ℓ∞). All binomial variables are independent and drawn afresh. Only
    the sum over at least `clients` clients is seen for each of `dimension` coordinates, as by secure aggregation. One
    client's message by itself is that of `clients` = 1, which is needed if the observer is a server.

    Admits: values of the other clients that the adversary knows or chooses before the draw, within C. Replace-one
    exchanges one client's vector for another one within C. An ℓ2 bound C also bounds every coordinate. An absent client
    changes the number of trials, so other relations have no bound here.
    """

    kind: Annotated[Literal["poisson_binomial"], KIND] = "poisson_binomial"
    trials: Annotated[int, TRIALS]
    theta: Annotated[float, THETA]
    dimension: Dimension
    clients: Annotated[int, SUMMED_CLIENTS] = 1

    def check(self) -> None:
        """Check that the distribution of a sum of all trials of `clients` clients can be computed.

        Raises:
            InvalidInput: the product of clients and trials exceeds `LARGEST_SUM`.
        """
        if self.clients * self.trials > LARGEST_SUM:
            message = "makes sums larger than are computed; fewer clients give a valid, larger bound"
            raise InvalidInput.at("/clients", message, allowed=f"clients × trials ≤ {LARGEST_SUM}")

    @property
    def primitive(self) -> SummedTrials:
        """Sums of the trials of at least `clients` clients, as the basic mechanism that theorems are about."""
        return SummedTrials(self.trials, self.theta, self.dimension, self.clients)

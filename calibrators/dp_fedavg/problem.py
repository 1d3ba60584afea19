"""The question that `dp-fedavg` answers: a target, who takes part in a round, and the limits of the run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, ClassVar, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    DIAMETER,
    LIPSCHITZ,
    OBSERVER,
    PARTICIPANTS,
    PARTICIPANTS_AMONG_CLIENTS,
    ROUNDS,
    SAMPLING,
    UNIT,
    Checks,
    Clients,
    Dimension,
    Quantity,
    TargetedProblem,
    WindowedUnit,
    request,
    value_of,
)
from epsilond.accountants.quantities.algorithms import COUNT_STD, UPDATE_NORM
from epsilond.accountants.quantities.limits import (
    COMMUNICATION_BUDGET,
    MAX_BYTES_PER_CLIENT,
    MAX_REPORTS_PER_CLIENT,
    MAX_ROUNDS,
)
from epsilond.accountants.theorems.risk.averaged_steps import CohortSampling

BITS_PER_COORDINATE = 32
USUAL_ROUNDS = 2000
"""Largest number of rounds that is chosen if the request has no limit."""
ADAPTIVE_CLIPPING = Quantity(
    description="adaptive clipping: the clipping norm follows a quantile of the updates' norms. Every round "
    "then also releases a noisy sum of bits. Absent: the clipping norm is fixed"
)


@request
class AdaptiveClipping:
    """Adaptive clipping by Andrew et al. 2021: every round releases a noisy share of the updates that were not clipped.

    Each participant sends a bit, ½ if its update was not clipped and −½ otherwise. The share is ½ + (noisy sum of the
    bits)/M, for the `participants` M of the request. The authors choose M/20 as `count_std`.
    """

    count_std: Annotated[float, COUNT_STD]


@request
class DpFedavgProblem(TargetedProblem):
    """The target, the clients, the size of a round, and limits on the run.

    `participants` is the number of participants of a round; for `poisson` the expected number. If it is absent, all
    clients take part. If `rounds` is absent, it is chosen within the limits. A bound on the excess risk needs
    `lipschitz` and `diameter`, and is for one gradient step of a client in each round.
    """

    checks: ClassVar[Checks] = (PARTICIPANTS_AMONG_CLIENTS,)

    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    rounds: Annotated[int | None, ROUNDS] = None
    dimension: Dimension
    clipping_norm: Annotated[float, UPDATE_NORM]
    sampling: Annotated[CohortSampling, SAMPLING] = "poisson"
    adaptive_clipping: Annotated[AdaptiveClipping | None, ADAPTIVE_CLIPPING] = None
    max_rounds: Annotated[
        int | None,
        MAX_ROUNDS.assume(f"{USUAL_ROUNDS}", lambda p: p.usual_rounds, when=lambda p: p.rounds is None),
    ] = None
    communication_budget: Annotated[int | None, COMMUNICATION_BUDGET] = None
    max_bytes_per_client: Annotated[int | None, MAX_BYTES_PER_CLIENT] = None
    max_reports_per_client: Annotated[float | None, MAX_REPORTS_PER_CLIENT] = None
    lipschitz: Annotated[float | None, LIPSCHITZ] = None
    diameter: Annotated[float | None, DIAMETER] = None
    unit: Annotated[
        Literal["client"] | WindowedUnit,
        UNIT.only("client", because="an update is clipped as a whole, so the noise hides all data of one client"),
    ]
    observer: Annotated[
        Literal["released-models", "final-model", "other-clients"],
        OBSERVER.only(
            "released-models",
            "final-model",
            "other-clients",
            because="the server adds the noise to the sum of the updates, so it is trusted with them",
        ),
    ]

    def check(self) -> None:
        """Check that a full round has all clients, that the limits allow a round, and that given rounds obey them."""
        faults = list(self._faults())
        if faults:
            raise InvalidInput(*faults)

    def _faults(self) -> Iterator[Fault]:
        """Yield the fault of a full round that lacks clients, and of each limit that is below the given rounds or 1."""
        if self.sampling == "full" and self.reporting != self.clients:
            yield Fault("/participants", "all clients take part in a full round", f"{self.clients}, or absent")
        for name, most in self._limits():
            if most < 1:
                yield Fault(f"/{name}", "does not pay for one round")
            elif self.rounds is not None and self.rounds > most:
                yield Fault("/rounds", f"is more than {name} allows", f"≤ {most}")

    def _limits(self) -> Iterator[tuple[str, int]]:
        """Yield each limit that the request gives, with the largest number of rounds that it allows.

        Limits concern the rounds, the traffic, and the reports of one client.

        Yields:
            The name of the field, and the number of rounds, at least 0.
        """
        share = Fraction(self.reporting, self.clients)  # of the clients that report in a round
        bits = self.bits_per_report
        if self.max_rounds is not None:
            yield "max_rounds", self.max_rounds
        if self.communication_budget is not None:
            yield "communication_budget", self.communication_budget // (bits * self.reporting)
        if self.max_bytes_per_client is not None:
            yield "max_bytes_per_client", math.floor(8 * self.max_bytes_per_client / (bits * share))
        if self.max_reports_per_client is not None:
            yield "max_reports_per_client", math.floor(Fraction(self.max_reports_per_client) / share)

    @property
    def most_rounds(self) -> int:
        """Largest number of rounds that the limits allow, including the usual limit if `max_rounds` is absent."""
        return min([int(value_of(self, "max_rounds")), *(most for _, most in self._limits())])

    @property
    def usual_rounds(self) -> int:
        """Default of `max_rounds`."""
        return USUAL_ROUNDS

    @property
    def reporting(self) -> int:
        """Number M of participants of a round, in expectation for `poisson`."""
        return self.participants or self.clients

    @property
    def rate(self) -> float:
        """Participation rate q = M/N, for M participants of N clients."""
        return self.reporting / self.clients

    @property
    def bits_per_report(self) -> int:
        """Bits that a participant sends in a round: an update and, for adaptive clipping, its clipped bit."""
        return BITS_PER_COORDINATE * self.dimension + (self.adaptive_clipping is not None)

    def reports_per_client(self, rounds: int) -> Fraction:
        """Return the number of rounds in which a client takes part; the expected number if clients are drawn."""
        return rounds * Fraction(self.reporting, self.clients)

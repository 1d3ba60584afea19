"""The question that ppsgd answers: a target, clients with a shared and an own part of the model, and how they learn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.federation import read_members
from epsilond.accountants.quantities import (
    ANY_EPSILON,
    BATCH_SIZE,
    CLIENT_GROUPS,
    LIPSCHITZ,
    OBSERVER,
    RATE,
    SAMPLING,
    SMOOTHNESS,
    SQUARES,
    UNIT,
    Clients,
    Quantity,
    Rounds,
    TargetedProblem,
    WindowedUnit,
    request,
    value_of,
)
from epsilond.accountants.quantities.algorithms import (
    FINITE_PERSONALIZATION,
    LOCAL_GRADIENT_STD,
    NOISE_CONSTANT,
    OPTIMUM_NORM,
    OPTIMUM_SPREAD,
    PERSONALIZATION,
    SHARED_GRADIENT_NORM,
    SHARED_GRADIENT_STD,
    WEIGHTING,
    ClippingNorm,
    SharedDimension,
    Weighting,
    personalization_value,
)
from epsilond.accountants.theorems.papers.bietti.sampled_noise import (
    Batches,
    ClientSampling,
    check_groups,
    participants_of,
)
from epsilond.accountants.theorems.risk.bietti.drawn_gradients import DrawnGradients, GroupOfUsers

Reading = Literal["statement", "experimental"]
READINGS: tuple[Reading, ...] = ("statement", "experimental")


@request
class PpsgdProblem(TargetedProblem):
    """The target, the clients, and for a bound on the excess risk the learning problem.

    A client is protected as a whole, against all other clients together. `participation_rate` is needed unless all
    clients take part. For `without-replacement` it gives the number of participants, as a fraction of `clients`. The
    bound on the excess risk needs `smoothness` and `optimum_norm`. It is for models that are the sum of a shared part
    and a client's own part. If `personalization` is absent, the degree of sharing with the smallest bound is chosen.
    """

    epsilon: Annotated[float | None, ANY_EPSILON, SQUARES] = None
    clients: Clients
    rounds: Rounds
    sampling: Annotated[ClientSampling, SAMPLING] = "full"
    participation_rate: Annotated[float | None, RATE, SQUARES] = None
    clipping_norm: ClippingNorm
    shared_dimension: SharedDimension
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    lipschitz: Annotated[
        float | None,
        LIPSCHITZ.assume(
            "the largest value at which clipping_norm clips no message", lambda p: p.clipping_norm / p.most_added
        ),
    ] = None
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    client_groups: Annotated[tuple[Batches, ...] | None, CLIENT_GROUPS] = None
    weighting: Annotated[Weighting, WEIGHTING] = "clients"
    shared_gradient_std: Annotated[
        float | None, SHARED_GRADIENT_STD.assume("the value of lipschitz", lambda p: p.gradient_bound)
    ] = None
    local_gradient_std: Annotated[
        float | None,
        LOCAL_GRADIENT_STD.assume(
            "shared_gradient_std. Both are equal for losses of the sum of shared and own part",
            lambda p: p.gradient_bound if p.shared_gradient_std is None else p.shared_gradient_std,
        ),
    ] = None
    shared_gradient_norm: Annotated[
        float | None,
        SHARED_GRADIENT_NORM.assume(
            "the smaller one of clipping_norm and lipschitz. It is 0 for losses of the sum of shared and own part, if "
            "every client's own part is at its optimum",
            lambda p: min(p.clipping_norm, p.gradient_bound),
            when=lambda p: p.rate < 1.0,
        ),
    ] = None
    optimum_norm: Annotated[float | None, OPTIMUM_NORM] = None
    optimum_spread: Annotated[float, OPTIMUM_SPREAD] = 0.0
    personalization: Annotated[
        Annotated[float, FINITE_PERSONALIZATION] | Literal["unbounded"] | None, PERSONALIZATION
    ] = None
    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None
    unit: Annotated[
        Literal["client"] | WindowedUnit,
        UNIT.only("client", because="a message is clipped as a whole, so the noise hides all data of one client"),
    ]
    observer: Annotated[
        Literal["other-clients"],
        OBSERVER.only(
            "other-clients", because="the server is trusted, and each client sees its own model besides the shared part"
        ),
    ]
    readings: Annotated[
        tuple[Reading, ...] | None,
        Quantity(description="interpretations (readings) of the printed theorems to return; all if absent"),
    ] = None

    def check(self) -> None:
        """Check the degree of sharing, the client groups, the draw of clients, and that fields agree.

        The degree of sharing α is the weight of the model part that all clients share.

        Raises:
            InvalidInput: a field is out of range, is missing, or contradicts another one.
        """
        if self.personalization is not None:
            personalization_value(self.personalization)
        if self.client_groups is not None:
            read_members(self, "client_groups", Batches)
            check_groups(self.client_groups)
        faults = list(self._faults())
        if faults:
            raise InvalidInput(*faults)
        participants_of(self.sampling, rate=self.rate, clients=self.clients)

    def _faults(self) -> Iterator[Fault]:
        """Yield a fault for each contradiction between fields, and for a missing participation rate.

        Yields:
            Faults with the pointer to the field, the reason and the allowed values.
        """
        if self.sampling != "full" and self.participation_rate is None:
            yield Fault("/participation_rate", "is needed unless all clients take part", RATE.allowed)
        if self.client_groups is not None:
            if self.batch_size is not None:
                yield Fault("/client_groups", "give at most one of batch_size and client_groups")
            if sum(group.clients for group in self.client_groups) != self.clients:
                yield Fault("/client_groups", "must add up to clients", f"{self.clients} clients")
        if not set(self.readings or ()) <= set(READINGS):
            yield Fault("/readings", "has an unknown reading", ", ".join(READINGS))

    @property
    def rate(self) -> float:
        """Participation rate q of a client in a round."""
        return 1.0 if self.participation_rate is None else self.participation_rate

    @property
    def participants(self) -> int | None:
        """Number of clients of a round, None if it is random."""
        return participants_of(self.sampling, rate=self.rate, clients=self.clients)

    @property
    def batches(self) -> tuple[Batches, ...]:
        """The clients, grouped by their batch sizes."""
        return self.client_groups or (Batches(clients=self.clients, batch_size=self.batch_size or 1),)

    @property
    def gradient_bound(self) -> float:
        """Bound G on gradients: as given, or the bound that clipping implies for the gradients summed in a message."""
        bound: float = value_of(self, "lipschitz")
        return bound

    @property
    def clipping_may_bind(self) -> bool:
        """True if a message may exceed the clipping norm, which the risk bounds exclude."""
        # The factor leaves room for the rounding of the product.
        return self.gradient_bound * self.most_added > self.clipping_norm * (1.0 + 1e-12)

    @cached_property
    def federation(self) -> DrawnGradients:
        """The clients in the form that the risk bounds need.

        Gradient statistics that the request leaves out have the values that it assumes for them, mostly the largest
        that clipping allows.
        """
        names = ("shared_gradient_std", "local_gradient_std", "shared_gradient_norm")
        statistics = {name: value_of(self, name) for name in names}
        groups = tuple(
            GroupOfUsers(clients=batch.clients, batch_size=batch.batch_size, **statistics) for batch in self.batches
        )
        has_fixed_number = self.sampling == "without-replacement"
        return DrawnGradients(
            groups=groups,
            weighting=self.weighting,
            rate=self.rate,
            draw="fixed-number" if has_fixed_number else "independent",
        )

    @property
    def most_added(self) -> int:
        """Largest number of gradients that are summed in one message."""
        return 1 if self.weighting == "clients" else max(batch.batch_size for batch in self.batches)

"""The request of a plan: a federation and a learning problem, without a choice of algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Annotated, ClassVar, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    ANY_EPSILON,
    ANY_SCALE,
    BATCH_SIZE,
    CLIENTS,
    DELTA,
    DIAMETER,
    DIMENSION,
    EMPIRICAL_GRADIENT_STD,
    EXCESS_RISK,
    GRADIENT_STD,
    HETEROGENEITY,
    IDENTICALLY_DISTRIBUTED,
    INITIAL_DISTANCE,
    INITIAL_GAP,
    LIPSCHITZ,
    LOG10_DELTA,
    OBSERVER,
    PARTICIPANTS,
    ROUNDS,
    SAMPLES_PER_CLIENT,
    SAMPLING,
    SMOOTHNESS,
    STEP_SIZE,
    STRONG_CONVEXITY,
    NeighbourFields,
    Observer,
    Quantity,
    Sampling,
    request,
)
from epsilond.accountants.quantities.algorithms import (
    CLIPPING_NORM,
    LOCAL_GRADIENT_STD,
    OPTIMUM_NORM,
    OPTIMUM_SPREAD,
    QUANTIZATION_LEVELS,
    SHARED_DIMENSION,
    SHARED_GRADIENT_NORM,
    SHARED_GRADIENT_STD,
)
from epsilond.accountants.quantities.limits import (
    COMMUNICATION_BUDGET,
    MAX_BYTES_PER_CLIENT,
    MAX_GRADIENTS,
    MAX_REPORTS_PER_CLIENT,
    MAX_ROUNDS,
    Within,
)
from epsilond.accountants.quantities.risks import RISKS, RiskTargetFields
from epsilond.accountants.target import Target, natural_log_delta
from epsilond.calibrators.answer import Objective

Trust = Literal["local", "shuffle", "central", "joint"]
RankBy = Literal["risk", "noise", "signal", "bits", "rounds"]
Unknown = Literal["epsilon", "samples_per_client", "participants", "clients"]
ClientSampling = Literal["poisson", "without-replacement"]

TRUST = Quantity(
    description=(
        "trust models that are accepted; all if absent. local: no other party is trusted. shuffle: a shuffler is "
        "trusted. central: the server is trusted, and others see models only. joint: the server is trusted, and a "
        "client's own model stays with the client"
    )
)
OBSERVERS = Quantity(
    description="adversaries that are accepted. An algorithm applies if the adversary of its guarantee is in the list "
    "by name. List stronger ones too",
    choices=OBSERVER.choices,
)
RANK_BY = Quantity(
    description="quantity by which entries with the same kind of guarantee are ranked, the smallest first. "
    "risk: the bound on the excess risk. noise: noise_std. signal: noise_to_signal. bits, rounds: "
    "the entry's fields"
)
ALGORITHMS = Quantity(description="names of the algorithms to consider; absent: all")
CLIENT_SAMPLING = Quantity(
    description="how the participants of a round are drawn if they are fewer than all clients. Absent: poisson "
    "for dp-fedavg, without-replacement for other algorithms"
)
OBJECTIVE = Quantity(
    description="preferred objective of the recommended algorithm. population: loss on new data. empirical: "
    "loss on the data at hand. personalized: loss of a separate model for every client. If no "
    "algorithm has it, or if it is absent, any objective may be recommended"
)
SOLVE_FOR = Quantity(description="field whose smallest sufficient value is computed. The plan must leave it out")
REACH = Quantity(description="target for the excess risk, and the field that is changed to reach it")


@request
class Reach:
    """A question for the smallest value of one field at which the upper bound on the excess risk is at most `risk`."""

    risk: Annotated[float, EXCESS_RISK]
    solve_for: Annotated[Unknown, SOLVE_FOR]

    def check(self) -> None:
        """Reject a risk of 0, which no run reaches."""
        if self.risk == 0.0:
            raise InvalidInput.at("/risk", "is out of range", allowed="> 0")


@request
class PlanProblem(NeighbourFields, RiskTargetFields):
    """The target, the federation and the learning problem, of which each algorithm uses the fields that it needs.

    Losses are convex. All algorithms need only the target and the number of clients. An entry that lacks another field
    says which. Leave out `rounds` or `batch_size` where an algorithm shall choose them. Limits on rounds, traffic and
    participation restrict this choice. An entry that exceeds a limit is never ranked or recommended.
    """

    scale: ClassVar = ANY_SCALE

    epsilon: Annotated[float | None, ANY_EPSILON] = None
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    clients: Annotated[int | None, CLIENTS] = None
    samples_per_client: Annotated[int | None, SAMPLES_PER_CLIENT] = None
    participants: Annotated[int | None, PARTICIPANTS] = None
    client_sampling: Annotated[ClientSampling | None, CLIENT_SAMPLING] = None
    dimension: Annotated[int | None, DIMENSION] = None
    lipschitz: Annotated[float | None, LIPSCHITZ] = None
    diameter: Annotated[float | None, DIAMETER] = None
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: Annotated[float | None, STRONG_CONVEXITY] = None
    initial_distance: Annotated[float | None, INITIAL_DISTANCE] = None
    initial_gap: Annotated[float | None, INITIAL_GAP] = None
    identically_distributed: Annotated[bool, IDENTICALLY_DISTRIBUTED] = True
    heterogeneity: Annotated[float | None, HETEROGENEITY] = None
    gradient_std: Annotated[float | None, GRADIENT_STD] = None
    empirical_gradient_std: Annotated[float | None, EMPIRICAL_GRADIENT_STD] = None
    rounds: Annotated[int | None, ROUNDS] = None
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    sampling: Annotated[Sampling | None, SAMPLING] = None
    step_size: Annotated[float | None, STEP_SIZE] = None
    max_gradients: Annotated[int | None, MAX_GRADIENTS] = None
    communication_budget: Annotated[int | None, COMMUNICATION_BUDGET] = None
    max_rounds: Annotated[int | None, MAX_ROUNDS] = None
    max_bytes_per_client: Annotated[int | None, MAX_BYTES_PER_CLIENT] = None
    max_reports_per_client: Annotated[float | None, MAX_REPORTS_PER_CLIENT] = None
    within: Within = 0.1
    quantization_levels: Annotated[int | None, QUANTIZATION_LEVELS] = None
    clipping_norm: Annotated[float | None, CLIPPING_NORM] = None
    shared_dimension: Annotated[int | None, SHARED_DIMENSION] = None
    shared_gradient_std: Annotated[float | None, SHARED_GRADIENT_STD] = None
    local_gradient_std: Annotated[float | None, LOCAL_GRADIENT_STD] = None
    shared_gradient_norm: Annotated[float | None, SHARED_GRADIENT_NORM] = None
    optimum_norm: Annotated[float | None, OPTIMUM_NORM] = None
    optimum_spread: Annotated[float | None, OPTIMUM_SPREAD] = None
    observers: Annotated[tuple[Observer, ...], OBSERVERS]
    trust: Annotated[tuple[Trust, ...] | None, TRUST] = None
    algorithms: Annotated[tuple[str, ...] | None, ALGORITHMS] = None
    objective: Annotated[Objective | None, OBJECTIVE] = None
    rank_by: Annotated[RankBy, RANK_BY] = "risk"
    reach: Annotated[Reach | None, REACH] = None

    def check(self) -> None:
        """Check that there is one target, that clients are given or solved for, and that fields agree."""
        has_delta = self.delta is not None or self.log10_delta is not None
        if has_delta or self.risk is None:
            natural_log_delta(self.delta, self.log10_delta)
        faults = list(self._faults())
        if faults:
            raise InvalidInput(*faults)

    def _faults(self) -> Iterator[Fault]:
        """Yield a fault for each contradiction between fields of the plan, and for each missing field."""
        if self.risk is not None and (self.epsilon is not None or self.unknown == "epsilon"):
            yield Fault("/epsilon", f"is one target, and {self.risk.kind} is another")
        elif self.risk is None and self.epsilon is None and self.unknown != "epsilon":
            yield Fault("/epsilon", f"is needed, or one of {', '.join(RISKS)}", "unless reach solves for it")

        if self.clients is None and self.unknown != "clients":
            yield Fault("/clients", "is needed", "unless reach solves for it")
        if self.unknown is not None and getattr(self, self.unknown) is not None:
            yield Fault(f"/{self.unknown}", "is the field that is solved for")
        if self.reach is not None and self.rank_by != "risk":
            yield Fault("/rank_by", "entries that reach a risk are ranked by the value of the changed field", "risk")

        if self.clients is not None and (self.participants or 1) > self.clients:
            yield Fault("/participants", "cannot exceed clients", f"≤ {self.clients}")
        for name in ("trust", "observers", "algorithms"):
            values = getattr(self, name)
            if values is not None and not values:
                yield Fault(f"/{name}", "must not be empty; leave it out")
        if self.max_rounds is not None and (self.rounds or 0) > self.max_rounds:
            yield Fault("/rounds", "is more than max_rounds allows", f"≤ {self.max_rounds}")

    @property
    def unknown(self) -> Unknown | None:
        """Name of the field that is solved for; None if the plan solves for none."""
        return None if self.reach is None else self.reach.solve_for

    @property
    def target(self) -> Target | None:
        """The requested (ε, δ) or risk; None if ε is solved for."""
        if self.risk is not None:
            return Target.of_risk(self.risk, self.delta, self.log10_delta)
        return None if self.epsilon is None else Target.of(self.epsilon, self.delta, self.log10_delta)

    @property
    def reporting(self) -> int | None:
        """Number M of participants, by default all clients."""
        return self.participants or self.clients

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the fields of the run and the learning problem that are not at their default."""
        described = (field for field in fields(self) if field.name not in ABOUT_THE_PLAN)
        return tuple(field.name for field in described if getattr(self, field.name) != field.default)


LIMITS = ("max_rounds", "communication_budget", "max_bytes_per_client", "max_reports_per_client")
"""Fields that limit a run. They apply to every algorithm, including those that cannot keep to them."""
ABOUT_THE_PLAN = frozenset(
    {"relation", "unit", "trust", "observers", "algorithms", "objective", "rank_by", "reach", *LIMITS},
)
"""Fields that describe the requirements of the plan, not the run."""

"""What the statements of Lowy and Razaviyayn ask of a run, and the conditions they share.

Clients that differ, and a random number of participants, stand in `lowy_unlike_inputs`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Protocol

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import (
    DELTA,
    LOG10_DELTA,
    ROUNDS,
    SAMPLING,
    BatchSize,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    Lipschitz,
    Participants,
    Quantity,
    SamplesPerClient,
    StrongConvexity,
    natural_log_delta,
    request,
)
from epsilond.accountants.scales import check_scales
from epsilond.accountants.theorem import Condition, Reading, Sides
from epsilond.accountants.theorems.papers.lowy_razaviyayn.clients import ClientGroup, Federation
from epsilond.accountants.theorems.papers.lowy_razaviyayn.noise import epsilon_limit, minimal_batch_size_real

Variant = Literal["informal", "complete"]

_VARIANT = Quantity(description="the main text's statement with hidden constants, or the appendix's complete one")


@request
class FederatedInputs:
    """The federation and the loss, apart from who participates. Give one of delta and log10_delta."""

    epsilon: Epsilon
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    samples_per_client: SamplesPerClient
    clients: Clients
    dimension: Dimension
    lipschitz: Lipschitz
    diameter: Diameter
    strong_convexity: StrongConvexity = 0.0

    def check(self) -> None:
        """One δ; K ≤ n unless drawn with replacement, μ ≤ β where there is a β; scales whose squares are doubles."""
        natural_log_delta(self.delta, self.log10_delta)
        check_scales(**{name: getattr(self, name) for name in self.scales()})
        smoothness: float | None = getattr(self, "smoothness", None)
        twice = getattr(self, "sampling", None) == "with-replacement"
        if (getattr(self, "batch_size", None) or 1) > self.samples_per_client and not twice:
            raise InvalidInput.at("/batch_size", "exceeds the client's records", allowed=f"≤ {self.samples_per_client}")
        if smoothness is not None and self.strong_convexity > smoothness:
            raise InvalidInput.at("/strong_convexity", "exceeds the smoothness", allowed=f"≤ {smoothness:g}")

    def scales(self) -> tuple[str, ...]:
        """Fields whose squares enter a formula."""
        return ("epsilon", "lipschitz", "diameter", "strong_convexity")

    @property
    def log_delta(self) -> float:
        """ln δ."""
        return natural_log_delta(self.delta, self.log10_delta)


@request
class EqualClientsInputs(FederatedInputs):
    """Equal clients, M of N in each round, and the loss. Give one of delta and log10_delta."""

    participants: Participants

    def check(self) -> None:
        """And M ≤ N."""
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        super().check()


class Prescribed(Protocol):
    """What a statement prescribes."""

    @property
    def rounds(self) -> int:
        """Rounds to run."""

    @property
    def prescribed_rounds(self) -> float:
        """The real number of which they are the least integer at or above, unless they were given."""


@request
class BatchRunInputs(FederatedInputs, ABC):
    """And batches of K records. Absent: rounds are as prescribed."""

    variant: Annotated[Variant, _VARIANT] = "complete"
    batch_size: BatchSize
    rounds: Annotated[int | None, ROUNDS] = None
    sampling: Annotated[Literal["without-replacement", "with-replacement"], SAMPLING] = "without-replacement"

    @property
    @abstractmethod
    def kinds(self) -> Sequence[ClientGroup]:
        """The clients, alike ones together, each with its own n, K, ε and δ."""

    @abstractmethod
    def prescription(self, reading: Reading) -> Prescribed:
        """What the variant prescribes in a reading."""


@request
class BatchInputs(EqualClientsInputs, BatchRunInputs, ABC):
    """Equal clients with batches of K records. Absent: rounds are as prescribed."""

    @property
    def federation(self) -> Federation:
        """The clients."""
        return Federation.of_equal_clients(
            clients=self.clients,
            participants=self.participants,
            samples_per_client=self.samples_per_client,
            batch_size=self.batch_size,
            epsilon=self.epsilon,
            log_delta=self.log_delta,
        )

    @property
    def kinds(self) -> Sequence[ClientGroup]:
        """All of one kind."""
        return self.federation.groups


# Conditions ---------------------------------------------------------------------------------------------------------
def binding(every: Iterable[Sides]) -> Sides:
    """Of the same condition on several clients the one that fails most, or else comes closest to failing."""
    sides = list(every)
    failing = [one for one in sides if one.holds is False]

    def apart(one: Sides) -> float:
        return abs(one.left - one.right) / max(abs(one.left), abs(one.right), 1e-300)

    return max(failing, key=apart) if failing else min(sides, key=apart)


def epsilon_range(inputs: BatchRunInputs) -> Sides:
    """ε against the variant's limit."""
    return binding(
        Sides.at_most(kind.epsilon, epsilon_limit(log_delta=kind.log_delta, reading=inputs.variant))
        for kind in inputs.kinds
    )


def _large_enough_batch(inputs: BatchRunInputs, reading: Reading) -> Sides:
    """K against K_min at the rounds of the reading; n is the client's own (E-04)."""
    rounds = inputs.prescription(reading).rounds

    def least(kind: ClientGroup) -> float:
        return minimal_batch_size_real(
            samples_per_client=kind.samples_per_client,
            rounds=rounds,
            epsilon=kind.epsilon,
            log_delta=kind.log_delta,
        )

    return binding(Sides.at_least(kind.batch_size, least(kind)) for kind in inputs.kinds)


def _drawn_once(inputs: BatchRunInputs) -> Sides:
    """How often a record may be drawn into one batch, against once."""
    most = max(kind.batch_size for kind in inputs.kinds)
    return Sides.at_most(most if inputs.sampling == "with-replacement" else 1, 1)


def _enough_rounds(inputs: BatchRunInputs, reading: Reading) -> Sides:
    """R against the number that the reading prescribes."""
    found = inputs.prescription(reading)
    return Sides.at_least(found.rounds, found.prescribed_rounds)


MINIMAL_BATCH = Condition(
    "minimal-batch-size", "K ≥ ε n/(4 √(2R ln(2/δ))), n the client's own", _large_enough_batch, by_reading=True
)
DRAWN_ONCE = Condition("drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", _drawn_once)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds", "R is at least what the statement prescribes at that R", _enough_rounds, by_reading=True
)

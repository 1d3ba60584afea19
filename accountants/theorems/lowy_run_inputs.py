"""What the statements of Lowy and Razaviyayn ask of a run of equal clients, and the conditions they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal, Protocol

from accountants.errors import InvalidInput
from accountants.quantities import (
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
from accountants.scales import check_scales
from accountants.theorem import Condition, Reading, Sides
from accountants.theorems.lowy_clients import Federation
from accountants.theorems.lowy_noise import epsilon_limit, minimal_batch_size_real

Variant = Literal["informal", "complete"]
READINGS: tuple[Reading, ...] = ("printed", "corrected")

_VARIANT = Quantity(description="the main text's statement with hidden constants, or the appendix's complete one")


@request
class EqualClientsInputs:
    """Equal clients, M of N in each round, and the loss. Give one of delta and log10_delta."""

    epsilon: Epsilon
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    samples_per_client: SamplesPerClient
    clients: Clients
    participants: Participants
    dimension: Dimension
    lipschitz: Lipschitz
    diameter: Diameter
    strong_convexity: StrongConvexity = 0.0

    def check(self) -> None:
        """One δ; M ≤ N, μ ≤ β where there is a β; scales whose squares are doubles."""
        natural_log_delta(self.delta, self.log10_delta)
        check_scales(**{name: getattr(self, name) for name in self.scales()})
        smoothness: float | None = getattr(self, "smoothness", None)
        if self.participants > self.clients:
            raise InvalidInput.at("/participants", "exceeds the number of clients", allowed=f"≤ {self.clients}")
        if (getattr(self, "batch_size", None) or 1) > self.samples_per_client:
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


class Prescribed(Protocol):
    """What a statement prescribes."""

    @property
    def rounds(self) -> int:
        """Rounds to run."""

    @property
    def prescribed_rounds(self) -> float:
        """The real number of which they are the least integer at or above, unless they were given."""


@request
class BatchInputs(EqualClientsInputs, ABC):
    """And batches of K records. Absent: rounds are as prescribed."""

    variant: Annotated[Variant, _VARIANT] = "complete"
    batch_size: BatchSize
    rounds: Annotated[int | None, ROUNDS] = None
    sampling: Annotated[Literal["without-replacement", "with-replacement"], SAMPLING] = "without-replacement"

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

    @abstractmethod
    def prescription(self, reading: Reading) -> Prescribed:
        """What the variant prescribes in a reading."""


# Conditions ---------------------------------------------------------------------------------------------------------
def epsilon_range(inputs: BatchInputs) -> Sides:
    """ε against the variant's limit."""
    return Sides.at_most(inputs.epsilon, epsilon_limit(log_delta=inputs.log_delta, reading=inputs.variant))


def _large_enough_batch(inputs: BatchInputs) -> Sides:
    """K against K_min, at the fewer rounds of the two readings."""
    least = minimal_batch_size_real(
        samples_per_client=inputs.samples_per_client,
        rounds=min(inputs.prescription(reading).rounds for reading in READINGS),
        epsilon=inputs.epsilon,
        log_delta=inputs.log_delta,
    )
    return Sides.at_least(inputs.batch_size, least)


def _drawn_once(inputs: BatchInputs) -> Sides:
    """How often a record may be drawn into one batch, against once."""
    return Sides.at_most(inputs.batch_size if inputs.sampling == "with-replacement" else 1, 1)


def _enough_rounds(inputs: BatchInputs) -> Sides:
    """R against the prescribed number; of the two readings the one that comes closer to failing."""
    both = [inputs.prescription(reading) for reading in READINGS]
    worst = max(both, key=lambda found: found.prescribed_rounds - found.rounds)
    return Sides.at_least(worst.rounds, worst.prescribed_rounds)


MINIMAL_BATCH = Condition(
    "minimal-batch-size", "K ≥ ε n/(4 √(2R ln(2/δ))), at the fewer rounds of the two readings", _large_enough_batch
)
DRAWN_ONCE = Condition("drawn-once", "no record is drawn into a batch more than once (times drawn ≤ 1)", _drawn_once)
PRESCRIBED_ROUNDS = Condition(
    "prescribed-rounds", "R is at least what the statement prescribes at that R", _enough_rounds
)

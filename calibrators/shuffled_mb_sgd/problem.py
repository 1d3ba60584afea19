"""The question that shuffled-mb-sgd answers: a central target, a federation with a shuffler, and a learning problem."""

from __future__ import annotations

from typing import Annotated, Literal

from epsilond.accountants.errors import Fault, InvalidInput
from epsilond.accountants.quantities import (
    BATCH_SIZE,
    COMMUNICATION_BUDGET,
    DELTA,
    INITIAL_DISTANCE,
    LOG10_DELTA,
    MAX_GRADIENTS,
    OBSERVER,
    PARTICIPANTS,
    RELATION,
    ROUNDS,
    SMOOTHNESS,
    UNIT,
    Clients,
    Diameter,
    Dimension,
    Epsilon,
    Lipschitz,
    Observer,
    Quantity,
    Relation,
    SamplesPerClient,
    StrongConvexity,
    Unit,
    Within,
    request,
)
from epsilond.accountants.theorems.papers.lowy_razaviyayn.shuffled_mb_sgd import NOISE_CONSTANT
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem, Run
from epsilond.calibrators.problem import Target

Reading = Literal["statement", "corrected"]
READINGS: tuple[Reading, ...] = ("statement", "corrected")


@request
class ShuffledMbSgdProblem:
    """The target, and the shape of the federation and of the learning problem. ε and δ are central.

    Give `batch_size` and `rounds`, or leave either out to have it chosen: the smallest run, fewest rounds and then
    least batch, whose certified bound on the excess risk is at most 1 + `within` times what the best one within
    `max_gradients` and `communication_budget` is predicted to have.
    """

    epsilon: Epsilon
    delta: Annotated[float | None, DELTA] = None
    log10_delta: Annotated[float | None, LOG10_DELTA] = None
    samples_per_client: SamplesPerClient
    clients: Clients
    participants: Annotated[int | None, PARTICIPANTS] = None
    dimension: Dimension
    lipschitz: Lipschitz
    diameter: Diameter
    rounds: Annotated[int | None, ROUNDS] = None
    batch_size: Annotated[int | None, BATCH_SIZE] = None
    smoothness: Annotated[float | None, SMOOTHNESS] = None
    strong_convexity: StrongConvexity = 0.0
    initial_distance: Annotated[float | None, INITIAL_DISTANCE] = None
    max_gradients: Annotated[int | None, MAX_GRADIENTS] = None
    communication_budget: Annotated[int | None, COMMUNICATION_BUDGET] = None
    within: Within = 0.1
    noise_constant: Annotated[float | None, NOISE_CONSTANT] = None
    relation: Annotated[Relation, RELATION] = "replace-one"
    unit: Annotated[Unit, UNIT] = "record"
    observer: Annotated[Observer, OBSERVER] = "shuffled-server"
    readings: Annotated[
        tuple[Reading, ...] | None, Quantity(description="which readings of the printed theorem to return")
    ] = None

    def check(self) -> None:
        """Pairs of fields that no run can have: those of mb-sgd, and a reading that there is."""
        self.unshuffled(None)
        if not set(self.readings or ()) <= set(READINGS):
            raise InvalidInput(Fault("/readings", "has an unknown reading", ", ".join(READINGS)))

    def unshuffled(self, run: Run | None) -> MbSgdProblem:
        """The same run without a shuffler, whose pace and risk are the same at the same noise."""
        return MbSgdProblem(
            epsilon=self.epsilon,
            delta=self.delta,
            log10_delta=self.log10_delta,
            samples_per_client=self.samples_per_client,
            clients=self.clients,
            participants=self.participants,
            dimension=self.dimension,
            lipschitz=self.lipschitz,
            diameter=self.diameter,
            rounds=run.rounds if run else self.rounds,
            batch_size=run.batch_size if run else self.batch_size,
            smoothness=self.smoothness,
            strong_convexity=self.strong_convexity,
            initial_distance=self.initial_distance,
            max_gradients=None if run else self.max_gradients,
            communication_budget=None if run else self.communication_budget,
            within=self.within,
        )

    @property
    def target(self) -> Target:
        """The (ε, δ) asked for."""
        return Target.of(self.epsilon, self.delta, self.log10_delta)

    @property
    def reporting(self) -> int:
        """M, by default every client."""
        return self.participants or self.clients

    @property
    def bits_per_round(self) -> int:
        """All participants' messages of one round: one single-precision float per coordinate."""
        return 32 * self.dimension * self.reporting

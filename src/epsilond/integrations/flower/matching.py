"""Events that were composed, matched with the rounds that were observed."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Subsampled
from epsilond.integrations.flower.cohorts import CohortWatch
from epsilond.integrations.flower.events import spec_of_event
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import COHORT, NOISE

if TYPE_CHECKING:
    from flwr.serverapp import GaussianPrivacyEvent

    from epsilond.integrations.flower.wrapper import WrappedRound

ROUNDING: Final = 1e-12
"""Relative tolerance of noise multipliers."""

GENERATOR: Final = "Python's global generator drew the clients, and the program may have seeded it"
UNKNOWN: Final = "a strategy of the caller drew the clients"
FIX_EVENT: Final = "Compose the event of the noise that is added: the smaller multiplier, or use DpFedAvg."
FIX_RELATION: Final = (
    "Let all connected clients take part, or use DpFedAvg. Or declare fresh-cohort if the ε is meant for a client "
    "that keeps its place while its update becomes zero."
)
FIX_SAMPLING: Final = "Use SamplingMethod.NO_AMPLIFICATION, or DpFedAvg with this cohort."
FIX_POPULATION: Final = "Set population_size and sample_size to the numbers of connected and drawn clients."


class Matching:
    """Compares the privacy events that the program composes with the observed rounds, pair by pair in their order.

    Args:
        evidence: takes the results.
        sampling: how the clients are drawn, a value of Flower's `SamplingMethod`.
        relation: neighbouring relation of the account.
    """

    def __init__(self, evidence: Evidence, *, sampling: str, relation: Relation) -> None:
        self._evidence = evidence
        self._sampling = sampling
        self._relation = relation
        self._events: deque[GaussianPrivacyEvent] = deque()
        self._rounds: deque[WrappedRound] = deque()
        self._cohorts = CohortWatch(evidence)

    @property
    def unrecorded(self) -> int:
        """Number of released rounds without an event."""
        return len(self._rounds)

    def compose(self, event: GaussianPrivacyEvent, count: int) -> None:
        """Add equal events that the program composed, and compare them with rounds that have no event yet.

        Args:
            event: the privacy event of one round.
            count: number of events.
        """
        self._events.extend([event] * count)
        self._match()

    def release(self, current: WrappedRound) -> None:
        """Add a round that released a model, and compare it with the next event that has no round yet.

        Args:
            current: the observed round.
        """
        self._rounds.append(current)
        self._match()

    def _match(self) -> None:
        """Compare recorded privacy events with observed rounds, pair by pair in their order, as long as there are both.

        An event with more noise than the round contradicts the record. That, and the premises (conditions of the
        privacy theorem) that hold in each round, are added to the evidence.
        """
        while self._events and self._rounds:
            event = self._events.popleft()
            current = self._rounds.popleft()
            # The tolerance covers the rounding of noise multipliers in double precision.
            if event.noise_multiplier > current.noise_multiplier * (1.0 + ROUNDING):
                recorded = f"{event.noise_multiplier:.6g} where a client is hidden by {current.noise_multiplier:.6g}"
                message = f"the event records the noise multiplier {recorded}"
                self._evidence.contradict(NOISE, message, remedy=FIX_EVENT)
                current.shown.discard(NOISE)
            if current.contacted and self._is_fresh(event, current):
                current.shown.add(COHORT)
            self._evidence.show(current.shown)

    def _is_fresh(self, event: GaussianPrivacyEvent, current: WrappedRound) -> bool:
        """Return whether the clients of a round were observed to be chosen as the recorded privacy event describes.

        This is never the case if the event describes a random draw, because randomness cannot be observed. A draw that
        cannot be the described one is reported.

        Args:
            event: the event that was composed for the round.
            current: the round.

        Returns:
            True if the choice of the clients was observed to be as described. False if the caller must vouch for it.
        """
        step = spec_of_event(event, self._sampling)
        drawn = len(current.contacted)
        connected = len(current.nodes)
        if isinstance(step, Subsampled):
            self._check_draw(step, event, current)
            return False
        # A part of the clients without amplification is a problem only if clients may be added or removed.
        is_unamplified_draw = self._sampling == "no-amplification" and drawn < connected
        if not is_unamplified_draw or self._relation != "add-or-remove-one":
            return True
        if not current.fixed:
            self._evidence.rest_on_caller(COHORT, UNKNOWN)
            return False
        message = (
            f"{drawn} of {connected} clients were drawn: under add-or-remove-one another client takes the place of one"
            " that is removed"
        )
        self._evidence.contradict(COHORT, message, remedy=FIX_RELATION)
        return False

    def _check_draw(self, step: Subsampled, event: GaussianPrivacyEvent, current: WrappedRound) -> None:
        """Check that the clients of a round may be the random draw that its privacy event describes; report it if not.

        A privacy event is Flower's description of one release. That a draw is random can only be tested, so the caller
        must vouch for it.

        Args:
            step: the spec of the event, with its sampling.
            event: the event that was composed for the round, with the sizes of the draw and of the population.
            current: the round.
        """
        # First the facts that were observed, then the cases in which they contradict the event.
        drawn = len(current.contacted)
        connected = len(current.nodes)
        is_poisson = step.sampling == "poisson"
        if connected < event.population_size:
            message = f"{connected} clients were connected, and the event counts on {event.population_size}"
            self._evidence.contradict(COHORT, message, remedy=FIX_POPULATION)
        elif is_poisson and current.fixed:
            message = "FedAvg draws a fixed number of clients, and the event counts on Poisson"
            self._evidence.contradict(COHORT, message, remedy=FIX_SAMPLING)
        elif not is_poisson and drawn != event.sample_size:
            message = f"{drawn} clients were drawn, and the event counts on {event.sample_size}"
            self._evidence.contradict(COHORT, message, remedy=FIX_POPULATION)
        # Without a contradiction, the clients enter the statistical tests of the draw.
        elif self._cohorts.observe(current.contacted, current.nodes, step=step):
            self._evidence.rest_on_caller(COHORT, GENERATOR if current.fixed else UNKNOWN)

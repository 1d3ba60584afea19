"""Comparison of the privacy events that a program composes with the rounds that were observed."""

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
    """Comparison of the privacy events that a program composes with the observed rounds, pair by pair in their order.

    Args:
        evidence: record of the conditions of the privacy theorem, to which the results are added.
        sampling: kind of sampling of the clients, a value of Flower's `SamplingMethod`.
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
        """Number of rounds that released a model for which no event was composed yet."""
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
        """Compare events with observed rounds, pair by pair in their order, as long as there are both.

        For each pair, the conditions of the privacy theorem that were observed to hold are recorded. An event with more
        noise than its round is recorded as a contradiction.
        """
        while self._events and self._rounds:
            event = self._events.popleft()
            current = self._rounds.popleft()
            if event.noise_multiplier > current.noise_multiplier * (1.0 + ROUNDING):
                recorded = f"{event.noise_multiplier:.6g} where a client is hidden by {current.noise_multiplier:.6g}"
                message = f"the event records the noise multiplier {recorded}"
                self._evidence.contradict(NOISE, message, remedy=FIX_EVENT)
                current.shown.discard(NOISE)
            if current.contacted and self._is_fresh(event, current):
                current.shown.add(COHORT)
            self._evidence.show(current.shown)

    def _is_fresh(self, event: GaussianPrivacyEvent, current: WrappedRound) -> bool:
        """Return whether the clients of a round were observed to be chosen as the privacy event describes.

        It is False for a random choice, because randomness cannot be observed. Then, and in other cases of doubt, the
        condition is left to the caller. A choice that cannot be the described one is recorded as a contradiction.

        Args:
            event: the event that was composed for the round.
            current: the round.
        """
        step = spec_of_event(event, self._sampling)
        drawn = len(current.contacted)
        connected = len(current.nodes)
        if isinstance(step, Subsampled):
            self._check_draw(step, event, current)
            return False
        # If only some clients take part, a removed client may be replaced by another one, which changes two updates.
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
        """Check that the clients of a round may be a random choice as its privacy event describes it.

        If they cannot be, a contradiction is recorded. Otherwise the randomness of the choice is left to the caller,
        because it can be tested but not observed.

        Args:
            step: mechanism of the event, with its sampling.
            event: the event that was composed for the round, with the numbers of chosen and of all clients.
            current: the round.
        """
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
        # `observe` adds the clients to the statistical tests, and returns False if a test rejects the choice.
        elif self._cohorts.observe(current.contacted, current.nodes, step=step):
            self._evidence.rest_on_caller(COHORT, GENERATOR if current.fixed else UNKNOWN)

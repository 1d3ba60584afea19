"""The status of a run that pfl's accountants plan, and that its postprocessors show."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Final

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.guarantee import PrivacyCurve
from epsilond.integrations.federated import FEDERATED
from epsilond.integrations.pfl.mechanism import WatchedMechanism
from epsilond.integrations.pfl.postprocessors import findings
from epsilond.integrations.pfl.runs import RELATION
from epsilond.integrations.stated import Stated
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import NOISE, OUTSIDE_CLIENTS, Premise
from epsilond.runs.statement import RunStatement, state_run

if TYPE_CHECKING:
    from pfl.postprocessor.base import Postprocessor

SCALED: Final = (
    "the run adds {scale:g} times the noise of this ε, to stand for a larger cohort; as it is it has ε ≤ {epsilon:.6g}"
)


class PlannedRun(Stated):
    """A plan of pfl with the evidence for it.

    A plan shows nothing of the run: every premise is declared. After `observe` the evidence is that of the iterations
    that ran.
    """

    _evidence: Evidence | None = None
    _planned: Evidence
    _watched: bool = False

    @property
    def evidence(self) -> Evidence:
        """Observations of the iterations that were watched; before the first, the plan without observations."""
        assert self._evidence is not None
        return self._evidence if self._evidence.steps or self._evidence.observations else self._planned

    def declare(self, premise: Premise | str, declaration: str) -> None:
        """Record the caller's word for a premise, from now on.

        Args:
            premise: the premise or its id.
            declaration: the caller's own words, which are printed next to the ε.

        Raises:
            InvalidInput: no such premise, or one that no declaration can replace.
        """
        assert self._evidence is not None
        for evidence in (self._planned, self._evidence):
            evidence.vouch(premise if isinstance(premise, str) else premise.id, declaration)

    def observe(self, postprocessors: Sequence[Postprocessor], *, users: Collection[Hashable] | None = None) -> None:
        """Watch the mechanism of this accountant in each of its iterations, from now on.

        Methods of the first and the last postprocessor and of the mechanism are replaced by methods that observe and
        call the originals.

        Args:
            postprocessors: those of the backend, in its order.
            users: ids of all users that cohorts are drawn from, as the data set gives them; None if not known.

        Raises:
            InvalidInput: no central privacy mechanism is among them, or a run is observed already.
        """
        assert self._evidence is not None
        if self._watched:
            raise InvalidInput.at("/postprocessors", "are observed already")
        self._watched = True
        for finding in findings(postprocessors):
            for evidence in (self._planned, self._evidence):
                if finding.remedy:
                    evidence.contradict(finding.premise, finding.message, remedy=finding.remedy)
                else:
                    evidence.rest_on_caller(finding.premise, finding.message)
        WatchedMechanism(postprocessors, plans=self._plans(), evidence=self._evidence, users=users)

    def _prepare(self, steps: int) -> None:
        """Start with the plan of so many iterations."""
        self._planned = Evidence(FEDERATED, outside=OUTSIDE_CLIENTS)
        self._planned.count_step(count=steps)
        self._evidence = Evidence(FEDERATED, outside=OUTSIDE_CLIENTS)

    def _note_scale(self, scale: float, epsilon: float) -> None:
        """Note that the run adds less noise than its ε is of."""
        assert self._evidence is not None
        for evidence in (self._planned, self._evidence):
            evidence.rest_on_caller(NOISE, SCALED.format(scale=scale, epsilon=epsilon))

    def _require_consistent(self) -> None:
        """Reject a run that an observation contradicts; before the plan is complete there is none."""
        if self._evidence is not None:
            self.require_consistent()

    def _state(self, curve: PrivacyCurve, delta: float) -> RunStatement:
        self._require_consistent()
        return state_run(
            self.evidence,
            curve.epsilon(delta=delta),
            delta=delta,
            relation=RELATION,
            unit="client",
            observer="released-models",
        )

    def _plans(self) -> list[tuple[str, float, float, int]]:
        """Return name, cohort noise parameter, sampling probability and iterations of each planned mechanism."""
        raise NotImplementedError

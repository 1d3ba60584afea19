"""The status of a run that pfl's accountants plan, and that its postprocessors show."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from epsilond.accountants.errors import InvalidInput
from epsilond.integrations.federated import FEDERATED
from epsilond.integrations.pfl.mechanism import MechanismPlan, WatchedMechanism
from epsilond.integrations.pfl.postprocessors import findings
from epsilond.integrations.pfl.runs import SCALE_WARNING, SETTING, PflPrivacyWarning
from epsilond.integrations.stated import Stated
from epsilond.runs.evidence import Evidence
from epsilond.runs.premises import NOISE, OUTSIDE_CLIENTS

if TYPE_CHECKING:
    from pfl.postprocessor.base import Postprocessor

    from epsilond.accountants.guarantee import PrivacyCurve
    from epsilond.runs.premises import Premise
    from epsilond.runs.statement import RunStatement

SCALED: Final = (
    "the run adds {scale:g} times the noise of this ε, to represent a larger cohort; as it is it has ε ≤ {epsilon:.6g}"
)


class PlannedFigure:
    """Descriptor of an attribute with the ε or δ of a planned run.

    Reading it raises `RunDiffers` if an iteration contradicts the plan, because the value is then not valid. The value
    is stored under the name of the attribute with an underscore in front.
    """

    def __set_name__(self, owner: type[PlannedRun], name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, run: PlannedRun | None, owner: type[PlannedRun]) -> Any:
        if run is None:
            return self
        run.require_consistent()
        return getattr(run, self._name)

    def __set__(self, run: PlannedRun, value: float | None) -> None:
        setattr(run, self._name, value)


class PlannedRun(Stated):
    """Base class of accountants for planned runs of pfl, with observations of whether the run keeps to its plan.

    Without `observe`, nothing of the run is known. Every premise (condition) of the privacy theorem is then the
    caller's responsibility. After `observe`, the iterations that are run are checked.
    """

    _setting = SETTING
    _planned: Evidence
    _complete: bool = False
    _watched: bool = False

    @property
    def evidence(self) -> Evidence:
        """Observations of the iterations that were watched; before the first, the plan without observations."""
        if self._evidence.steps or self._evidence.observations:
            return self._evidence
        return self._planned

    @property
    def curve(self) -> PrivacyCurve:
        """The certified curve of the plan; raises `RunDiffers` if an iteration contradicts it."""
        self.require_consistent()
        return self._find_curve()

    def statement(self, delta: float | None = None) -> RunStatement:
        """Return ε of the planned run at δ, with its status: certified, or declared by the caller.

        Args:
            delta: δ of the statement; None for the δ of the plan.

        Returns:
            The statement, with the premises (conditions of the privacy theorem) that only the caller can ensure.

        Raises:
            RunDiffers: the run was observed to differ from the plan.
        """
        if delta is None:
            delta = self._target_delta()
        return super().statement(delta)

    def declare(self, premise: Premise | str, declaration: str) -> None:
        """Record that the caller vouches for a premise, that is, a condition of the privacy theorem.

        The declaration also counts for the plan, before the first iteration is observed.

        Args:
            premise: the premise, or its identifier.
            declaration: reason why the premise holds, in the caller's words.
        """
        super().declare(premise, declaration)
        premise_id = premise if isinstance(premise, str) else premise.id
        self._planned.vouch(premise_id, declaration)

    def require_consistent(self) -> None:
        """Reject a run that an observation contradicts. Before the plan is complete, nothing is rejected.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps. The error lists all observations.
        """
        if self._complete:
            super().require_consistent()

    def observe(self, postprocessors: Sequence[Postprocessor], *, users: Collection[Hashable] | None = None) -> None:
        """Check each iteration of the run from now on.

        Methods of the first postprocessor, the last postprocessor and the mechanism are replaced. The new methods call
        the original ones, and check their arguments and results.

        Args:
            postprocessors: the postprocessors of pfl's backend, in the same order.
            users: ids of all users from which cohorts are drawn, as the data set gives them; None if not known.

        Raises:
            InvalidInput: no central privacy mechanism is among them, or a run is observed already.
        """
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
        """Start without observations, with the record of a run of a given length that only has a plan.

        Args:
            steps: number of planned iterations.
        """
        self._planned = Evidence(FEDERATED, outside=OUTSIDE_CLIENTS)
        self._planned.count_step(count=steps)
        self._evidence = Evidence(FEDERATED, outside=OUTSIDE_CLIENTS)
        self._complete = True

    def _warn_of_scale(self, scale: float, epsilon: float, *, stacklevel: int) -> None:
        """Warn that the run adds less noise than the ε of the plan needs, and record this.

        Args:
            scale: factor by which pfl multiplies the planned noise, below 1.
            epsilon: certified upper bound on ε [nat] with the reduced noise.
            stacklevel: level of the warning for `warnings.warn`, counted from the caller of this method.
        """
        for evidence in (self._planned, self._evidence):
            evidence.rest_on_caller(NOISE, SCALED.format(scale=scale, epsilon=epsilon))
        message = SCALE_WARNING.format(scale=scale, epsilon=epsilon, delta=self._target_delta())
        warnings.warn(message, PflPrivacyWarning, stacklevel=stacklevel + 1)

    def _find_curve(self) -> PrivacyCurve:
        """Return the certified curve of the planned run."""
        raise NotImplementedError

    def _target_delta(self) -> float:
        """Return the δ of the plan."""
        raise NotImplementedError

    def _plans(self) -> list[MechanismPlan]:
        """Return the plan of each mechanism, with the noise that is really added."""
        raise NotImplementedError

"""The names by which every host returns the ε of a run and its status."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import RunDiffers
from epsilond.runs.statement import state_run
from epsilond.runs.status import RunStatus

if TYPE_CHECKING:
    from epsilond.accountants.errors import Observation
    from epsilond.accountants.guarantee import PrivacyCurve
    from epsilond.integrations.setting import StatedSetting
    from epsilond.runs.evidence import Evidence
    from epsilond.runs.premises import Premise
    from epsilond.runs.statement import RunStatement


class Stated:
    """Base class of accountants for other libraries, with the ε of a run, its status, and observations of the run.

    A subclass sets the two attributes below, and defines `_find_curve`, the privacy curve of the recorded steps.

    Attributes:
        _evidence: record of the observations of the run.
        _setting: the neighbouring relation, the protected unit and the observer of the account.
    """

    _evidence: Evidence
    _setting: StatedSetting

    @property
    def evidence(self) -> Evidence:
        """Observations of the run so far."""
        return self._evidence

    @property
    def status(self) -> RunStatus:
        """Status of the run so far."""
        evidence = self._summarize()
        if self._open_observations():
            return RunStatus.CONTRADICTED
        if evidence.status is RunStatus.CERTIFIED and self._open_items():
            return RunStatus.DECLARED
        return evidence.status

    def statement(self, delta: float) -> RunStatement:
        """Return a statement of the ε of the run so far, with the observations that support it.

        Args:
            delta: δ of the statement, between 0 and 1.

        Returns:
            The statement: the interval of ε [nat], its status, and the conditions that only the caller can ensure.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        evidence = self._conclude()
        statement = state_run(evidence, self._enclose_epsilon(delta), delta=delta, **self._setting)
        items = self._open_items()
        if not items:
            return statement
        return replace(statement, status=RunStatus.DECLARED, declared=(*items, *statement.declared))

    def get_epsilon(self, delta: float) -> float:
        """Return the certified upper bound on ε [nat] at δ of the run so far.

        Args:
            delta: δ of the account, between 0 and 1.

        Returns:
            The upper bound, in nats.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self._conclude()
        return float(self._enclose_epsilon(delta).upper)

    def get_delta(self, epsilon: float) -> float:
        """Return the certified upper bound on δ at ε [nat] of the run so far.

        Args:
            epsilon: ε [nat], at least 0.

        Returns:
            The upper bound, from 0 to 1; 0 before the first step.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps.
        """
        self._conclude()
        curve = self._find_curve()
        if curve is None:
            return 0.0
        return float(curve.delta(epsilon=epsilon).upper)

    def declare(self, premise: Premise | str, declaration: str) -> None:
        """Record that the caller vouches for a premise, that is, a condition of the theorem that proves the ε.

        Args:
            premise: the premise or its id.
            declaration: the caller's own words, which are printed next to the ε.

        Raises:
            InvalidInput: there is no such premise, or a declaration cannot replace its observation.
        """
        premise_id = premise if isinstance(premise, str) else premise.id
        self._evidence.vouch(premise_id, declaration)

    def require_consistent(self) -> None:
        """Reject a run that an observation contradicts.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps. The error lists all observations.
        """
        self._conclude()

    def _conclude(self) -> Evidence:
        """Check that no observation contradicts the record of the run, and return the observations.

        Returns:
            The observations, as if the run ended here.

        Raises:
            RunDiffers: the run was observed to differ from its recorded steps. The error lists all observations.
        """
        evidence = self._summarize()
        observations = (*evidence.observations, *self._open_observations())
        if observations:
            raise RunDiffers.of(observations)
        return evidence

    def _summarize(self) -> Evidence:
        """Return the observations of the run as if it ended here."""
        return self.evidence

    def _enclose_epsilon(self, delta: float) -> Interval:
        """Enclose the ε [nat] of the recorded steps at δ."""
        curve = self._find_curve()
        return Interval(0.0, 0.0) if curve is None else curve.epsilon(delta=delta)

    def _find_curve(self) -> PrivacyCurve | None:
        """Return the certified curve of the record; None before its first step."""
        raise NotImplementedError

    def _open_observations(self) -> tuple[Observation, ...]:
        """Return contradictions that a later step of the program can still resolve."""
        return ()

    def _open_items(self) -> tuple[str, ...]:
        """Return conditions that only the caller can ensure, until a later step of the program shows them."""
        return ()

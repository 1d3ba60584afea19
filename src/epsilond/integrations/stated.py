"""The names by which every host returns the status of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.errors import RunDiffers
from epsilond.runs.status import RunStatus

if TYPE_CHECKING:
    from epsilond.accountants.errors import Observation
    from epsilond.runs.evidence import Evidence
    from epsilond.runs.premises import Premise
    from epsilond.runs.statement import RunStatement


class Stated:
    """An object of a host that knows the ε of a run, and the evidence for it."""

    @property
    def evidence(self) -> Evidence:
        """Observations of the run so far."""
        raise NotImplementedError

    def statement(self, delta: float | None = None) -> RunStatement:
        """Return ε at δ with its status.

        Raises:
            RunDiffers: an observation contradicts the record.
        """
        raise NotImplementedError

    @property
    def status(self) -> RunStatus:
        """Status of the run so far."""
        if self._open_observations():
            return RunStatus.CONTRADICTED
        status = self.evidence.status
        if status is RunStatus.CERTIFIED and self._open_items():
            return RunStatus.DECLARED
        return status

    def declare(self, premise: Premise | str, declaration: str) -> None:
        """Record the caller's word for a premise, from now on.

        Args:
            premise: the premise or its id.
            declaration: the caller's own words, which are printed next to the ε.

        Raises:
            InvalidInput: no such premise, or one that no declaration can replace.
        """
        self.evidence.vouch(premise if isinstance(premise, str) else premise.id, declaration)

    def require_consistent(self) -> None:
        """Reject a run that an observation contradicts.

        Raises:
            RunDiffers: with every observation.
        """
        self.evidence.require_consistent()
        observations = self._open_observations()
        if observations:
            raise RunDiffers.of(observations)

    def _complete(self, statement: RunStatement) -> RunStatement:
        """Return a statement with the items that a later step can still resolve."""
        items = self._open_items()
        if not items:
            return statement
        return replace(statement, status=RunStatus.DECLARED, declared=(*statement.declared, *items))

    def _open_observations(self) -> tuple[Observation, ...]:
        """Contradictions that a later step of the program can still resolve."""
        return ()

    def _open_items(self) -> tuple[str, ...]:
        """Declared items that a later step of the program can still resolve."""
        return ()

"""Observations of an Opacus run, one line for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

_STATISTICAL: Final = frozenset({"noise", "rate", "repeated", "sizes"})
"""Kinds of observations that reject the record itself, so that no declaration overrides them."""

if TYPE_CHECKING:
    from epsilond.runs.evidence import Evidence
    from epsilond.runs.premises import Premise


class Reporter:
    """Collector of observations of a run, which counts equal kinds of observations together.

    Messages contain numbers, such as the sizes of a batch. Later observations of the same kind are counted under the
    first message, so a long run with one mistake has one line.

    Attributes:
        evidence: the evidence of the run.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._messages: dict[tuple[str, str], str] = {}

    def contradict(self, premise: Premise, kind: str, message: str, *, remedy: str) -> None:
        """Report an observation that contradicts a premise, that is, a condition of the privacy theorem.

        Args:
            premise: the premise that does not hold.
            kind: short name of the kind of observation, by which repetitions are counted together.
            message: the observation, which may contain numbers of this step.
            remedy: change of the program, or declaration, that resolves the observation.
        """
        first = self._messages.setdefault((premise.id, kind), message)
        self.evidence.contradict(premise, first, remedy=remedy, declarable=kind not in _STATISTICAL)

    def rest_on_caller(self, premise: Premise, reason: str) -> None:
        """Report why a premise cannot be observed in this step, so that the caller must declare that it holds."""
        self.evidence.rest_on_caller(premise, reason)

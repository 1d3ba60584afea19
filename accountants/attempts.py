"""Reports on a proof in errors and answers: conditions that were evaluated, and theorems that were tried."""

from __future__ import annotations

from dataclasses import dataclass

from epsilond.accountants.verdict import Verdict


@dataclass(frozen=True)
class ConditionResult:
    """A condition of a theorem, evaluated at inputs.

    Attributes:
        id: name of the condition.
        statement: the condition in words.
        holds: whether it holds: yes, no, or undecidable from the inputs.
        left: left side of the comparison; None if it cannot be computed.
        right: right side of the comparison; None if it cannot be computed.
    """

    id: str
    statement: str
    holds: Verdict
    left: float | None = None
    right: float | None = None


@dataclass(frozen=True)
class Attempt:
    """A theorem that was tried for a request.

    Attributes:
        theorem: id of the theorem.
        applies: whether it applies.
        reason: the reason if it does not apply.
    """

    theorem: str
    applies: Verdict
    reason: str | None = None

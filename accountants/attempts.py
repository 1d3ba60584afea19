"""Conditions that were evaluated and theorems that were tried, as errors and answers report them."""

from __future__ import annotations

from dataclasses import dataclass

from epsilond.accountants.verdict import Verdict


@dataclass(frozen=True)
class ConditionResult:
    """Result of evaluating a condition of a theorem for a request.

    Attributes:
        id: name of the condition.
        statement: the condition in words.
        holds: verdict: yes, no, or undecidable from the request.
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
    """Theorem that was tried for a request.

    Attributes:
        theorem: id of the theorem.
        applies: verdict on whether it applies.
        reason: the reason why it does not apply; None if it applies.
    """

    theorem: str
    applies: Verdict
    reason: str | None = None

"""Reports on a proof in errors and answers: conditions that were evaluated, and theorems that were tried."""

from __future__ import annotations

from dataclasses import dataclass

from epsilond.accountants.verdict import Verdict


@dataclass(frozen=True)
class ConditionResult:
    """A condition evaluated at inputs. Both sides are None if they cannot be computed."""

    id: str
    statement: str
    holds: Verdict
    left: float | None = None
    right: float | None = None


@dataclass(frozen=True)
class Attempt:
    """A theorem that was tried: its id, whether it applies, and the reason if it does not."""

    theorem: str
    applies: Verdict
    reason: str | None = None

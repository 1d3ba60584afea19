"""What is refused before it starts: a simulation whose own estimate is beyond what the service allows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import BeyondBudget, InvalidInput
from epsilond.accountants.verdict import Verdict
from epsilond.app.settings import Settings
from epsilond.witness.kind import SimulationKind, SimulationPlan

MEGABYTE = 1_048_576
TRIES = 20


@dataclass(frozen=True)
class SimulationLimits:
    """What one simulation may take, by its own estimate."""

    seconds: float
    bytes: int
    """Of one of its blocks."""

    @classmethod
    def of(cls, settings: Settings) -> SimulationLimits:
        """Of a service: half the memory of a worker, for the rest is the libraries'."""
        return cls(settings.job_seconds, settings.worker_memory_megabytes * MEGABYTE // 2)


def require_within(limits: SimulationLimits, kind: SimulationKind, request: object, plan: SimulationPlan) -> None:
    """Refuse what would take too long, or too much memory at once.

    Raises:
        BeyondBudget: with the estimate, the limit, and the size that would fit, if the kind has a size.
    """
    for identifier, statement, estimate, limit in (
        ("service.job-seconds", "seconds(plan) ≤ job_seconds", plan.seconds, limits.seconds),
        ("service.job-memory", "bytes(plan) ≤ worker_memory / 2", float(plan.bytes), float(limits.bytes)),
    ):
        if not estimate <= limit:
            share = min(1.0, limits.seconds / plan.seconds, limits.bytes / max(1, plan.bytes))
            fitting = nearest(limits, kind, request, share)
            advice = "" if fitting else _advice(kind, request)
            raise BeyondBudget(
                f"The simulation is estimated to need more than this service allows.{advice}",
                ConditionResult(identifier, statement, Verdict.NO, estimate, limit),
                fitting,
            )


def nearest(limits: SimulationLimits, kind: SimulationKind, request: Any, share: float) -> dict[str, float | str]:
    """The kind's size at which the request fits, at about this share of its own, if there is one."""
    size: int | None = getattr(request, kind.size, None) if kind.size is not None else None
    if size is None:
        return {}
    for attempt in range(TRIES):
        smaller = int(size * share * 0.9**attempt)
        try:
            fitting = replace(request, **{str(kind.size): smaller})
            require_within(limits, replace(kind, size=None), fitting, kind.plan(fitting))
        except BeyondBudget:
            continue
        except InvalidInput:
            break
        return {str(kind.size): smaller}
    return {}


def _advice(kind: SimulationKind, request: object) -> str:
    """What else makes it smaller, where its size alone does not: most of its work is the rounds of its run."""
    rounds = getattr(getattr(request, "run", None), "rounds", None)
    return f" No {kind.size} are few enough: ask for fewer rounds." if kind.size and rounds is not None else ""

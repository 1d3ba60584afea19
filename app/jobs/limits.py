"""Limits of simulations, which are compared with a simulation's own estimate before it starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import BeyondBudget, InvalidInput
from epsilond.accountants.verdict import Verdict
from epsilond.app.settings import Settings
from epsilond.witness.kind import SimulationKind, SimulationPlan

MEGABYTE = 1_048_576
"""Number of bytes."""
TRIES = 20
"""Largest number of sizes that are tried, each a tenth smaller; the last is a seventh of the first."""


@dataclass(frozen=True)
class SimulationLimits:
    """Limits of one simulation: estimated run time and estimated memory.

    A simulation is run in blocks (groups of repetitions), each in one worker process. A request with estimates above a
    limit is rejected before it becomes a job.

    Attributes:
        seconds: largest run time, in seconds.
        bytes: largest memory of one block, in bytes.
    """

    seconds: float
    bytes: int

    @classmethod
    def of(cls, settings: Settings) -> SimulationLimits:
        """Return the limits of a service. A block gets half the memory of a worker; libraries use the rest.

        Args:
            settings: settings of the service, with the longest run time of a job [s] and the memory of a worker [MB].
        """
        return cls(settings.job_seconds, settings.worker_memory_megabytes * MEGABYTE // 2)


def require_within(limits: SimulationLimits, kind: SimulationKind, request: object, plan: SimulationPlan) -> None:
    """Reject a simulation if its estimated time or memory exceeds the limits.

    Time and memory are estimated before anything is run.

    Args:
        limits: limits of the service.
        kind: kind of the simulation.
        request: parameters of the simulation.
        plan: estimated time and memory of the simulation.

    Raises:
        BeyondBudget: an estimate exceeds its limit. The error states both, and a size (such as a number of trials) that
            would fit, if there is one.
    """
    for identifier, statement, estimate, limit in (
        ("service.job-seconds", "seconds(plan) ≤ job_seconds", plan.seconds, limits.seconds),
        ("service.job-memory", "bytes(plan) ≤ worker_memory / 2", float(plan.bytes), float(limits.bytes)),
    ):
        is_within = estimate <= limit  # False also for an estimate that is not a number
        if is_within:
            continue
        # Both estimates would fit at this fraction of the present size if they were proportional to the size.
        share = min(1.0, limits.seconds / plan.seconds, limits.bytes / max(1, plan.bytes))
        fitting = nearest(limits, kind, request, share)
        advice = "" if fitting else _advice(kind, request)
        raise BeyondBudget(
            f"The simulation is estimated to need more than this service allows.{advice}",
            ConditionResult(identifier, statement, Verdict.NO, estimate, limit),
            fitting,
        )


def nearest(limits: SimulationLimits, kind: SimulationKind, request: Any, share: float) -> dict[str, float | str]:
    """Search for a smaller size of a simulation that is within the limits.

    The size is the field of the request that `kind.size` names. The first attempt is the fraction `share` of it; each
    further attempt is a tenth smaller.

    Args:
        limits: limits of the service.
        kind: kind of the simulation.
        request: parameters of the simulation.
        share: fraction of the present size at which the simulation may fit, in (0, 1].

    Returns:
        The name of the field and the size that fits. Empty if the kind has no size, if `TRIES` attempts fail, or if a
        smaller size is not valid before one fits.
    """
    size: int | None = getattr(request, kind.size, None) if kind.size is not None else None
    if size is None:
        return {}
    for attempt in range(TRIES):
        smaller = int(size * share * 0.9**attempt)
        try:
            fitting = replace(request, **{str(kind.size): smaller})
            unsized_kind = replace(kind, size=None)  # so that `require_within` does not search in turn
            require_within(limits, unsized_kind, fitting, kind.plan(fitting))
        except BeyondBudget:
            continue
        except InvalidInput:
            break
        return {str(kind.size): smaller}
    return {}


def _advice(kind: SimulationKind, request: object) -> str:
    """Return the advice to request fewer rounds, for a simulation of which no size fits; empty if it has no rounds."""
    rounds = getattr(getattr(request, "run", None), "rounds", None)
    if kind.size is None or rounds is None:
        return ""
    return f" No {kind.size} are few enough: ask for fewer rounds."

"""The certified run of a request of projected-sgd."""

from __future__ import annotations

from dataclasses import dataclass

from epsilond.calibrators.projected_sgd.accounts import Accounts
from epsilond.calibrators.projected_sgd.batch_search import BatchRanges
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, RunSchedules
from epsilond.calibrators.solution import Solution


@dataclass(frozen=True, kw_only=True)
class ProjectedSgdSolution(Solution[ProjectedSgdProblem]):
    """Certified run that answers a request of projected-sgd.

    Attributes:
        plan: batch size and schedules of step sizes and noise, including the value that the request left open.
        batches: batch sizes that meet the target; None unless the request left the batch size open.
        accounts: cache of the privacy guarantees of the runs that were evaluated for the request.
    """

    plan: RunSchedules
    batches: BatchRanges | None
    accounts: Accounts

    @property
    def noise_std(self) -> float:
        """Standard deviation σ per coordinate of the noise of one client, the least over the steps of the schedule."""
        return self.plan.least_noise(self.problem.clients)

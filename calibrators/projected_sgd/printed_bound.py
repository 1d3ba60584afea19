"""A printed bound on δ for a run of projected noisy SGD, as a function of the run's schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.theorem import Status, Theorem
from epsilond.accountants.theorems.hidden_states.projected_contraction import log_contraction_bound
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.projected_sgd.problem import Reading, RunSchedules


@dataclass(frozen=True, kw_only=True)
class PrintedBound:
    """A bound of Asoodeh et al. on δ, as a function of the step sizes and noises of a run of projected SGD.

    The domain of the models is a ball. A gradient step maps it to a set, of which the paper states the radius.

    Attributes:
        theorem: the theorem or corollary with the bound.
        reading: name of the interpretation of its text.
        run: function that returns, for the step sizes and noises, the run to which the paper's contraction argument
            applies. It may be simpler than the actual run.
        bound: function that returns log δ for the step sizes and noises; None for the contraction bound of `run`.
        evaluation: function that returns the theorem at these inputs, or None if there are too many steps to list.
        radius_conditions: conditions under which the paper's radius is valid. If one fails, the bound is refuted.
        other_conditions: conditions that do not affect the status.
        status: status of the theorem if all conditions on the radius hold.
        fixed_noise: noise that the paper prescribes; None if the noise is searched for.
        states_step_figures: whether the answer has the diameter of the image and the contraction coefficient of a
            step.
    """

    theorem: Theorem
    reading: Reading
    run: Callable[[RunSchedules], ProjectedRun]
    bound: Callable[[RunSchedules], float] | None = None
    evaluation: Callable[[RunSchedules], TheoremAtInputs | None]
    radius_conditions: tuple[ConditionResult, ...]
    other_conditions: tuple[ConditionResult, ...] = ()
    status: Status = Status.PROVED
    fixed_noise: float | None = None
    states_step_figures: bool = True

    def log_delta(self, epsilon: float, plan: RunSchedules) -> float:
        """Return the natural logarithm of the δ that the bound claims at an ε for the schedules of a run."""
        if self.bound is not None:
            return self.bound(plan)
        return log_contraction_bound(epsilon, self.run(plan)).upper

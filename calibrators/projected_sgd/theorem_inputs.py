"""The theorems of Asoodeh et al. at the inputs of a run, which include the step size and the noise of each step."""

from __future__ import annotations

from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.hidden_states.projected_contraction import ANY_LOSSES
from epsilond.accountants.theorems.hidden_states.projected_run import ProjectedRun
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, THEOREM_2
from epsilond.calibrators.envelope import TheoremAtInputs
from epsilond.calibrators.projected_sgd.problem import AnySchedule, ProjectedSgdProblem, RunSchedules

MOST_LISTED_STEPS = 100
"""Largest number of steps for which a changing schedule is listed among an evaluation's inputs."""


def _schedule_values(schedule: AnySchedule, steps: int) -> tuple[float, ...]:
    """List the values of a schedule, up to one more than may be listed.

    Args:
        schedule: step sizes or noises.
        steps: number of steps of the run.

    Returns:
        A single value if the schedule is constant; otherwise the values of at most `MOST_LISTED_STEPS` + 1 steps.
    """
    if schedule.constant is not None:
        return (schedule.constant,)
    return tuple(map(float, schedule.at(1, min(steps, MOST_LISTED_STEPS + 1))))


def _at_listed_schedules(
    theorem: Theorem, problem: ProjectedSgdProblem, plan: RunSchedules, **inputs: object
) -> TheoremAtInputs | None:
    """Return a theorem at the inputs of a run, with lists of step sizes and noises.

    Args:
        theorem: the theorem.
        problem: the request, from which the other inputs are taken.
        plan: the batch size and the schedules of the run.
        inputs: inputs that replace those of the request.

    Returns:
        The theorem at its inputs; None if a schedule changes and has more than `MOST_LISTED_STEPS` steps.
    """
    steps = problem.spec(plan).steps
    lists: Fields = {
        "step_sizes": _schedule_values(plan.step_schedule, steps),
        "noise_stds": _schedule_values(plan.noise_schedule, steps),
    }
    if max(map(len, lists.values())) > MOST_LISTED_STEPS:
        return None
    return TheoremAtInputs.of(theorem, problem, "printed", participants=plan.participants, **lists, **inputs)


def stated_pass(problem: ProjectedSgdProblem, plan: RunSchedules) -> TheoremAtInputs | None:
    """Return the privacy theorem of Asoodeh et al. for the released model, at the inputs of a run.

    It is Theorem 2 for the last model, and Corollary 3 for a random one.

    Args:
        problem: the request, with the released model.
        plan: the batch size and the schedules.

    Returns:
        The theorem at its inputs; None if the losses are not smooth, or if a changing schedule is too long to list.
    """
    if problem.smoothness is None:
        return None
    if problem.release == "last":
        return _at_listed_schedules(THEOREM_2, problem, plan)
    suffix = problem.suffix_fraction if problem.release == "suffix" else None
    return _at_listed_schedules(COROLLARY_3, problem, plan, suffix_fraction=suffix)


def pass_with_losses(problem: ProjectedSgdProblem, losses: Fields, plan: RunSchedules) -> TheoremAtInputs | None:
    """Return the contraction theorem for losses of any kind, at the inputs of a run.

    The losses determine the diameter of the domain's image under each gradient step.

    Args:
        problem: the request, with the clients, the domain and the released model.
        losses: inputs of the theorem that describe the losses.
        plan: the batch size and the schedules.

    Returns:
        The theorem at its inputs; None if a changing schedule is too long to list.
    """
    stop = None if problem.release == "last" else problem.spec(plan).first_stop
    return _at_listed_schedules(ANY_LOSSES, problem, plan, first_stop=stop, **losses)


def closed_form_pass(problem: ProjectedSgdProblem, plan: RunSchedules) -> TheoremAtInputs:
    """Return the closed form (12) of Corollary 3 of Asoodeh et al., with the least step size and the least noise."""
    steps = problem.spec(plan).steps
    least: Fields = {
        "step_sizes": (plan.step_schedule.least(steps),),
        "noise_stds": (plan.noise_schedule.least(steps),),
    }
    return TheoremAtInputs.of(COROLLARY_3, problem, participants=plan.participants, suffix_fraction=None, **least)


def run_of(problem: ProjectedSgdProblem, plan: RunSchedules) -> ProjectedRun:
    """Return the run of a plan for the relation replace-one, which the theorems assume."""
    return ProjectedRun.of(problem.spec(plan), "replace-one")

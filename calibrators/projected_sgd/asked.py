"""The registered evaluations that the printed bounds of projected-sgd are: a plan as each theorem is asked about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from epsilond.accountants.theorems.hidden_states.projected_contraction import ANY_LOSSES, AnyOnePass
from epsilond.accountants.theorems.papers.asoodeh.one_pass import COROLLARY_3, THEOREM_2, OnePass, RandomStop
from epsilond.calibrators.printed import Asked

if TYPE_CHECKING:
    from epsilond.calibrators.projected_sgd.problem import Plan, ProjectedSgdProblem

MOST_LISTED_STEPS = 100
"""Schedules that change over more steps are not spelt out as an evaluation's inputs."""


def _pass_of(problem: ProjectedSgdProblem, at: Plan) -> dict[str, Any]:
    return {
        "epsilon": problem.epsilon,
        "clients": problem.clients,
        "participants": at.participants,
        "lipschitz": problem.lipschitz,
        "radius": problem.radius,
    }


def _listed(problem: ProjectedSgdProblem, at: Plan) -> dict[str, Any] | None:
    """The pass with its schedules listed; None where they are long."""
    steps = problem.spec(at).steps
    lists = [
        (one.constant,) if one.constant is not None else tuple(map(float, one.at(1, min(steps, MOST_LISTED_STEPS + 1))))
        for one in (at.step_schedule, at.noise_schedule)
    ]
    if max(map(len, lists)) > MOST_LISTED_STEPS:
        return None
    return {**_pass_of(problem, at), "step_sizes": lists[0], "noise_stds": lists[1]}


def printed_pass(problem: ProjectedSgdProblem, at: Plan) -> Asked | None:
    """Theorem 2 for the last model, Corollary 3 for a random one; without β there is nothing to ask them."""
    lists = _listed(problem, at)
    if lists is None or problem.smoothness is None:
        return None
    if problem.release == "last":
        return Asked(THEOREM_2, OnePass(smoothness=problem.smoothness, **lists))
    suffix = problem.suffix_fraction if problem.release == "suffix" else None
    return Asked(COROLLARY_3, RandomStop(smoothness=problem.smoothness, suffix_fraction=suffix, **lists))


def any_pass(problem: ProjectedSgdProblem, at: Plan, **losses: Any) -> Asked | None:
    """The same with the diameters that `losses` (smoothness, strong_convexity, convex) give every image."""
    lists = _listed(problem, at)
    stop = None if problem.release == "last" else problem.spec(at).first_stop
    return None if lists is None else Asked(ANY_LOSSES, AnyOnePass(first_stop=stop, **losses, **lists))


def closed_pass(problem: ProjectedSgdProblem, at: Plan) -> Asked | None:
    """Corollary 3 at the least step size and noise of the pass, which its closed form (12) takes for all."""
    if problem.smoothness is None:
        return None
    steps = problem.spec(at).steps
    least: dict[str, Any] = {
        "step_sizes": (at.step_schedule.least(steps),),
        "noise_stds": (at.noise_schedule.least(steps),),
    }
    return Asked(COROLLARY_3, RandomStop(smoothness=problem.smoothness, **_pass_of(problem, at), **least))

"""Cautions for a caller of projected-sgd to read before relying on the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from epsilond.accountants.theorems.hidden_states.projected_contraction import ANY_LOSSES, check_step_sizes
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Caution
from epsilond.calibrators.cautions import MINIMALITY_NOT_PROVED, assumption_cautions, printed_cautions
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem, RunSchedules
from epsilond.calibrators.projected_sgd.risk import ProjectedSgdUtility
from epsilond.calibrators.projected_sgd.solution import ProjectedSgdSolution
from epsilond.calibrators.projected_sgd.theorem_inputs import run_of
from epsilond.calibrators.search import LEAST

if TYPE_CHECKING:
    from epsilond.calibrators.answer import PrintedReading


def cautions(
    solution: ProjectedSgdSolution, utility: ProjectedSgdUtility, printed: tuple[PrintedReading, ...]
) -> Iterator[Caution]:
    """Yield the warnings of an answer for projected SGD, in a fixed order.

    Args:
        solution: the certified run.
        utility: the risk bound, or the reason why there is none.
        printed: the bounds that the paper prints, evaluated in each interpretation of their text.

    Yields:
        Warnings about the minimality of the solved noise, step size or batch size, about the paper's bounds, the run,
        and the bound on the risk.
    """
    problem = solution.problem
    yield from _minimality_cautions(solution)
    for caution in printed_cautions(printed, (solution.noise_std,)):
        # This warning says that the paper's formula gives less noise than is certified, which shows an error of the
        # paper only if the certified noise is the smallest one, not one that the request gives.
        if problem.solve_for == "noise_std" or caution.code != "printed-noise-below-certified":
            yield caution
    yield from _run_cautions(problem, solution.plan)
    if utility.reason:
        yield Caution(code="no-risk-for-this-run", message=utility.reason)
    elif utility.risk:
        yield from _assumptions(problem, solution.plan)


def _minimality_cautions(solution: ProjectedSgdSolution) -> Iterator[Caution]:
    """Warn if the certified noise, step size or batch size may not be the smallest that meets the target.

    Args:
        solution: the certified run. Its request names the unknown: noise, step size or batch size.

    Yields:
        At most two warnings. The first is for an unknown that is the smallest in the range of the search, or without a
        proof that a smaller one misses the target. The second is for a search of the batch size that ended early.
    """
    problem, certified = solution.problem, solution.certified
    if problem.solve_for == "noise_std" and certified.noise == LEAST:
        yield Caution(code="least-noise", message=f"δ is met at the least noise offered, {LEAST:g} gradient norms")
    elif problem.solve_for == "step_size" and certified.minimal == "searched":
        yield Caution(
            code="any-step-size",
            message="the smallest step size offered meets the target, or minimality of this one is not proved. The "
            "noise by itself hides a record, and contraction adds nothing",
        )
    elif certified.minimal == "searched":
        yield MINIMALITY_NOT_PROVED

    if solution.batches and not solution.batches.exhaustive:
        yield Caution(
            code="participants-not-all-tried",
            message="the fixed budget ended before every batch size was decided; those listed all meet the target",
        )


def _run_cautions(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[Caution]:
    """Warn of steps that are too long, of unused clients, and of a relation that the paper does not treat.

    A step is too long if it exceeds 2/β for convex losses of smoothness β, because it may then not be a contraction.

    Args:
        problem: the request, with the losses, the clients and the neighbouring relation.
        plan: the certified run, with its batch size and schedules.

    Yields:
        At most one warning on each of the three.
    """
    sides = check_step_sizes(run_of(problem, plan))
    if problem.smoothness is not None and problem.convex and sides.holds != Verdict.YES:
        yield Caution(
            code="step-size-beyond-two-over-smoothness",
            message=f"η_t ≤ 2/β at every t fails, {sides.left:g} > {sides.right:g}: a gradient step may then move two "
            f"models of the ball further apart than its diameter; {ANY_LOSSES.id} covers this case",
        )

    left_over = problem.clients % plan.participants
    if left_over:
        yield Caution(
            code="clients-left-over", message=f"{left_over} clients are in no whole batch and never take part"
        )
    if problem.relation != "replace-one":
        yield Caution(
            code="printed-truth-is-for-replace-one",
            message="the printed bounds and the true figures given with them are for replace-one, not for this "
            "relation",
        )


def _assumptions(problem: ProjectedSgdProblem, plan: RunSchedules) -> Iterator[Caution]:
    """Yield warnings about assumptions of the risk bound.

    Constants that the request does not give have assumed values. The other two warnings are only for the release of the
    model after a random step. The risk bound of the paper has then a constant factor that is not known, and it covers
    only batches of one record.

    Args:
        problem: the request; its absent fields have assumed values.
        plan: the certified run, with its batch size.
    """
    yield from assumption_cautions(problem)
    if problem.release != "random-stop":
        return
    if problem.shamir_constant is None:
        yield Caution(code="hidden-constant", message="no paper gives the constant of Corollary 2: the risk is a rate")
    if plan.participants > 1:
        yield Caution(
            code="risk-unproved-for-batches",
            message="Corollary 2 speaks of single records; its extension to batches is not proved (erratum A-7)",
        )

"""Bounds on δ by all theorems that were tried for a certified run, for comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.errors import NoCertificate
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.hidden_states.projected_sgd import COMPOSED
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import ConsideredBound
from epsilond.calibrators.projected_sgd.printed import LEAST_DOUBLE_LOG_DELTA
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem
from epsilond.calibrators.projected_sgd.solution import ProjectedSgdSolution
from epsilond.calibrators.search import guarantee_of
from epsilond.calibrators.targets.failures import LOG_10

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Observer
    from epsilond.accountants.specs import Spec


def considered_bounds(solution: ProjectedSgdSolution) -> Iterator[ConsideredBound]:
    """Yield the bounds on log δ by all theorems for the released model, and another one for comparison.

    The last bound is for an observer of all models, in a run that draws its batches anew.

    Args:
        solution: the certified run.

    Yields:
        One bound for each theorem that was tried, or the reason why it does not apply. The least bound is marked.
    """
    problem = solution.problem
    epsilon = problem.target.epsilon
    considered = solution.accounts.of(solution.plan).considered
    log_deltas = [bound.curve.upper_log_delta(epsilon) for bound in considered if bound.curve]
    least = min(log_deltas, default=math.inf)
    for bound in considered:
        if bound.curve is None:
            yield ConsideredBound(
                theorem=bound.theorem, observer=problem.observer, applies=Verdict.NO, reason=bound.reason
            )
        else:
            log_delta = bound.curve.upper_log_delta(epsilon)
            yield _applicable_bound(bound.theorem, problem, log_delta, least=log_delta == least)
    yield _bound_for_all_models(solution)


def _applicable_bound(theorem: str, problem: ProjectedSgdProblem, log_delta: float, *, least: bool) -> ConsideredBound:
    """Describe a bound that applies, for an answer.

    Args:
        theorem: id of the theorem.
        problem: the request, which names the observer.
        log_delta: upper bound on the natural logarithm of δ at the target's ε.
        least: whether it is the least of all bounds.

    Returns:
        The bound with log₁₀ δ and δ, both rounded up and at most those of δ = 1. δ is None if it is too small for a
        double.
    """
    # The next larger double covers the rounding of the exponential and of the quotient.
    delta = None
    if log_delta > LEAST_DOUBLE_LOG_DELTA:
        delta = min(math.nextafter(math.exp(log_delta), 1.0), 1.0)
    log10_delta = min(math.nextafter(log_delta / LOG_10, 0.0), 0.0)
    return ConsideredBound(
        theorem=theorem,
        observer=problem.observer,
        applies=Verdict.YES,
        log10_delta=log10_delta,
        delta=delta,
        least=least,
    )


def _bound_for_all_models(solution: ProjectedSgdSolution) -> ConsideredBound:
    """Bound δ of a different run, for comparison: the observer sees every model, and each batch is drawn anew.

    That run has the answer's noise, and ⌊n/m⌋ steps with batches of m of n clients. In the answer's run, batches are
    disjoint and only one model is seen, so the bound does not apply to it.

    Args:
        solution: the certified run.

    Returns:
        The bound, or the reason why no theorem applies to this run.
    """
    problem = solution.problem
    participants, clients = solution.plan.participants, problem.clients
    # The noise of a batch's sum is √m times that of one client.
    noise_multiplier = math.sqrt(participants) * solution.noise_std / problem.lipschitz
    step: Spec = Gaussian(noise_multiplier=noise_multiplier)
    if participants < clients:
        step = Subsampled(sampling="without-replacement", batch_size=participants, population=clients, mechanism=step)
    run = Repeated(times=clients // participants, mechanism=step)
    observer: Observer = "released-models"
    try:
        guarantee = guarantee_of(problem, run, "coarse", observer=observer)
    except NoCertificate as error:
        return ConsideredBound(theorem=COMPOSED.id, observer=observer, applies=Verdict.NO, reason=error.message)
    log_delta = guarantee.curve.upper_log_delta(problem.target.epsilon)
    bound = _applicable_bound(guarantee.derivation.theorem, problem, log_delta, least=False)
    return replace(bound, observer=observer)

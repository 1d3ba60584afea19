"""The pace of an accelerated run: batch size, rounds, envelope and stages, by the bound on its risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.federation import ClientGroup
from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    AcceleratedProblem,
    best_envelope_smoothness,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import best_stage, stages_bound
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import UnequalAcceleratedProblem
from epsilond.calibrators.accelerated_mb_sgd.answer import plan_at
from epsilond.calibrators.frontier import Choice
from epsilond.calibrators.mb_sgd.members import members_of
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.schedule import choose_among

if TYPE_CHECKING:
    from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import DescentFacts
    from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import Objective
    from epsilond.calibrators.accelerated_mb_sgd.answer import AcceleratedPlan
    from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
    from epsilond.calibrators.certificates import Certificates
    from epsilond.calibrators.mb_sgd.members import Member


def problem_of(
    problem: AcceleratedMbSgdProblem,
    run: Run,
    *,
    objective: Objective,
    gradient_std: float | None,
    heterogeneity: float | None,
) -> AcceleratedProblem:
    """Before an envelope is chosen; statistics that are None are taken at their largest."""
    shared: Fields = {
        "participants": problem.moments.mean,
        "dimension": problem.dimension,
        "smoothness": problem.smoothness or 0.0,
        "strong_convexity": problem.strong_convexity,
        "initial_distance": problem.initial_distance or problem.diameter,
        "diameter": problem.diameter,
        "initial_gap": problem.gap,
        "gradient_std": gradient_std,
        "heterogeneity": heterogeneity,
        "objective": objective,
    }
    if problem.client_groups is None:
        return AcceleratedProblem(
            clients=problem.clients,
            samples_per_client=problem.samples_per_client,
            batch_size=run.batch_size,
            lipschitz=problem.lipschitz,
            **shared,
        )
    groups = [
        ClientGroup(
            clients=member.clients,
            samples_per_client=member.samples_per_client,
            batch_size=member.batch_size,
            lipschitz=member.lipschitz,
        )
        for member in members_of(problem, run)
    ]
    return UnequalAcceleratedProblem.of_groups(groups, heaviest=max(problem.scales), **shared)


def risk_of(plan: Callable[[Run, float], AcceleratedPlan | None]) -> Callable[[Run, float], float]:
    """The bound of a run at its noise by its plan, infinite where there is none."""

    def risk(run: Run, noise_std: float) -> float:
        found = plan(run, noise_std)
        return found.risk.upper.value if found and found.risk.upper else math.inf

    return risk


def likely_risk(seen: AcceleratedProblem, *, noise_std: float, rounds: int) -> float:
    """About the bound, quickly; it decides nothing but where to look.

    Strongly convex: the lesser of one stage, and short stages that shrink the gap by e^(−R√(μ/β)/(2e)) before a long
    one that averages the noise.
    """
    return likely_risks(seen, noise_std=noise_std)(rounds)


def likely_risks(seen: AcceleratedProblem, *, noise_std: float) -> Callable[[int], float]:
    """The same for runs that differ in their rounds."""
    if seen.smoothness == 0.0:

        def with_envelope(rounds: int) -> float:
            b = seen.lipschitz * (rounds + 1.0) / (2.0 * seen.initial_distance)
            made = replace(seen, envelope_smoothness=b)
            return _likely(rounds, made.descent, made.variance(noise_std).total) + made.smoothing_gap

        return with_envelope
    descent, variance, gap = seen.descent, seen.variance(noise_std).total, seen.smoothing_gap
    return lambda rounds: _likely(rounds, descent, variance) + gap


def _likely(rounds: int, descent: DescentFacts, variance: float) -> float:
    whole = descent.squared_distance(descent.initial_gap, most=descent.initial_distance)
    stage = best_stage(rounds, descent=descent, squared_distance=whole, variance=variance)
    single = stages_bound((stage,), descent, variance=variance).at(variance)
    if descent.strong_convexity == 0.0:
        return single
    pace = math.sqrt(descent.strong_convexity / descent.smoothness) / (2.0 * math.e)
    several = descent.initial_gap * math.exp(-rounds * pace) + 4.0 * variance / (descent.strong_convexity * rounds)
    return min(single, several)


def risk_problem(problem: AcceleratedMbSgdProblem, run: Run) -> AcceleratedProblem | None:
    """The problem as the risk bound sees it, before an envelope is chosen; None where that bound does not apply.

    The bound is for the mean loss on the data at hand, and needs batches drawn without replacement. The request's
    heterogeneity is of the populations and does not bound that of the data, which is taken at its largest.
    """
    if problem.sampling not in ("without-replacement", "full"):
        return None
    return problem_of(
        problem, run, objective="empirical", gradient_std=problem.empirical_gradient_std, heterogeneity=None
    )


def enveloped(
    problem: AcceleratedMbSgdProblem, seen: AcceleratedProblem, *, noise_std: float, rounds: int
) -> AcceleratedProblem:
    """The same with an envelope of nearly the best smoothness, where the loss is not smooth itself."""
    if problem.smoothness is not None:
        return seen
    best = best_envelope_smoothness(seen, noise_std=noise_std, rounds=rounds)
    return replace(seen, envelope_smoothness=best)


def plan_of(problem: AcceleratedMbSgdProblem, run: Run, noise_std: float) -> AcceleratedPlan | None:
    """Envelope, stages and risk bound of a run at its certified noise; None where no bound applies."""
    seen = risk_problem(problem, run)
    if seen is None:
        return None
    seen = enveloped(problem, seen, noise_std=noise_std, rounds=run.rounds)
    return plan_at(seen, noise_std=noise_std, rounds=run.rounds)


def choose_run(
    problem: AcceleratedMbSgdProblem, certificates: Certificates[AcceleratedMbSgdProblem, Member]
) -> Choice[Run]:
    """Return the smallest run that is good enough, with what the request gives of it, and the frontier.

    Without a bound the largest batch is taken, and rounds as near as may be to those that pay.

    Raises:
        InvalidInput: the budgets leave no run.
    """

    def quick_risk(run: Run, noise_std: float) -> float:
        seen = risk_problem(problem, run)
        return likely_risk(seen, noise_std=noise_std, rounds=run.rounds) if seen else math.inf

    return choose_among(
        problem,
        certificates,
        has_bound=lambda run: risk_problem(problem, run) is not None,
        closeness=lambda run: _closeness(problem, run),
        quick_risk=quick_risk,
        risk=risk_of(lambda run, noise_std: plan_of(problem, run, noise_std)),
    )


def _closeness(problem: AcceleratedMbSgdProblem, run: Run) -> float:
    """Rounds near √M εn/√(d ln(1/δ)), which Theorem 2.4 prescribes (F-41)."""
    private = problem.dimension * -problem.target.log_delta
    wanted = math.sqrt(problem.reporting / private) * problem.epsilon * problem.samples_per_client
    return -abs(math.log(run.rounds / max(1.0, wanted)))

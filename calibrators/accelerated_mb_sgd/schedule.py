"""The schedule of an accelerated run: batch size, rounds, envelope and stages, by the bound on its risk."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
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
    """Return the inputs of the risk bound, before an envelope is chosen.

    Args:
        problem: the request.
        run: the run.
        objective: the objective of the risk.
        gradient_std: standard deviation of gradients; its largest value if None.
        heterogeneity: heterogeneity of the clients; its largest value if None.
    """
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
    """Return the bound of a run at its noise as a function, from its plan; infinite without a bound."""

    def risk(run: Run, noise_std: float) -> float:
        steps = plan(run, noise_std)
        return steps.risk.upper.value if steps and steps.risk.upper else math.inf

    return risk


def likely_risk(seen: AcceleratedProblem, *, noise_std: float, rounds: int) -> float:
    """Return a quick estimate of the bound on the excess risk, by which runs are compared.

    For strongly convex losses it is the lesser of two values. The first is for a single stage. The second is for short
    stages that reduce the initial excess risk by the factor e^(−R√(μ/β)/(2e)), and a long stage that averages the
    noise.

    Args:
        seen: the inputs of the risk bound.
        noise_std: σ per coordinate, root mean square over clients.
        rounds: rounds R of the run.
    """
    return likely_risks(seen, noise_std=noise_std)(rounds)


def likely_risks(seen: AcceleratedProblem, *, noise_std: float) -> Callable[[int], float]:
    """Return the estimate of `likely_risk` as a function of the rounds."""
    if seen.smoothness == 0.0:

        def with_envelope(rounds: int) -> float:
            b = seen.lipschitz * (rounds + 1.0) / (2.0 * seen.initial_distance)
            made = replace(seen, envelope_smoothness=b)
            return _likely(rounds, made.descent, made.variance(noise_std).total) + made.smoothing_gap

        return with_envelope
    descent, variance, gap = seen.descent, seen.variance(noise_std).total, seen.smoothing_gap
    return lambda rounds: _likely(rounds, descent, variance) + gap


def _likely(rounds: int, descent: DescentFacts, variance: float) -> float:
    """Return the estimate of `likely_risk` for a smooth loss, or for the envelope of another.

    Args:
        rounds: rounds R of the run.
        descent: constants of the loss: smoothness β, strong convexity μ, initial distance and initial excess risk.
        variance: variance of the noisy gradients.
    """
    squared_distance = descent.squared_distance(descent.initial_gap, most=descent.initial_distance)
    stage = best_stage(rounds, descent=descent, squared_distance=squared_distance, variance=variance)
    single = stages_bound((stage,), descent, variance=variance).at(variance)
    if descent.strong_convexity == 0.0:
        return single
    pace = math.sqrt(descent.strong_convexity / descent.smoothness) / (2.0 * math.e)
    several = descent.initial_gap * math.exp(-rounds * pace) + 4.0 * variance / (descent.strong_convexity * rounds)
    return min(single, several)


def risk_problem(problem: AcceleratedMbSgdProblem, run: Run) -> AcceleratedProblem | None:
    """Return the inputs of the risk bound, before an envelope is chosen; None if that bound does not apply.

    The bound is for the mean loss on the data at hand, and needs batches drawn without replacement. The request's
    heterogeneity describes the populations and does not bound that of the data, which has its largest value here.
    """
    if problem.sampling not in ("without-replacement", "full"):
        return None
    return problem_of(
        problem, run, objective="empirical", gradient_std=problem.empirical_gradient_std, heterogeneity=None
    )


def choose_envelope(
    problem: AcceleratedMbSgdProblem, seen: AcceleratedProblem, *, noise_std: float, rounds: int
) -> AcceleratedProblem:
    """Return the inputs with an envelope of nearly the best smoothness, if the loss is not smooth.

    Args:
        problem: the request.
        seen: the inputs of the risk bound.
        noise_std: σ per coordinate, root mean square over clients.
        rounds: rounds of the run.
    """
    if problem.smoothness is not None:
        return seen
    best = best_envelope_smoothness(seen, noise_std=noise_std, rounds=rounds)
    return replace(seen, envelope_smoothness=best)


def plan_of(problem: AcceleratedMbSgdProblem, run: Run, noise_std: float) -> AcceleratedPlan | None:
    """Return the envelope, the stages and the risk bound of a run at its certified noise.

    Args:
        problem: the request.
        run: its batch size and number of rounds.
        noise_std: standard deviation σ per coordinate, root mean square over clients.

    Returns:
        The plan; None if batches are not drawn without replacement, which the bound requires.
    """
    inputs = risk_problem(problem, run)
    if inputs is None:
        return None
    inputs = choose_envelope(problem, inputs, noise_std=noise_std, rounds=run.rounds)
    return plan_at(inputs, noise_std=noise_std, rounds=run.rounds)


def choose_run(
    problem: AcceleratedMbSgdProblem, certificates: Certificates[AcceleratedMbSgdProblem, Member]
) -> Choice[Run]:
    """Return the smallest run with nearly the least bound on its excess risk, and the runs it was compared with.

    "Nearly" means within the factor 1 + `within` of the request. If no theorem bounds the risk, the run has the largest
    batch, and the number of rounds closest to that of Theorem 2.4 of Lowy and Razaviyayn.

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
        closeness=partial(_closeness, problem),
        quick_risk=quick_risk,
        risk=risk_of(partial(plan_of, problem)),
    )


def _closeness(problem: AcceleratedMbSgdProblem, run: Run) -> float:
    """Return the closeness of the rounds to √M εn/√(d ln(1/δ)), which Theorem 2.4 prescribes (F-41); at most 0."""
    private = problem.dimension * -problem.target.log_delta
    wanted = math.sqrt(problem.reporting / private) * problem.epsilon * problem.samples_per_client
    return -abs(math.log(run.rounds / max(1.0, wanted)))

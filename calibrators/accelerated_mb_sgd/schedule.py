"""The schedule of an accelerated run: batch size, rounds, envelope and stages, by the bound on its risk."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from epsilond.accountants.federation import ClientGroup
from epsilond.accountants.json_types import Fields
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import best_envelope_smoothness
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import best_stage, stages_bound
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import UnequalAcceleratedProblem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from epsilond.calibrators.accelerated_mb_sgd.answer import plan_at
from epsilond.calibrators.frontier import Choice
from epsilond.calibrators.mb_sgd.members import members_of
from epsilond.calibrators.mb_sgd.problem import Run
from epsilond.calibrators.mb_sgd.run_choice import choose_among

if TYPE_CHECKING:
    from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import DescentFacts
    from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import Objective
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
    """Return the inputs of the bound on the excess risk of accelerated SGD.

    For losses that are not smooth, the caller still has to choose a Moreau envelope.

    Args:
        problem: the request, with the losses and the clients.
        run: the run, of which only the batch size is used.
        objective: whether the risk is the population's or the empirical one.
        gradient_std: standard deviation of a record's gradient; None for its largest possible value.
        heterogeneity: heterogeneity of the clients; None for its largest possible value.

    Returns:
        The inputs of the bound; those for unequal clients if the request has client groups.
    """
    shared: Fields = {
        "participants": problem.moments.mean,
        "dimension": problem.dimension,
        # An absent smoothness is 0, and an absent initial distance is the diameter, its largest value.
        "smoothness": problem.smoothness or 0.0,
        "strong_convexity": problem.strong_convexity,
        "initial_distance": problem.initial_distance or problem.diameter,
        "diameter": problem.diameter,
        "initial_gap": problem.gap,
        "gradient_std": gradient_std,
        "heterogeneity": heterogeneity,
        "objective": objective,
    }

    # Equal clients.
    if problem.client_groups is None:
        return AcceleratedProblem(
            clients=problem.clients,
            samples_per_client=problem.samples_per_client,
            batch_size=run.batch_size,
            lipschitz=problem.lipschitz,
            **shared,
        )

    # Groups of clients that may differ.
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


def likely_risk(inputs: AcceleratedProblem, *, noise_std: float, rounds: int) -> float:
    """Return a quick estimate of the bound on the excess risk, to compare runs.

    `LikelyRisk` has the formulas. It is the better choice for many numbers of rounds at the same noise.

    Args:
        inputs: the inputs of the risk bound.
        noise_std: standard deviation σ of the noise per coordinate, root mean square over clients.
        rounds: number of rounds of the run.

    Returns:
        The estimate, in units of the loss.
    """
    return LikelyRisk(inputs, noise_std).at(rounds)


class LikelyRisk:
    """Quick estimate of the bound on the excess risk at a given noise, as a function of the number R of rounds.

    A loss that is not smooth is replaced by its Moreau envelope, a smooth approximation. The estimate uses the envelope
    with the smoothness:

        L(R + 1)/(2D),

    where L is the Lipschitz constant of the loss and D the distance of the initial model from a minimiser.
    """

    def __init__(self, inputs: AcceleratedProblem, noise_std: float) -> None:
        """Prepare the estimate.

        Args:
            inputs: the inputs of the risk bound, in which the smoothness is 0 if the loss is not smooth.
            noise_std: standard deviation σ of the noise per coordinate, root mean square over clients.
        """
        self._inputs = inputs
        self._noise_std = noise_std

    @cached_property
    def _variance(self) -> float:
        """Bound on the mean squared error of a round's noisy gradient, for a smooth loss."""
        return self._inputs.variance(self._noise_std).total

    @cached_property
    def _descent(self) -> DescentFacts:
        """Constants of a smooth loss: smoothness, strong convexity, initial distance and initial excess risk."""
        return self._inputs.descent

    def at(self, rounds: int) -> float:
        """Return the estimate of the bound on the excess risk after a number of rounds, in units of the loss."""
        inputs = self._inputs
        if inputs.smoothness > 0.0:
            return _estimate_risk(rounds, self._descent, self._variance) + inputs.smoothing_gap

        # The envelope, and with it the variance, depends on the rounds.
        envelope_smoothness = inputs.lipschitz * (rounds + 1.0) / (2.0 * inputs.initial_distance)
        enveloped = replace(inputs, envelope_smoothness=envelope_smoothness)
        variance = enveloped.variance(self._noise_std).total
        return _estimate_risk(rounds, enveloped.descent, variance) + enveloped.smoothing_gap


def _estimate_risk(rounds: int, descent: DescentFacts, variance: float) -> float:
    """Estimate the bound on the excess risk of accelerated SGD for a smooth loss or a Moreau envelope.

    Accelerated SGD runs in stages, that is, blocks of rounds with their own step sizes. If the strong convexity μ is 0,
    the estimate is the bound for a single stage. For μ > 0 it is the lesser of that bound and:

        Δ e^(−R√(μ/β)/(2e)) + 4V²/(μR),

    where Δ is the initial excess risk and β the smoothness. The first term is for R/2 rounds in short stages, and the
    second for a last stage of R/2 rounds.

    Args:
        rounds: number R of rounds of the run.
        descent: constants of the loss: β, μ, Δ and the initial distance from a minimiser.
        variance: bound V² on the mean squared error of a round's noisy gradient.

    Returns:
        The estimate, in units of the loss.
    """
    curvature = descent.strong_convexity
    squared_distance = descent.squared_distance(descent.initial_gap, largest_distance=descent.initial_distance)
    stage = best_stage(rounds, descent=descent, squared_distance=squared_distance, variance=variance)
    single_stage = stages_bound((stage,), descent, variance=variance).at(variance)
    if curvature == 0.0:
        return single_stage

    # A short stage of 2e√(β/μ) rounds reduces the excess risk by the factor e⁻². A last stage of T rounds has a noise
    # term of at most 2V²/(μT).
    decay_per_round = math.sqrt(curvature / descent.smoothness) / (2.0 * math.e)
    remaining_gap = descent.initial_gap * math.exp(-rounds * decay_per_round)
    noise_term = 4.0 * variance / (curvature * rounds)
    return min(single_stage, remaining_gap + noise_term)


def risk_problem(problem: AcceleratedMbSgdProblem, run: Run) -> AcceleratedProblem | None:
    """Return the inputs of the bound on the empirical excess risk, before its free parameters are chosen.

    The heterogeneity of the clients' data has its largest possible value. The request's `heterogeneity` is not used,
    because it is about the distributions of the clients and does not bound that of their data.

    Args:
        problem: the request.
        run: the run, of which only the batch size is used.

    Returns:
        The inputs. None for Poisson sampling and for sampling with replacement, which no bound covers.
    """
    if problem.sampling not in ("without-replacement", "full"):
        return None
    return problem_of(
        problem, run, objective="empirical", gradient_std=problem.empirical_gradient_std, heterogeneity=None
    )


def plan_of(problem: AcceleratedMbSgdProblem, run: Run, noise_std: float) -> AcceleratedPlan | None:
    """Return the stages, the Moreau envelope and the risk bound of a run at its certified noise.

    Args:
        problem: the request, with the constants of the losses, the clients and the sampling of batches.
        run: its batch size and number of rounds.
        noise_std: standard deviation σ of the noise per coordinate, root mean square over clients.

    Returns:
        The plan; None if batches are not drawn without replacement, which the bound requires.
    """
    inputs = risk_problem(problem, run)
    if inputs is None:
        return None
    if problem.smoothness is None:
        envelope_smoothness = best_envelope_smoothness(inputs, noise_std=noise_std, rounds=run.rounds)
        inputs = replace(inputs, envelope_smoothness=envelope_smoothness)
    return plan_at(inputs, noise_std=noise_std, rounds=run.rounds)


def choose_run(
    problem: AcceleratedMbSgdProblem, certificates: Certificates[AcceleratedMbSgdProblem, Member]
) -> Choice[Run]:
    """Choose the batch size and rounds: the smallest run with nearly the least bound on the excess risk.

    "Nearly" means at most 1 + `within` times the least bound. If no theorem bounds the risk, the run has the largest
    batch. Its number of rounds is then the closest to that of Theorem 2.4 of Lowy and Razaviyayn.

    Args:
        problem: the request, with the tolerance `within`. Its budgets limit the runs.
        certificates: the certified noise of each run.

    Returns:
        The chosen run, with alternatives that trade rounds and batch size for a smaller bound.

    Raises:
        InvalidInput: no run is within the budgets of the request.
        EpsilondError: no noise can be certified for a run that is tried.
    """

    def quick_risk(run: Run, noise_std: float) -> float:
        """Return a fast estimate of the bound on the excess risk; inf if no theorem applies."""
        inputs = risk_problem(problem, run)
        if inputs is None:
            return math.inf
        return likely_risk(inputs, noise_std=noise_std, rounds=run.rounds)

    def risk(run: Run, noise_std: float) -> float:
        """Return the bound on the excess risk; inf if no theorem applies."""
        plan = plan_of(problem, run, noise_std)
        return math.inf if plan is None else plan.excess_risk

    # The fast estimate selects the runs for which the bound itself is computed.
    return choose_among(
        problem,
        certificates,
        has_bound=lambda run: risk_problem(problem, run) is not None,
        closeness=partial(_closeness, problem),
        quick_risk=quick_risk,
        risk=risk,
    )


def _closeness(problem: AcceleratedMbSgdProblem, run: Run) -> float:
    """Score how close a run's number of rounds is to the one that Theorem 2.4 of Lowy and Razaviyayn prescribes.

    It prescribes √M ε n/√(d ln(1/δ)) rounds, for M participants, n records per client and dimension d.

    Args:
        problem: the request, with its privacy target, the dimension and the sizes of the federation.
        run: the run, of which only the rounds are used.

    Returns:
        −|ln(rounds/prescribed)|, which is 0 at best. A prescribed number below 1 counts as 1.
    """
    privacy_factor = problem.dimension * -problem.target.log_delta
    rounds_per_participant = math.sqrt(problem.reporting / privacy_factor)
    prescribed_rounds = rounds_per_participant * problem.target.epsilon * problem.samples_per_client
    return -abs(math.log(run.rounds / max(1.0, prescribed_rounds)))

"""accelerated-mb-sgd: its calibrator, and the bound with explicit constants on the empirical risk for given stages."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_bound import (
    ACCELERATED_RISK_BOUND,
    AcceleratedRiskInputs,
    accelerated_risk,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_descent import Stage
from epsilond.accountants.theorems.risk.lowy_razaviyayn.accelerated_unequal import (
    FEDERATED_ACCELERATED_RISK,
    FederatedAcceleratedInputs,
)
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.accelerated_run import AcceleratedProblem
from epsilond.accountants.theorems.risk.lowy_razaviyayn.runs.sgd_bound import Objective
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.accelerated_mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.accelerated_mb_sgd.problem import AcceleratedMbSgdProblem
from epsilond.simulators.algorithms.accelerated_mb_sgd import (
    AcceleratedMbSgdRun,
    AcceleratedShape,
    convexity_of,
)
from epsilond.simulators.algorithms.acceleration import StageRequest
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.algorithms.random_participation import harmonic_mean
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, Parameters, PromisedBound
from epsilond.witness.joins.client_groups import bound_clients, calibration_clients, has_equal_weights, set_noise
from epsilond.witness.joins.problem_fields import (
    LEAST_NOISE,
    empirical_gradient_std,
    empirical_heterogeneity,
    initial_distance_bound,
    run_fields,
    settle_conditions,
    smoothness_bound,
    target_fields,
)

if TYPE_CHECKING:
    from epsilond.calibrators.answer import Calibration


def calibrate(
    problem: SimulatedProblem, run: AcceleratedMbSgdRun, target: Target
) -> tuple[AcceleratedMbSgdRun, Calibration]:
    """Give a run of accelerated mini-batch SGD the smallest noise that is certified to meet a target.

    The run also gets calibrated stages, unless it has its own. A stage is a number of rounds with one weight of the
    proximal term. The guarantee is for one replaced record, against a server that sees all messages.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with noise and stages; and the calibrator's answer, with the certified guarantee.

    Raises:
        InvalidInput: the run has no stages, and no bound for this sampling chooses them.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    # The statistics of gradients are valid only for losses of equal weight.
    gradient_std = None
    if has_equal_weights(run.client_groups):
        gradient_std = empirical_gradient_std(problem)
    calibration_problem = AcceleratedMbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **accelerated_fields(problem, run),
        sampling=run.sampling,
        empirical_gradient_std=gradient_std,
    )
    answer: Calibration = CALIBRATOR.solve(calibration_problem)
    return set_stages(run, answer.parameters), answer


def accelerated_fields(problem: SimulatedProblem, run: AcceleratedShape) -> Fields:
    """Return the fields that calibration requests of multi-pass and one-pass accelerated mini-batch SGD have in common.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the run of either algorithm.

    Returns:
        Numbers of clients, records and rounds, and the constants of the problem, by the names of the fields.
    """
    constants = problem.constants
    return {
        **run_fields(problem, run),
        **calibration_clients(problem, run, run.participation, run.client_groups),
        "diameter": constants.diameter,
        "strong_convexity": convexity_of(problem, run),
        "initial_gap": initial_gap(problem),
    }


def initial_gap(problem: SimulatedProblem) -> float:
    """Return an upper bound Δ on the excess risk of the start, between 10⁻¹² LD and LD.

    L is the Lipschitz constant and D the diameter of the domain. The calibrator requires a positive Δ ≤ LD.

    Args:
        problem: the simulated learning problem, with its exact constants.

    Returns:
        Δ, in the unit of the loss.
    """
    constants = problem.constants
    largest = constants.lipschitz * constants.diameter
    smallest = 1e-12 * largest  # positive, also if a run starts at a minimiser
    return min(max(constants.initial_gap, smallest), largest)


def set_stages(run: AnyRun, parameters: Parameters) -> AnyRun:
    """Set the noise of an accelerated run to that of a calibration, and also its stages if it has none.

    A stage is a number of rounds with the same weight of the proximal term.

    Args:
        run: the run, with or without stages.
        parameters: parameters of the calibration.

    Returns:
        A copy of the run with noise and stages.

    Raises:
        InvalidInput: neither the run nor the calibration has stages.
    """
    if run.stages is not None:
        return set_noise(run, parameters)
    if parameters.stages is None:
        raise InvalidInput.at("/stages", "are needed: no bound of this sampling chooses them")
    stages = tuple(StageRequest(rounds=stage.rounds, prox_weight=stage.prox_weight) for stage in parameters.stages)
    return set_noise(replace(run, stages=stages), parameters)


def bounds(problem: SimulatedProblem, run: AcceleratedShape) -> tuple[PromisedBound, ...]:
    """Return the certified bound on the mean excess empirical risk of an accelerated run, for its noise and stages.

    The empirical risk is the mean loss on the data.

    Args:
        problem: the simulated learning problem. Its constants bound the standard deviation of the gradients of the
            records, and the differences of the clients.
        run: the algorithm with its parameters and noise.

    Returns:
        A single bound, in the unit of the loss, with the theorem's conditions and whether each holds.
    """
    bound = bound_for_stages(
        problem,
        run,
        objective="empirical",
        gradient_std=empirical_gradient_std(problem),
        heterogeneity=empirical_heterogeneity(problem),
    )
    return (bound,)


def bound_for_stages(
    problem: SimulatedProblem, run: AcceleratedShape, *, objective: Objective, gradient_std: float, heterogeneity: float
) -> PromisedBound:
    """Return the bound with explicit constants on the excess risk of an accelerated run with given stages.

    There are two theorems, for equal clients and for clients that differ. The statistics of gradients are used only if
    the losses of all clients have equal weight.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the run with its noise and stages.
        objective: objective of the bound. A condition of the bound fails unless it is the problem's objective.
        gradient_std: bound on the standard deviation of gradients for that objective.
        heterogeneity: bound on the heterogeneity of the clients for that objective.

    Returns:
        The bound, with the theorem's conditions and whether each holds for this run.
    """
    fields: Fields = {
        "dimension": problem.dimension,
        "smoothness": smoothness_bound(problem),
        "strong_convexity": convexity_of(problem, run),
        "diameter": problem.constants.diameter,
        "initial_distance": initial_distance_bound(problem),
        "initial_gap": initial_gap(problem),
        "objective": objective,
    }
    if run.client_groups is None or has_equal_weights(run.client_groups):
        fields |= {"gradient_std": gradient_std, "heterogeneity": heterogeneity}

    inputs: Any
    if run.client_groups is None:
        theorem = ACCELERATED_RISK_BOUND
        inputs, risk_problem = _equal_clients(problem, run, fields)
    else:
        theorem = FEDERATED_ACCELERATED_RISK
        inputs, risk_problem = _different_clients(problem, run, fields)

    # The stages are those of the run, which may differ from those that the theorem would choose.
    stages = tuple(Stage(rounds=stage.rounds, prox_weight=stage.prox_weight) for stage in run.stages or ())
    risk = accelerated_risk(risk_problem, noise_std=inputs.noise_std, rounds=run.rounds, stages=stages)

    # The simulation decides the conditions that the theorem cannot check. Batches without replacement and full batches
    # have unbiased gradients.
    is_unbiased = problem.objective == objective and run.batches in ("without-replacement", "full")
    facts = {
        "closed-convex-domain": Verdict.YES,
        "loss": Verdict.YES,
        "unbiased-gradients": Verdict.of(is_unbiased),
        "last-output": Verdict.YES,
        "exact-proximal-step": Verdict.YES,
    }
    results = (condition.at(inputs) for condition in theorem.conditions)
    return PromisedBound(
        theorem=theorem.id,
        status=theorem.status,
        value=risk.total,
        constant="explicit",
        conditions=settle_conditions(results, facts),
    )


def _equal_clients(
    problem: SimulatedProblem, run: AcceleratedShape, fields: Fields
) -> tuple[AcceleratedRiskInputs, AcceleratedProblem]:
    """Return the inputs of the risk theorem for equal clients, and the optimisation problem that it bounds.

    A random number of participants enters the bound by its harmonic mean, which need not be an integer. The inputs, at
    which the conditions of the theorem are checked, have the mean rounded down.

    Args:
        problem: the simulated learning problem.
        run: the run. If it has no noise, the bound is for `LEAST_NOISE`, which is negligible.
        fields: the theorem's other inputs.

    Returns:
        The inputs, and the optimisation problem with the harmonic mean of the number of participants.
    """
    run_values = run_fields(problem, run)
    mean_participants = run_values["participants"]
    if run.participation is not None:
        mean_participants = harmonic_mean(run.participation)
    run_values["participants"] = max(1, math.floor(mean_participants))
    noise_std = max(run.noise_std or 0.0, LEAST_NOISE)
    inputs = AcceleratedRiskInputs(**run_values | fields, noise_std=noise_std)
    return inputs, replace(inputs.problem, participants=mean_participants)


def _different_clients(
    problem: SimulatedProblem, run: AcceleratedShape, fields: Fields
) -> tuple[FederatedAcceleratedInputs, AcceleratedProblem]:
    """Return the inputs of the risk theorem for clients that differ, and the problem that it bounds.

    Clients may differ in their numbers of records, batch sizes, noise and weights.

    Args:
        problem: the simulated learning problem.
        run: the run, which must have groups of clients.
        fields: the theorem's other inputs.

    Returns:
        The inputs with statistics of each group of clients, and the optimisation problem that follows from them.
    """
    assert run.client_groups is not None  # for type checkers; `bound_for_stages` has checked it
    clients = bound_clients(problem, run, run.participation, run.client_groups)
    inputs = FederatedAcceleratedInputs(**clients, rounds=run.rounds, **fields)
    return inputs, inputs.problem_on(None)


JOIN = Join(algorithm="accelerated-mb-sgd", calibrate=calibrate, bounds=bounds, allowance=Allowance(0.8, 0.025))

"""mb-sgd: its calibrator, the explicit bound at the run's own step, and Theorem 2.1 at its prescribed step."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.account import account
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.quantities import Sampling
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.target import Target
from epsilond.accountants.theorems.risk.lowy_razaviyayn.explicit_bound import EXCESS_RISK_BOUND, ExcessRiskInputs
from epsilond.accountants.theorems.risk.lowy_razaviyayn.unequal_clients import FEDERATED_RISK, FederatedInputs
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.mb_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.mb_sgd.problem import MbSgdProblem
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.algorithms.mb_sgd import MbSgdRun, MbSgdShape, fading
from epsilond.simulators.algorithms.random_participation import harmonic_mean
from epsilond.simulators.federations.groups import Groups, client_arrays_of, loss_scales
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, Parameters, PromisedBound
from epsilond.witness.joins.client_groups import (
    bound_clients,
    calibration_clients,
    effective_noise_std,
    set_noise,
)
from epsilond.witness.joins.printed.theorem_2_1 import printed_bound
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

ANSWERS_KEPT = 256
"""Number of answers that each function of this module keeps, for the cells of an experiment that repeat a problem."""
SAME = 1e-9
"""Relative tolerance for equal step sizes and weights; it allows for rounding."""


def calibrate(problem: SimulatedProblem, run: MbSgdRun, target: Target) -> tuple[MbSgdRun, Calibration]:
    """Calibrate the noise of a run to a target, and choose a step size unless the run has one.

    The noise is the smallest that is certified for one replaced record, against a server that sees all messages.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with noise and step size, and the calibrator's answer with its certified guarantee.

    Raises:
        InvalidInput: the run has no step size, and no bound on the risk for this sampling chooses one.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    constants = problem.constants
    # For clients that differ, these fields replace those of equal clients.
    clients = calibration_clients(problem, run, run.count_distribution, run.groups)
    calibration_problem = MbSgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="record",
        observer="server",
        **run_fields(problem, run) | clients,
        diameter=constants.diameter,
        strong_convexity=constants.strong_convexity,
        sampling=run.sampling,
    )
    answer = solve(calibration_problem)
    return set_parameters(run, answer.parameters), answer


@functools.lru_cache(maxsize=ANSWERS_KEPT)
def solve(calibration_problem: MbSgdProblem) -> Calibration:
    """Calibrate noise to a target (ε, δ), and store the answer, because simulations of an experiment repeat a problem.

    Args:
        calibration_problem: the request for the calibrator.

    Returns:
        The calibrator's answer, with the least noise that it certifies.

    Raises:
        NoCertificate: the calibrator certifies no noise for the target.
    """
    answer: Calibration = CALIBRATOR.solve(calibration_problem)
    return answer


def certified_epsilon(problem: SimulatedProblem, run: MbSgdRun, log_delta: float) -> Interval:
    """Certify bounds on ε at δ for the noise of a run, for one replaced record and a server that sees all messages.

    If clients differ, both bounds are maxima over the groups of equal clients.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters and noise.
        log_delta: natural logarithm of δ.

    Returns:
        A lower and an upper bound on ε, in nats.

    Raises:
        NoCertificate: the run has no noise, or no theorem applies to its sampling.
    """
    # The ε of a client depends on its batch size, its number of records, and its noise divided by its loss's weight.
    if run.groups is None:
        kinds_of_clients = {(run.noise_std or 0.0, run.batch_size, problem.samples_per_client)}
    else:
        clients = client_arrays_of(problem, run, run.sampling)
        scaled_noise = (clients.noise_stds / clients.scales).tolist()
        kinds_of_clients = set(zip(scaled_noise, clients.batches.tolist(), clients.sizes.tolist(), strict=True))

    # The noise of a sum of gradients is that of the mean times the batch size. The Lipschitz constant bounds a
    # gradient.
    intervals = []
    for noise_std, batch_size, records in kinds_of_clients:
        interval = account_batches(
            noise_multiplier=noise_std * batch_size / problem.constants.lipschitz,
            sampling=run.sampling,
            batch_size=batch_size,
            samples_per_client=records,
            times=run.rounds,
            log_delta=log_delta,
        )
        intervals.append(interval)
    largest_lower = max(interval.lower for interval in intervals)
    largest_upper = max(interval.upper for interval in intervals)
    return Interval(largest_lower, largest_upper)


@functools.lru_cache(maxsize=ANSWERS_KEPT)
def account_batches(
    *,
    noise_multiplier: float,
    sampling: Sampling,
    batch_size: int,
    samples_per_client: int,
    times: int,
    log_delta: float,
) -> Interval:
    """Certify bounds on ε at δ for one replaced record of a client that releases noisy mean gradients of batches.

    Args:
        noise_multiplier: standard deviation of the noise on a batch's sum of gradients, over the bound on the norm of
            one gradient.
        sampling: sampling scheme of the batches.
        batch_size: number of records of a batch; not used for full batches.
        samples_per_client: number of records of the client; not used for full batches.
        times: number of batches, each drawn independently.
        log_delta: natural logarithm of δ.

    Returns:
        A lower and an upper bound on ε, in nats.

    Raises:
        NoCertificate: there is no noise, or no theorem applies to the sampling.
    """
    is_full = sampling == "full"
    batch = Subsampled(
        sampling=sampling,
        batch_size=None if is_full else batch_size,
        population=None if is_full else samples_per_client,
        mechanism=Gaussian(noise_multiplier=noise_multiplier),
    )
    all_batches = Repeated(times=times, mechanism=batch)
    answer = account(all_batches, relation="replace-one", unit="record", observer="server")
    return answer.guarantee.curve.epsilon(log_delta)


def set_parameters(run: AnyRun, parameters: Parameters) -> AnyRun:
    """Give a run the calibrated noise, and the calibrated step size if it has none.

    Args:
        run: the run, with or without a step size.
        parameters: parameters of the calibration.

    Returns:
        A copy of the run with noise and step size.

    Raises:
        InvalidInput: neither the run nor the calibration has a step size.
    """
    step = parameters.step_size if run.step_size is None else run.step_size
    if step is None:
        raise InvalidInput.at("/step_size", "is needed: no bound of this sampling chooses one")
    return set_noise(replace(run, step_size=step), parameters)


def bounds(problem: SimulatedProblem, run: MbSgdShape) -> tuple[PromisedBound, ...]:
    """Return the theorems' bounds on the expected excess risk of a run, at its own noise, rounds, batches and step.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters, noise and step.

    Returns:
        The bound for clients that differ, if there are groups. Otherwise the bound with explicit constants and, if it
        applies, the corrected bound of Theorem 2.1 of Lowy and Razaviyayn.
    """
    if run.groups is not None:
        return (bound_for_groups(problem, run, run.groups),)
    return (explicit_bound(problem, run), *printed_bound(problem, run))


def bound_for_groups(problem: SimulatedProblem, run: MbSgdShape, groups: Groups) -> PromisedBound:
    """Return the bound on the excess risk for clients that differ, by theorem `epsilond.federated-sgd-excess-risk`.

    The bound is stated for the population risk. It is also valid for the empirical risk, but looser than necessary.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the run of mini-batch SGD with its noise and step size.
        groups: groups of equal clients.

    Returns:
        The bound, with the theorem's conditions and whether each holds for this run.
    """
    step = run.step_size or 0.0
    decay = fading(problem, run)
    scaled_step = step * min(loss_scales(groups))
    convexity = problem.constants.strong_convexity
    # Strong convexity μ for which the theorem's weights of the models, with the ratio 1/(1 − ημ), are those of the run.
    convexity_of_weights = (1.0 - decay) / scaled_step
    inputs = FederatedInputs(
        **bound_clients(problem, run, run.count_distribution, groups),
        rounds=run.rounds,
        dimension=problem.dimension,
        smoothness=smoothness_bound(problem),
        strong_convexity=min(convexity, convexity_of_weights),
        initial_distance=initial_distance_bound(problem),
        step_size=step,
    )
    evaluation = FEDERATED_RISK.evaluate(inputs)

    # The construction of the simulation decides the conditions that the theorem cannot check itself.
    is_fresh = run.batches in ("without-replacement", "full")
    # The weights of the models may grow at most as fast as the theorem's. `SAME` allows for rounding.
    is_weighted = 1.0 - decay <= scaled_step * convexity * (1.0 + SAME)
    facts = {
        "closed-convex-domain": Verdict.YES,
        "loss": Verdict.YES,
        "fresh-sampling": Verdict.of(is_fresh),
        "averaged-output": Verdict.of(is_weighted),
        "independent-records": Verdict.YES,
        "exact-proximal-step": Verdict.YES,
    }
    return PromisedBound(
        theorem=FEDERATED_RISK.id,
        status=FEDERATED_RISK.status,
        value=evaluation.outputs["excess_risk"],
        constant="explicit",
        conditions=settle_conditions(evaluation.conditions, facts),
    )


def explicit_bound(problem: SimulatedProblem, run: MbSgdShape) -> PromisedBound:
    """Return the bound on the excess risk for equal clients, by theorem `epsilond.mini-batch-sgd-excess-risk`.

    The theorem averages the models with weights that grow by the factor 1/(1 − ημ) per round, for step size η and
    strong convexity μ. If the weights of the run grow more slowly, the bound uses the smaller μ that belongs to them,
    with which the loss is strongly convex too. If they grow faster, nothing is proved, and a condition of the bound
    fails.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters, noise and step.

    Returns:
        The bound, with the theorem's conditions and whether each holds for this run.
    """
    step, decay = run.step_size or 0.0, fading(problem, run)
    convexity = problem.constants.strong_convexity
    # Strong convexity μ for which 1 − ημ is the ratio of consecutive weights in the run.
    convexity_of_weights = (1.0 - decay) / step
    fields = run_fields(problem, run)
    if run.count_distribution is not None:
        # The bound is stated for 1/E[1/M_r] clients and decreases with their number.
        fields["participants"] = max(1, math.floor(harmonic_mean(run.count_distribution)))
    noise_std = effective_noise_std(problem, run, run.noise_std or 0.0)
    inputs = ExcessRiskInputs(
        **fields,
        noise_std=max(noise_std, LEAST_NOISE),
        strong_convexity=min(convexity, convexity_of_weights),
        step_size=step,
        empirical_gradient_std=empirical_gradient_std(problem),
        empirical_heterogeneity=empirical_heterogeneity(problem),
        objective=problem.objective,
    )
    evaluation = EXCESS_RISK_BOUND.evaluate(inputs)

    # The construction of the simulation decides the conditions that the theorem cannot check itself.
    is_fresh = run.batches in ("without-replacement", "full")
    # The weights of the models may grow at most as fast as the theorem's. `SAME` allows for rounding.
    is_weighted = 1.0 - decay <= step * convexity * (1.0 + SAME)
    facts = {
        "closed-convex-domain": Verdict.YES,
        "loss": Verdict.YES,
        "fresh-sampling": Verdict.of(is_fresh),
        "averaged-output": Verdict.of(is_weighted),
        "independent-records": Verdict.YES,
    }
    return PromisedBound(
        theorem=EXCESS_RISK_BOUND.id,
        status=EXCESS_RISK_BOUND.status,
        value=evaluation.outputs["excess_risk"],
        constant="explicit",
        conditions=settle_conditions(evaluation.conditions, facts),
    )


JOIN = Join(
    algorithm="mb-sgd",
    calibrate=calibrate,
    account=certified_epsilon,
    bounds=bounds,
    allowance=Allowance(0.8, 0.025),
)

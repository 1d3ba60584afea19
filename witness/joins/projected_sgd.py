"""projected-sgd: its calibrator, and the bounds of Asoodeh et al. on its excess risk.

Corollary 1 is used in its corrected reading, with the noise of every coordinate, as its proof gives it. Corollaries 1
and 2 are stated for one pass over records drawn independently from one population. Its risk is the objective.
"""

from __future__ import annotations

import math
from dataclasses import replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.schedules import Constant, InverseTime
from epsilond.accountants.target import Target
from epsilond.accountants.theorem import Status
from epsilond.accountants.theorems.papers.asoodeh.inverse_time_steps import (
    COROLLARY_1,
    InverseTimeSteps,
    risk_terms,
)
from epsilond.accountants.theorems.risk.asoodeh.convex_bound import CONVEX_STOPS
from epsilond.accountants.theorems.risk.asoodeh.one_pass import COROLLARY_2, AverageRisk, corollary_2
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.projected_sgd.calibrator import CALIBRATOR
from epsilond.calibrators.projected_sgd.problem import ProjectedSgdProblem
from epsilond.simulators.algorithms.projected_sgd import ProjectedSgdRun, steps_of
from epsilond.simulators.problems.problem import SimulatedProblem
from epsilond.witness.join import Allowance, Join, PromisedBound

SAME = 1e-12
"""Relative tolerance for equal step sizes; it allows for rounding."""
FLAT = 1e-3
"""Smoothness given to a bound for linear losses, in units of L/ρ with the radius ρ. The bound requires β > 0, and every
upper bound on the smoothness is valid."""


def calibrate(problem: SimulatedProblem, run: ProjectedSgdRun, target: Target) -> tuple[ProjectedSgdRun, Calibration]:
    """Give a run of projected SGD the least noise that is certified to meet a target, for one pass over the records.

    The batches of the pass are shuffled. One replaced record is protected from an observer of only the final model.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with the calibrated noise. Then the calibrator's answer, with its certified guarantee.

    Raises:
        InvalidInput: the run is not one pass over shuffled batches.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    _check_one_pass(problem, run)
    delta = target.given_delta
    log10_delta = target.log10_delta if delta is None else None

    constants = problem.constants
    answer = CALIBRATOR.solve(
        ProjectedSgdProblem(
            epsilon=target.epsilon,
            delta=delta,
            log10_delta=log10_delta,
            clients=problem.clients,
            participants=run.participants,
            dimension=problem.dimension,
            lipschitz=constants.lipschitz,
            radius=0.5 * constants.diameter,
            smoothness=positive_smoothness(problem),
            strong_convexity=constants.strong_convexity,
            gradient_std=constants.gradient_std,
            step_schedule=run.step_schedule,
            noise_schedule=run.noise_schedule,
            release=run.release,
            suffix_fraction=run.suffix_fraction,
            relation="replace-one",
            unit="record",
            observer="final-model",
        )
    )
    return replace(run, noise_std=answer.parameters.noise_std), answer


def _check_one_pass(problem: SimulatedProblem, run: ProjectedSgdRun) -> None:
    """Check that a run passes once over the records, in shuffled batches.

    Args:
        problem: the simulated learning problem, with one record for each client.
        run: the algorithm with its parameters.

    Raises:
        InvalidInput: batches are not shuffled, or the rounds are more or fewer than the whole batches.
    """
    message = "noise is calibrated for one pass over shuffled batches only: give noise_std"
    if run.batches != "shuffled":
        raise InvalidInput.at("/batches", message)
    whole_batches = problem.clients // run.participants
    if steps_of(problem, run) != whole_batches:
        raise InvalidInput.at("/rounds", message)


def positive_smoothness(problem: SimulatedProblem) -> float:
    """Return an upper bound on the smoothness of the losses; it is positive even if the losses are linear."""
    constants = problem.constants
    radius = 0.5 * constants.diameter
    return constants.smoothness or FLAT * constants.lipschitz / radius


def bounds(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[PromisedBound, ...]:
    """Return the known bounds on the excess risk of one pass of projected SGD.

    For strongly convex losses these are Corollaries 1 and 2 of Asoodeh et al. The first one bounds the risk of the last
    model. The second one, with a hidden constant, bounds that of the model after a uniformly random step. A further
    bound, for constant steps, requires only convexity.

    Args:
        problem: the simulated learning problem.
        run: the algorithm with its parameters and noise.

    Returns:
        The bounds. Empty if the run has no noise yet, or if no bound covers it.
    """
    if run.noise_std is None:
        return ()
    constant_step = _constant_step_bounds(problem, run)
    # Both corollaries require strong convexity and noise.
    if problem.constants.strong_convexity == 0.0 or run.noise_std == 0.0:
        return constant_step
    if run.release == "last":
        return (_last_model_bound(problem, run), *constant_step)
    if run.release == "random-stop":
        return (*_random_stop_bounds(problem, run), *constant_step)
    return constant_step


def _constant_step_bounds(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[PromisedBound, ...]:
    """Return the bound of theorem `CONVEX_STOPS` on the excess risk, for constant steps and convex losses.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters and noise. It returns its last model, or the model after a random one of
            the last steps.

    Returns:
        The bound, with its conditions and whether each holds; empty if the steps are not constant.
    """
    if not isinstance(run.step_schedule, Constant):
        return ()
    constants = problem.constants
    steps = steps_of(problem, run)
    possible_stops = steps - run.first_stop(steps) + 1
    inputs = CONVEX_STOPS.request(
        clients=steps * run.participants,
        participants=run.participants,
        dimension=problem.dimension,
        lipschitz=constants.lipschitz,
        radius=0.5 * constants.diameter,
        noise_std=float(run.noise_stds(steps).max()),
        step_size=float(run.step_schedule.at(1, 1)[0]),
        stops=possible_stops,
    )
    outputs = CONVEX_STOPS.evaluate(inputs).outputs

    # If a random model is released, the theorem bounds the mean of the excess risk over all possible steps.
    quantity, value = "mean_excess", outputs["excess_risk_at_random_stop"]
    if run.release == "last":
        quantity, value = "excess", outputs["excess_risk_of_last"]
    bound = PromisedBound(
        theorem=CONVEX_STOPS.id,
        status=CONVEX_STOPS.status,
        value=float(value),
        quantity=quantity,
        constant="explicit",
        conditions=_fresh_records(problem, run),
    )
    return (bound,)


def _last_model_bound(problem: SimulatedProblem, run: ProjectedSgdRun) -> PromisedBound:
    """Return the bound of Corollary 1 of Asoodeh et al. on the excess risk of the last model, with its error corrected.

    It is:

        2β(mD² + G² + dσ²)/(λ² m T).

    Here T is the number of steps on batches of m records, β the smoothness, λ the strong convexity, D the Lipschitz
    constant, and G the standard deviation of gradients. σ is the largest standard deviation of the noise in a step, on
    each of d coordinates.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters and noise.

    Returns:
        The bound, with its conditions and whether each holds.
    """
    constants = problem.constants
    steps = steps_of(problem, run)
    inputs = InverseTimeSteps(
        epsilon=0.0,
        clients=steps * run.participants,
        participants=run.participants,
        dimension=problem.dimension,
        lipschitz=constants.lipschitz,
        radius=0.5 * constants.diameter,
        smoothness=positive_smoothness(problem),
        strong_convexity=constants.strong_convexity,
        noise_std=float(run.noise_stds(steps).max()),
        gradient_std=constants.gradient_std,
    )
    # The printed corollary is refuted, for its privacy and its noise term. The corrected one is proved.
    terms = risk_terms(inputs, "corrected")
    return PromisedBound(
        theorem=COROLLARY_1.id,
        status=Status.PROVED,
        value=math.fsum(terms.values()),
        constant="explicit",
        conditions=_conditions(problem, run),
    )


def _conditions(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[ConditionResult, ...]:
    """Check the conditions that Corollaries 1 and 2 of Asoodeh et al. share.

    The steps must be η_t = 1/(λt), every record must be used at most once, and the minimiser must be inside the ball.
    The true minimiser is within √(2 · gap/λ) of the computed one.

    Args:
        problem: the simulated learning problem. Its strong convexity λ is positive.
        run: the run with its steps.

    Returns:
        Each condition with a verdict, and with both sides of its inequality if it has one.
    """
    constants, steps = problem.constants, run.step_schedule
    radius = 0.5 * constants.diameter

    # For η_t = scale/t, the condition is scale · λ = 1.
    is_inverse_time = False
    if isinstance(steps, InverseTime):
        is_inverse_time = math.isclose(steps.scale * constants.strong_convexity, 1.0, rel_tol=SAME)

    # The true minimiser has at most this norm.
    minimiser_error = math.sqrt(2.0 * constants.optimum_gap / constants.strong_convexity)
    largest_norm = constants.optimum_norm + minimiser_error
    return (
        ConditionResult("inverse-steps", "η_t = 1/(λt)", Verdict.of(is_inverse_time)),
        *_fresh_records(problem, run),
        ConditionResult(
            "interior-minimiser",
            "the minimiser is inside the ball",
            Verdict.of(largest_norm < radius),
            largest_norm,
            radius,
        ),
    )


def _fresh_records(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[ConditionResult, ...]:
    """Check whether each record is used at most once, and whether all are from the population of the objective.

    Args:
        problem: the simulated learning problem.
        run: the run, with its batches.

    Returns:
        The two conditions, `one-pass` and `independent-records`, with whether each holds.
    """
    whole_batches = problem.clients // run.participants
    is_one_pass = run.batches != "without-replacement" and steps_of(problem, run) <= whole_batches
    is_one_population = problem.objective == "population" and problem.constants.heterogeneity == 0.0
    return (
        ConditionResult("one-pass", "every record is used once at most", Verdict.of(is_one_pass)),
        ConditionResult(
            "independent-records",
            "records are drawn independently from one population, which the objective is of",
            Verdict.of(is_one_population),
        ),
    )


def _random_stop_bounds(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[PromisedBound, ...]:
    """Return the bound of Corollary 2 of Asoodeh et al. on the excess risk of the model after a random step.

    The corollary has a constant that it does not state, which is set to 1 here. So the value shows only the order of
    growth, and is not compared with the measured risk.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters and noise.

    Returns:
        The bound; empty for a single step, or if the steps do not fall as 1/t.
    """
    steps = steps_of(problem, run)
    if steps < 2 or not isinstance(run.step_schedule, InverseTime):
        return ()
    constants = problem.constants
    inputs = AverageRisk(
        clients=steps * run.participants,
        participants=run.participants,
        dimension=problem.dimension,
        lipschitz=constants.lipschitz,
        radius=0.5 * constants.diameter,
        smoothness=positive_smoothness(problem),
        strong_convexity=constants.strong_convexity,
        gradient_std=constants.gradient_std,
        step_sizes=tuple(map(float, run.step_schedule.at(1, steps))),
        noise_stds=tuple(map(float, run.noise_stds(steps))),
        shamir_constant=1.0,  # the constant that the corollary does not state
    )
    value = float(corollary_2(inputs, "corrected")["excess_risk"])
    bound = PromisedBound(
        theorem=COROLLARY_2.id,
        status=COROLLARY_2.status,
        value=value,
        quantity="mean_excess",
        constant="hidden",
        conditions=_conditions(problem, run),
    )
    return (bound,)


JOIN = Join(
    algorithm="projected-sgd", noise=("noise_std",), calibrate=calibrate, bounds=bounds, allowance=Allowance(0.4)
)

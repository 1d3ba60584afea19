"""Projected SGD beside its calibrator and what Asoodeh et al. say of its excess risk.

Corollary 1 is used in its corrected reading, with the noise of every coordinate, which is what its proof gives. It and
Corollary 2 speak of one pass over records drawn independently from one population: that is the objective here.
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
"""Relative difference of steps that are the same."""
FLAT = 1e-3
"""Stands for the smoothness of linear losses, over L/ρ: any bound on it holds, but it must be positive."""


def calibrate(problem: SimulatedProblem, run: ProjectedSgdRun, target: Target) -> tuple[ProjectedSgdRun, Calibration]:
    """The least certified noise of one pass over shuffled batches: what the calibrator speaks of.

    Raises:
        InvalidInput: the run is another one.
    """
    steps = steps_of(problem, run)
    if run.batches != "shuffled" or steps != problem.clients // run.participants:
        message = "noise is calibrated for one pass over shuffled batches only: give noise_std"
        raise InvalidInput.at("/batches" if run.batches != "shuffled" else "/rounds", message)
    constants, delta = problem.constants, target.given_delta
    found = CALIBRATOR.solve(
        ProjectedSgdProblem(
            epsilon=target.epsilon,
            delta=delta,
            log10_delta=None if delta is not None else target.log10_delta,
            clients=problem.clients,
            participants=run.participants,
            dimension=problem.dimension,
            lipschitz=constants.lipschitz,
            radius=0.5 * constants.diameter,
            smoothness=smoothness_of(problem),
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
    return replace(run, noise_std=found.parameters.noise_std), found


def smoothness_of(problem: SimulatedProblem) -> float:
    """β, positive for linear losses too."""
    constants = problem.constants
    return constants.smoothness or FLAT * constants.lipschitz / (0.5 * constants.diameter)


def bounds(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[PromisedBound, ...]:
    """Corollary 1 for the last model; Corollary 2, whose constant is in no paper, for a uniform stop.

    With equal steps the bound that asks for no strong convexity.
    """
    if run.noise_std is None:
        return ()
    equal = _of_equal_steps(problem, run)
    if problem.constants.strong_convexity == 0.0 or run.noise_std == 0.0:
        return equal
    if run.release == "last":
        return (_of_the_last(problem, run), *equal)
    return (*(_of_the_mean(problem, run) if run.release == "random-stop" else ()), *equal)


def _of_equal_steps(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[PromisedBound, ...]:
    """`epsilond.one-pass-convex-excess-risk`, of the last model or of one after a uniform step."""
    steps, constants = steps_of(problem, run), problem.constants
    if not isinstance(run.step_schedule, Constant):
        return ()
    inputs = CONVEX_STOPS.request(
        clients=steps * run.participants,
        participants=run.participants,
        dimension=problem.dimension,
        lipschitz=constants.lipschitz,
        radius=0.5 * constants.diameter,
        noise_std=float(run.noise_stds(steps).max()),
        step_size=float(run.step_schedule.at(1, 1)[0]),
        stops=steps - run.first_stop(steps) + 1,
    )
    value = "excess_risk_of_last" if run.release == "last" else "excess_risk_at_random_stop"
    found = PromisedBound(
        theorem=CONVEX_STOPS.id,
        status=CONVEX_STOPS.status,
        value=float(CONVEX_STOPS.evaluate(inputs).outputs[value]),
        quantity="excess" if run.release == "last" else "mean_excess",
        constant="explicit",
        conditions=_fresh_records(problem, run),
    )
    return (found,)


def _of_the_last(problem: SimulatedProblem, run: ProjectedSgdRun) -> PromisedBound:
    """2β(mD² + G² + dσ²)/(λ² m T), T whole batches."""
    constants, used = problem.constants, steps_of(problem, run) * run.participants
    noises = run.noise_stds(steps_of(problem, run))
    inputs = InverseTimeSteps(
        epsilon=0.0,
        clients=used,
        participants=run.participants,
        dimension=problem.dimension,
        lipschitz=constants.lipschitz,
        radius=0.5 * constants.diameter,
        smoothness=smoothness_of(problem),
        strong_convexity=constants.strong_convexity,
        noise_std=float(noises.max()),
        gradient_std=constants.gradient_std,
    )
    return PromisedBound(
        theorem=COROLLARY_1.id,
        # Refuted as printed, for its privacy and for its noise term; the reading that is used here holds.
        status=Status.PROVED,
        value=math.fsum(risk_terms(inputs, "corrected").values()),
        constant="explicit",
        conditions=_conditions(problem, run),
    )


def _conditions(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[ConditionResult, ...]:
    constants, steps = problem.constants, run.step_schedule
    curvature, radius = constants.strong_convexity, 0.5 * constants.diameter
    slack = math.sqrt(2.0 * constants.optimum_gap / curvature)
    scale = steps.scale * curvature if isinstance(steps, InverseTime) else math.nan
    inside = constants.optimum_norm + slack < radius
    return (
        ConditionResult("inverse-steps", "η_t = 1/(λt)", Verdict.of(math.isclose(scale, 1.0, rel_tol=SAME))),
        *_fresh_records(problem, run),
        ConditionResult(
            "interior-minimiser",
            "the minimiser is inside the ball",
            Verdict.of(inside),
            constants.optimum_norm + slack,
            radius,
        ),
    )


def _fresh_records(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[ConditionResult, ...]:
    one_pass = run.batches != "without-replacement" and steps_of(problem, run) <= problem.clients // run.participants
    return (
        ConditionResult("one-pass", "every record is used once at most", Verdict.of(one_pass)),
        ConditionResult(
            "independent-records",
            "records are drawn independently from one population, which the objective is of",
            Verdict.of(problem.objective == "population" and problem.constants.heterogeneity == 0.0),
        ),
    )


def _of_the_mean(problem: SimulatedProblem, run: ProjectedSgdRun) -> tuple[PromisedBound, ...]:
    """An order, with 1 in the place of the constant."""
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
        smoothness=smoothness_of(problem),
        strong_convexity=constants.strong_convexity,
        gradient_std=constants.gradient_std,
        step_sizes=tuple(map(float, run.step_schedule.at(1, steps))),
        noise_stds=tuple(map(float, run.noise_stds(steps))),
        shamir_constant=1.0,
    )
    value = float(corollary_2(inputs, "corrected")["excess_risk"])
    found = PromisedBound(
        theorem=COROLLARY_2.id,
        status=COROLLARY_2.status,
        value=value,
        quantity="mean_excess",
        constant="hidden",
        conditions=_conditions(problem, run),
    )
    return (found,)


JOIN = Join(
    algorithm="projected-sgd", noise=("noise_std",), calibrate=calibrate, bounds=bounds, allowance=Allowance(0.4)
)

"""ppsgd: its calibrator at the problem's exact constants, for the noise, the weight α and the steps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.json_types import Fields
from epsilond.accountants.target import Target
from epsilond.calibrators.answer import Calibration
from epsilond.calibrators.ppsgd.calibrator import CALIBRATOR
from epsilond.calibrators.ppsgd.problem import PpsgdProblem
from epsilond.simulators.algorithms.ppsgd.run import PpsgdRun, largest_message
from epsilond.simulators.problems.personalized_problem import PersonalizedConstants, PersonalizedProblem
from epsilond.witness.join import Join
from epsilond.witness.joins.ppsgd_bounds import bounds, finite_or_none
from epsilond.witness.joins.problem_fields import target_fields


def calibrate(problem: PersonalizedProblem, run: PpsgdRun, target: Target) -> tuple[PpsgdRun, Calibration]:
    """Calibrate the noise of a run of PPSGD to a target, and choose the parameters that the run leaves open.

    PPSGD trains a part of the model that all clients share, and a part for each client. The open parameters are the
    weight α of the shared part and the step sizes.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        A copy of the run with noise, α and step sizes, and the calibrator's answer with its certified guarantee.

    Raises:
        InvalidInput: no clipping norm bounds the messages, or no bound applies that would choose α or the steps.
        NoCertificate: the calibrator certifies no noise for the target.
    """
    calibrator_problem = calibration_problem(problem, run, target)
    answer = CALIBRATOR.solve(calibrator_problem)
    parameters = answer.parameters
    if parameters.personalization is None:
        raise InvalidInput.at("/personalization", "is needed: no bound on the excess risk applies that would choose it")
    calibrated = replace(
        run,
        noise_std=parameters.noise_std,
        clipping_norm=calibrator_problem.clipping_norm,
        personalization=parameters.personalization,
    )
    has_step = run.step_size is not None or run.shared_step_size is not None
    if has_step:
        return calibrated, answer

    # With one model for all clients (α = ∞), only the shared part has a step size.
    step_field = "shared_step_size" if parameters.personalization == "unbounded" else "step_size"
    step = getattr(parameters, step_field)
    if not step:  # the calibrator chooses none if the optimum is the start
        raise InvalidInput.at(f"/{step_field}", "is needed: no bound on the excess risk chooses it")
    return replace(calibrated, **{step_field: step}), answer


def calibration_problem(problem: PersonalizedProblem, run: PpsgdRun, target: Target) -> PpsgdProblem:
    """Return the calibrator's request for a simulated run of PPSGD.

    A client is protected from the other clients. The norm of its messages is at most the clipping norm, or the largest
    norm that the gradients of the problem allow.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the algorithm with its parameters, still without noise.
        target: the (ε, δ) to meet.

    Returns:
        The request, for neighbouring data sets in which one client's data are replaced.

    Raises:
        InvalidInput: gradients have no bound, and the run has no clipping norm.
    """
    constants = problem.constants
    clipping_norm = run.clipping_norm or largest_message(problem, run)
    if math.isinf(clipping_norm):
        message = "is needed: gradients of this problem have no bound"
        raise InvalidInput.at("/clipping_norm", message, allowed="> 0")
    return PpsgdProblem(
        **target_fields(target),
        relation="replace-one",
        unit="client",
        observer="other-clients",
        clients=problem.clients,
        rounds=run.rounds,
        sampling=run.sampling,
        participation_rate=run.participation_rate,
        clipping_norm=clipping_norm,
        shared_dimension=problem.dimension,
        smoothness=finite_or_none(constants.smoothness),
        lipschitz=finite_or_none(constants.lipschitz),
        batch_size=run.batch_size,
        client_groups=_groups(run),
        weighting=run.weighting,
        personalization=run.personalization,
        **_optimum_fields(constants),
    )


def _optimum_fields(constants: PersonalizedConstants) -> Fields:
    """Return the finite constants of a problem at its optimum, by the names of the calibrator's fields.

    They are standard deviations and norms of gradients, and the norm and the spread of the clients' optima. If a linear
    model separates the classes, there is no optimum. The constants are then infinite and left out.

    Args:
        constants: constants of the learning problem.
    """
    names = ("shared_gradient_std", "local_gradient_std", "shared_gradient_norm", "optimum_norm", "optimum_spread")
    values = {name: getattr(constants, name) for name in names}
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _groups(run: PpsgdRun) -> Any:
    """Return the groups of equal clients with their batch sizes, in the form of the calibrator's request.

    Args:
        run: the algorithm with its parameters.

    Returns:
        One entry for each group; None if all clients are equal.
    """
    if run.client_groups is None:
        return None
    return tuple({"clients": group.clients, "batch_size": group.batch_size} for group in run.client_groups)


JOIN = Join(algorithm="ppsgd", calibrate=calibrate, bounds=bounds)

"""Fields and conditions that the joins of the mini-batch algorithms derive from a problem's exact constants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.json_types import Fields
from epsilond.accountants.target import Target
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.algorithms.algorithm import AnyRun
from epsilond.simulators.problems.problem import SimulatedProblem

LEAST_NOISE = 1e-90
"""Least noise standard deviation given to a bound. The bounds require positive noise and increase with it, so that a
run without noise satisfies the bound at this value."""
LEAST_CURVATURE = 1e-9
"""Least smoothness given to a bound, in units of the Lipschitz constant over the diameter. The bounds require a number
above 0. The smoothness of linear losses is 0, and every positive number is an upper bound on it."""


def settle_conditions(
    conditions: Iterable[ConditionResult], facts: Mapping[str, Verdict]
) -> tuple[ConditionResult, ...]:
    """Decide conditions of a theorem that follow from the construction of a simulated problem and run.

    The inputs of a theorem do not decide all of its conditions, for example whether records are used only once.

    Args:
        conditions: a theorem's conditions with their verdicts at its inputs.
        facts: verdicts that follow from the construction, by the id of the condition.

    Returns:
        The conditions in the same order. An undecidable one has the verdict of `facts`, if that has its id.
    """
    results = []
    for condition in conditions:
        is_decided_by_facts = condition.holds == Verdict.UNDECIDABLE and condition.id in facts
        if is_decided_by_facts:
            results.append(replace(condition, holds=facts[condition.id]))
        else:
            results.append(condition)
    return tuple(results)


def target_fields(target: Target) -> Fields:
    """Return ε and δ of a target, by the names of a calibrator's fields.

    Args:
        target: the target.

    Returns:
        `epsilon`, with `delta` if it was given as a double, and with `log10_delta` otherwise.
    """
    if target.given_delta is not None:
        return {"epsilon": target.epsilon, "delta": target.given_delta}
    return {"epsilon": target.epsilon, "log10_delta": target.log10_delta}


def smoothness_bound(problem: SimulatedProblem) -> float:
    """Return a positive upper bound β on the smoothness of one record's loss, even if the losses are linear."""
    constants = problem.constants
    least_smoothness = LEAST_CURVATURE * constants.lipschitz / constants.diameter
    return max(constants.smoothness, least_smoothness)


def initial_distance_bound(problem: SimulatedProblem) -> float:
    """Return an upper bound on the distance from the start, the origin, to a minimiser, which is computed numerically.

    If the objective is strongly convex with constant μ, the true minimiser is within √(2 · gap/μ) of the computed one.
    The bound is then valid for the true minimiser, and otherwise for the computed one.

    Args:
        problem: the simulated learning problem, with its domain and its computed minimiser.

    Returns:
        The bound, in the unit of the models. It is positive, as the theorems require, and at most the diameter.
    """
    constants = problem.constants
    minimiser_error = 0.0
    if constants.strong_convexity > 0.0:
        minimiser_error = math.sqrt(2.0 * constants.optimum_gap / constants.strong_convexity)
    least_distance = 1e-9 * constants.diameter  # a positive number, in case that the run starts at a minimiser
    distance = max(constants.optimum_norm + minimiser_error, least_distance)
    return min(distance, constants.diameter)


def empirical_gradient_std(problem: SimulatedProblem) -> float:
    """Return an upper bound on the root mean square deviation of all records' gradients from their mean.

    If the data is the population, the bound is √(φ² + v²), for the gradient standard deviation φ and the heterogeneity
    v. If the data is drawn anew, only the Lipschitz constant bounds the deviation.

    Args:
        problem: the simulated learning problem, with its exact constants.

    Returns:
        The bound, at most the Lipschitz constant.
    """
    constants = problem.constants
    if problem.objective != "empirical":
        return constants.lipschitz
    rounded_up = 1.0 + 2.0**-40  # more than the rounding error of `hypot`
    deviation = math.hypot(constants.gradient_std, constants.heterogeneity) * rounded_up
    return min(constants.lipschitz, deviation)


def empirical_heterogeneity(problem: SimulatedProblem) -> float:
    """Return an upper bound on the heterogeneity v̂ of the clients' data sets.

    v̂ is the root mean square distance of the clients' mean gradients from their common mean. If the data sets are
    drawn anew from the populations, only the Lipschitz constant bounds v̂.

    Args:
        problem: the simulated learning problem, with its exact constants.

    Returns:
        The bound, at most the Lipschitz constant.
    """
    constants = problem.constants
    if problem.objective != "empirical":
        return constants.lipschitz
    return min(constants.heterogeneity, constants.lipschitz)


def run_fields(problem: SimulatedProblem, run: AnyRun) -> Fields:
    """Return the inputs that calibrators and bounds of mini-batch and local SGD share for a run of equal clients.

    Args:
        problem: the simulated learning problem, with its exact constants.
        run: the run of an algorithm with batches.

    Returns:
        The inputs by the names of their fields:
        clients, participants: numbers of all clients and of those in a round;
        samples_per_client, batch_size: numbers of records of a client and of a batch;
        rounds, dimension: numbers of rounds and of model coordinates;
        lipschitz, smoothness: constants of the losses;
        initial_distance: bound on the distance from the start to a minimiser.
    """
    constants = problem.constants
    return {
        "clients": problem.clients,
        "participants": run.participants or problem.clients,
        "samples_per_client": problem.samples_per_client,
        "batch_size": run.batch_size,
        "rounds": run.rounds,
        "dimension": problem.dimension,
        "lipschitz": constants.lipschitz,
        "smoothness": smoothness_bound(problem),
        "initial_distance": initial_distance_bound(problem),
    }

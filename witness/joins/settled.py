"""What the joins of the mini-batch algorithms share: what is known of a problem, as fields and as conditions."""

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
"""Stands for no noise: a bound at more noise holds at less, and the statements want some."""
LEAST_CURVATURE = 1e-9
"""Of L/D: the smoothness that is told of linear losses, which have less; any bound on it may be told."""


def settled(conditions: Iterable[ConditionResult], known: Mapping[str, Verdict]) -> tuple[ConditionResult, ...]:
    """The conditions, those that a caller would declare being decided by what is known of problem and run."""
    return tuple(
        replace(one, holds=known[one.id]) if one.holds == Verdict.UNDECIDABLE and one.id in known else one
        for one in conditions
    )


def target_fields(target: Target) -> Fields:
    """ε, and δ as it was given."""
    if target.given_delta is not None:
        return {"epsilon": target.epsilon, "delta": target.given_delta}
    return {"epsilon": target.epsilon, "log10_delta": target.log10_delta}


def smoothness_of(problem: SimulatedProblem) -> float:
    """β > 0."""
    known = problem.constants
    return max(known.smoothness, LEAST_CURVATURE * known.lipschitz / known.diameter)


def distance_of(problem: SimulatedProblem) -> float:
    """A bound on the distance from the start to every minimiser where it is unique, else to the one that is used.

    The minimiser used is within √(2 · gap/μ) of the true one of a μ-strongly convex objective.
    """
    known = problem.constants
    away = math.sqrt(2.0 * known.optimum_gap / known.strong_convexity) if known.strong_convexity > 0.0 else 0.0
    return min(max(known.optimum_norm + away, 1e-9 * known.diameter), known.diameter)


def empirical_gradient_std(problem: SimulatedProblem) -> float:
    """Φ̂ ≤ √(φ² + v²), and at most L; φ and v are those of the data at hand where the data is the population."""
    known = problem.constants
    if problem.objective != "empirical":
        return known.lipschitz
    return min(known.lipschitz, math.hypot(known.gradient_std, known.heterogeneity) * (1.0 + 2.0**-40))


def empirical_heterogeneity(problem: SimulatedProblem) -> float:
    """v̂; of data that is drawn anew nothing is known but that it is at most L."""
    known = problem.constants
    return known.lipschitz if problem.objective != "empirical" else min(known.heterogeneity, known.lipschitz)


def shape_of(problem: SimulatedProblem, run: AnyRun) -> Fields:
    """Fields that every statement about a run of equal clients has."""
    known = problem.constants
    return {
        "clients": problem.clients,
        "participants": run.participants or problem.clients,
        "samples_per_client": problem.samples_per_client,
        "batch_size": run.batch_size,
        "rounds": run.rounds,
        "dimension": problem.dimension,
        "lipschitz": known.lipschitz,
        "smoothness": smoothness_of(problem),
        "initial_distance": distance_of(problem),
    }

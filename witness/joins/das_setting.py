"""What the convergence theorems of Das et al. ask of a problem, from the problem itself.

Losses are convex, hence quasar-convex with ζ = 1, and smooth everywhere, not on the ball alone. The theorems are of the
clients' losses on the data at hand: where the data is the population, that is the objective. The distances are proved
upper bounds: in both theorems more distance only makes the bound larger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.verdict import Verdict
from epsilond.simulators.problems.problem import Floats, Records
from epsilond.witness.join import AnyProblem

NEGLIGIBLE, CLEAR = 1e-14, 1e-10
"""Eigenvalues, relative to the largest, that are 0, and those that surely are not; none between is accepted."""


@dataclass(frozen=True, kw_only=True)
class DasSetting:
    """Constants of the theorems, in the problem's units, and the conditions that speak of it."""

    smoothness: float
    initial_distance: float
    """‖w₀ − w*‖ or more, w₀ = 0."""
    client_optimum_distance: float
    """Mean over clients of ‖w*_i − w*‖ or more, w*_i the nearest; 0 where it is not known, which a condition says."""
    client_optimum_rms: float
    """The same of root mean squares."""
    conditions: tuple[ConditionResult, ...]

    @classmethod
    def of(cls, problem: AnyProblem) -> DasSetting:
        """From the problem's finite populations and its certified minimum."""
        constants = problem.constants
        gradients, hessians = _at_minimiser(problem)
        curvature = constants.strong_convexity
        if hessians is not None:
            curvature = max(curvature, float(np.linalg.eigvalsh(hessians.mean(axis=0))[0]) - CLEAR)
        known = curvature > 1e-6 * constants.smoothness
        # F(w) − F* ≥ (λ/2)‖w − w*‖².
        slack = math.sqrt(2.0 * constants.optimum_gap / curvature) if known else 0.0
        reach = constants.optimum_norm + slack
        distances = _client_distances(problem, gradients, hessians)
        optima = np.zeros(1) if distances is None else distances + (slack if problem.population.own else 0.0)
        empirical = problem.objective == "empirical"
        inside = Verdict.of(reach < 0.5 * constants.diameter) if known else Verdict.UNDECIDABLE
        return cls(
            smoothness=constants.smoothness,
            initial_distance=reach,
            client_optimum_distance=float(np.mean(optima)),
            client_optimum_rms=math.sqrt(float(np.mean(np.square(optima)))),
            conditions=(
                ConditionResult("quasar-convex", "every client's loss is convex and β-smooth, everywhere", Verdict.YES),
                ConditionResult(
                    "empirical-objective", "the objective is the mean loss of the data at hand", Verdict.of(empirical)
                ),
                ConditionResult(
                    "interior-minimiser",
                    "the minimiser on the ball is inside it, hence one over all models, and it is known",
                    inside,
                    reach,
                    0.5 * constants.diameter,
                ),
                ConditionResult(
                    "client-optima",
                    "the distance of the clients' own minimisers is known",
                    Verdict.of(distances is not None),
                ),
            ),
        )


def _at_minimiser(problem: AnyProblem) -> tuple[Floats, Floats | None]:
    """Clients' gradients there, and their Hessians where these are the same everywhere: quadratic losses."""
    population, loss = problem.population, getattr(problem, "loss", None)
    gradients = problem.mean_gradient(problem.minimiser, Records(population.features, population.targets))
    if loss is None or loss.name not in ("squared", "linear"):
        return gradients, None
    features = population.features
    moments = np.matmul(np.swapaxes(features, 1, 2), features) / features.shape[1]
    return gradients, loss.curvature * moments + problem.strong_convexity * np.eye(features.shape[2])


def _client_distances(problem: AnyProblem, gradients: Floats, hessians: Floats | None) -> Floats | None:
    """0 for equal clients; Newton's step for quadratics; ‖∇f_i(w*)‖/μ for strongly convex losses; (N)."""
    if problem.population.own == 0 or problem.clients == 1:
        return np.zeros(problem.clients)
    if hessians is None:
        if problem.strong_convexity == 0.0:
            return None
        return np.asarray(np.linalg.norm(gradients, axis=-1) / problem.strong_convexity)
    sizes, directions = np.linalg.eigh(hessians)
    relative = np.abs(sizes / sizes[:, -1:])
    if np.any((relative > NEGLIGIBLE) & (relative < CLEAR)):
        return None
    inverse = np.where(relative < CLEAR, 0.0, 1.0 / np.where(relative < CLEAR, 1.0, sizes))
    parts = np.matmul(np.swapaxes(directions, 1, 2), gradients[..., None])[..., 0]
    return np.asarray(np.linalg.norm(inverse * parts, axis=-1))

"""Constants of the convergence theorems of Das et al. for a simulated problem.

Losses are convex, hence quasar-convex with ζ = 1 (the property that the theorems need), and smooth everywhere, not only
on the ball. The theorems bound the clients' losses on the data at hand, which is the objective if the data is the
population. The distances are proved upper bounds. A larger distance only increases the bound in both theorems.
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
"""Largest relative size of an eigenvalue that counts as 0, and least one of an eigenvalue that is not 0. A Hessian with
an eigenvalue between them is not used, because its rank is uncertain."""


LEAST_CURVATURE = 1e-6
"""Least curvature, in units of the smoothness, at which the gap of the minimum bounds the distance to the minimiser."""


@dataclass(frozen=True, kw_only=True)
class DasSetting:
    """The constants of a simulated problem that the theorems of Das et al. use, and their conditions on the problem."""

    smoothness: float
    initial_distance: float
    """Upper bound on ‖w₀ − w*‖, for the start w₀ = 0 and the minimiser w*."""
    client_optimum_distance: float
    """Upper bound on the mean over clients of ‖w*_i − w*‖, with w*_i the nearest minimiser of client i. It is 0 if no
    bound is known; the condition `client-optima` then fails."""
    client_optimum_rms: float
    """Upper bound on the root mean square over clients of ‖w*_i − w*‖."""
    conditions: tuple[ConditionResult, ...]

    @classmethod
    def of(cls, problem: AnyProblem) -> DasSetting:
        """Compute the constants of a problem from its finite populations and its certified minimum.

        All distances are upper bounds, because a larger distance only raises the bounds of the theorems.

        Args:
            problem: the simulated problem. The excess of its computed minimiser over the minimum is at most
                `optimum_gap`.

        Returns:
            The constants, with the theorems' conditions and whether each holds.
        """
        constants = problem.constants
        gradients, hessians = _at_minimiser(problem)
        curvature = _mean_curvature(problem, hessians)
        is_curved = curvature > LEAST_CURVATURE * constants.smoothness
        # The computed minimiser has F(w) − F* ≤ gap, and F(w) − F* ≥ (λ/2)‖w − w*‖² for the curvature λ.
        slack = math.sqrt(2.0 * constants.optimum_gap / curvature) if is_curved else 0.0
        initial_distance = constants.optimum_norm + slack
        distances = _client_distances(problem, gradients, hessians)
        optimum_distances = np.zeros(1)
        if distances is not None:  # they are from the computed minimiser, which is at most `slack` from w*
            optimum_distances = distances + (slack if problem.population.own else 0.0)
        return cls(
            smoothness=constants.smoothness,
            initial_distance=initial_distance,
            client_optimum_distance=float(np.mean(optimum_distances)),
            client_optimum_rms=math.sqrt(float(np.mean(np.square(optimum_distances)))),
            conditions=_conditions(
                problem,
                initial_distance=initial_distance,
                is_minimiser_known=is_curved,
                are_distances_known=distances is not None,
            ),
        )


def _mean_curvature(problem: AnyProblem, hessians: Floats | None) -> float:
    """Return a lower bound on the strong convexity of the mean loss.

    Args:
        problem: the simulated problem.
        hessians: Hessian of each client's loss if losses are quadratic, or None.

    Returns:
        The bound: at least the problem's constant, or the smallest eigenvalue of the mean Hessian if it is larger.
    """
    curvature: float = problem.constants.strong_convexity
    if hessians is None:
        return curvature
    least_eigenvalue = float(np.linalg.eigvalsh(hessians.mean(axis=0))[0])
    return max(curvature, least_eigenvalue - CLEAR)  # CLEAR exceeds the rounding error of the eigenvalue


def _conditions(
    problem: AnyProblem, *, initial_distance: float, is_minimiser_known: bool, are_distances_known: bool
) -> tuple[ConditionResult, ...]:
    """Return the conditions of the theorems of Das et al. on the problem, with whether they hold.

    Args:
        problem: the simulated problem.
        initial_distance: upper bound on the distance of the minimiser from the start, the centre of the ball.
        is_minimiser_known: whether `initial_distance` is such a bound. It needs a mean loss with positive curvature.
        are_distances_known: whether the distances of the clients' own minimisers are bounded.

    Returns:
        Four conditions: shape of the losses, objective, minimiser inside the ball, and minimisers of the clients. The
        third is undecidable if the minimiser is not known.
    """
    radius = 0.5 * problem.constants.diameter
    is_inside = Verdict.of(initial_distance < radius) if is_minimiser_known else Verdict.UNDECIDABLE
    is_empirical = Verdict.of(problem.objective == "empirical")
    return (
        ConditionResult("quasar-convex", "every client's loss is convex and β-smooth, everywhere", Verdict.YES),
        ConditionResult("empirical-objective", "the objective is the mean loss of the data at hand", is_empirical),
        ConditionResult(
            "interior-minimiser",
            "the minimiser on the ball is inside it, hence one over all models, and it is known",
            is_inside,
            initial_distance,
            radius,
        ),
        ConditionResult(
            "client-optima", "the distance of the clients' own minimisers is known", Verdict.of(are_distances_known)
        ),
    )


def _at_minimiser(problem: AnyProblem) -> tuple[Floats, Floats | None]:
    """Return the clients' gradients at the computed minimiser, and their Hessians if the losses are quadratic.

    Args:
        problem: the simulated problem.

    Returns:
        The gradients, (N, d), and the Hessians, (N, d, d), or None.
    """
    population, loss = problem.population, getattr(problem, "loss", None)
    gradients = problem.mean_gradient(problem.minimiser, Records(population.features, population.targets))
    if loss is None or loss.name not in ("squared", "linear"):
        return gradients, None
    features = population.features
    moments = np.matmul(np.swapaxes(features, 1, 2), features) / features.shape[1]
    return gradients, loss.curvature * moments + problem.strong_convexity * np.eye(features.shape[2])


def _client_distances(problem: AnyProblem, gradients: Floats, hessians: Floats | None) -> Floats | None:
    """Return upper bounds on the distance of each client's own minimiser w*_i from the minimiser w* of their mean.

    The distance is 0 for equal clients. For quadratic losses it is the length of Newton's step from w*. For μ-strongly
    convex losses it is at most ‖∇f_i(w*)‖/μ.

    Args:
        problem: the simulated problem.
        gradients: gradient of each client's loss at w*, (N, d).
        hessians: Hessian of each client's loss if losses are quadratic, (N, d, d), or None.

    Returns:
        The bounds, (N,). None if none of these cases applies, or if the rank of a Hessian is uncertain.
    """
    if problem.population.own == 0 or problem.clients == 1:
        return np.zeros(problem.clients)
    if hessians is None:
        if problem.strong_convexity == 0.0:
            return None
        return np.asarray(np.linalg.norm(gradients, axis=-1) / problem.strong_convexity)
    eigenvalues, eigenvectors = np.linalg.eigh(hessians)
    relative = np.abs(eigenvalues / eigenvalues[:, -1:])
    if np.any((relative > NEGLIGIBLE) & (relative < CLEAR)):
        return None
    is_zero = relative < CLEAR
    inverse = np.where(is_zero, 0.0, 1.0 / np.where(is_zero, 1.0, eigenvalues))
    coordinates = np.matmul(np.swapaxes(eigenvectors, 1, 2), gradients[..., None])[..., 0]  # of the eigenvectors
    return np.asarray(np.linalg.norm(inverse * coordinates, axis=-1))

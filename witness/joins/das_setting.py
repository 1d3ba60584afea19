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
"""Relative size of an eigenvalue up to which it counts as 0, and from which on it counts as positive.

The rank of a Hessian with an eigenvalue between the two is uncertain.
"""
LEAST_CURVATURE = 1e-6
"""Least curvature, in units of the smoothness, with which the distance to the minimiser is bounded."""


@dataclass(frozen=True, kw_only=True)
class DasSetting:
    """Constants of a simulated problem for the theorems of Das et al., with the theorems' conditions on the problem.

    w₀ = 0 is the start of a run, w* the minimiser of the mean loss, and w*_i the minimiser of client i's loss that is
    nearest to w*.

    Attributes:
        smoothness: smoothness of every client's loss.
        initial_distance: upper bound on ‖w₀ − w*‖.
        client_optimum_distance: upper bound on the mean over clients of ‖w*_i − w*‖. It is 0 if no bound is known; the
            condition `client-optima` then fails.
        client_optimum_rms: upper bound on the root mean square over clients of ‖w*_i − w*‖.
        conditions: conditions of the theorems on the problem, with whether each holds.
    """

    smoothness: float
    initial_distance: float
    client_optimum_distance: float
    client_optimum_rms: float
    conditions: tuple[ConditionResult, ...]

    @classmethod
    def of(cls, problem: AnyProblem) -> DasSetting:
        """Compute the constants of a problem from its finite populations and its certified minimum.

        Args:
            problem: the simulated learning problem. The loss at its computed minimiser exceeds the minimum by at most
                `optimum_gap`.
        """
        constants = problem.constants
        gradients, hessians = _at_minimiser(problem)

        # (λ/2)‖w − w*‖² ≤ F(w) − F(w*) ≤ gap for the computed minimiser w and the curvature λ bounds ‖w − w*‖.
        curvature = _mean_curvature(problem, hessians)
        is_curved = curvature > LEAST_CURVATURE * constants.smoothness
        minimiser_error = 0.0
        if is_curved:
            minimiser_error = math.sqrt(2.0 * constants.optimum_gap / curvature)
        initial_distance = constants.optimum_norm + minimiser_error

        # The distances are those from the computed minimiser, so its error is added unless the clients are equal.
        distances = _client_distances(problem, gradients, hessians)
        optimum_distances = np.zeros(1)  # if unknown, both means are 0, and the condition `client-optima` fails
        if distances is not None:
            error = minimiser_error if problem.population.own else 0.0
            optimum_distances = distances + error
        mean_square = float(np.mean(np.square(optimum_distances)))
        return cls(
            smoothness=constants.smoothness,
            initial_distance=initial_distance,
            client_optimum_distance=float(np.mean(optimum_distances)),
            client_optimum_rms=math.sqrt(mean_square),
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
        problem: the simulated learning problem, with a constant of strong convexity that holds for every client.
        hessians: Hessian of each client's loss if losses are quadratic, or None.

    Returns:
        The constant; for quadratic losses the smallest eigenvalue of the mean Hessian, rounded down, if that is larger.
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
        problem: the simulated learning problem.
        initial_distance: upper bound on the distance of the minimiser from the start, the centre of the ball.
        is_minimiser_known: whether `initial_distance` is known to be such a bound.
        are_distances_known: whether the distances of the clients' own minimisers are bounded.

    Returns:
        Four conditions: on the losses, on the objective, that the minimiser is inside the ball, and that the distances
        of the clients' minimisers are known.
    """
    radius = 0.5 * problem.constants.diameter
    is_inside = Verdict.UNDECIDABLE
    if is_minimiser_known:
        is_inside = Verdict.of(initial_distance < radius)
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

    With n records x_1, …, x_n of a client, the Hessian is:

        c · (x_1 x_1ᵀ + … + x_n x_nᵀ)/n + λI,

    where c is the curvature of the loss as a function of the prediction, and λ the weight of the regularisation.

    Args:
        problem: the simulated learning problem.

    Returns:
        The gradients, of shape (N, d) for N clients and d coordinates, and the Hessians, of shape (N, d, d), or None.
    """
    population, loss = problem.population, getattr(problem, "loss", None)
    records = Records(population.features, population.targets)
    gradients = problem.mean_gradient(problem.minimiser, records)
    if loss is None or loss.name not in ("squared", "linear"):
        return gradients, None

    features = population.features
    _, records_of_client, dimension = features.shape
    second_moments = np.matmul(np.swapaxes(features, 1, 2), features) / records_of_client
    hessians = loss.curvature * second_moments + problem.strong_convexity * np.eye(dimension)
    return gradients, hessians


def _client_distances(problem: AnyProblem, gradients: Floats, hessians: Floats | None) -> Floats | None:
    """Return upper bounds on the distance of each client's own minimiser from the minimiser w* of the mean loss.

    The distance is 0 for equal clients. For quadratic losses it is the length of the Newton step from w*. For
    μ-strongly convex losses f_i it is at most ‖∇f_i(w*)‖/μ.

    Args:
        problem: the simulated learning problem.
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
        gradient_norms = np.linalg.norm(gradients, axis=-1)
        return np.asarray(gradient_norms / problem.strong_convexity)

    # Eigenvalues are in ascending order, so the last one is the largest.
    eigenvalues, eigenvectors = np.linalg.eigh(hessians)
    relative_sizes = np.abs(eigenvalues / eigenvalues[:, -1:])
    is_uncertain = (relative_sizes > NEGLIGIBLE) & (relative_sizes < CLEAR)
    if np.any(is_uncertain):
        return None

    # The Newton step solves H · step = gradient. For the nearest minimiser it is 0 in directions with eigenvalue 0.
    is_zero = relative_sizes < CLEAR
    inverse_eigenvalues = np.where(is_zero, 0.0, 1.0 / np.where(is_zero, 1.0, eigenvalues))
    coordinates = np.matmul(np.swapaxes(eigenvectors, 1, 2), gradients[..., None])[..., 0]  # of the eigenvectors
    return np.asarray(np.linalg.norm(inverse_eigenvalues * coordinates, axis=-1))

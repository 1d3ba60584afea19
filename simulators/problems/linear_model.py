"""Problems with linear predictions: F(w) = mean over clients and records of ℓ(⟨x, w⟩, y) + (μ/2)‖w‖², w in a ball.

All constants follow from the finite population, or from the class of records: norm of x at most 1, |y| at most the
loss's largest target. Let r be the radius of the ball and s(r) the largest slope of such a record.

- The Lipschitz constant L = s(r) + μr bounds ‖ℓ'x + μw‖. The smoothness β = c + μ, for the curvature c of ℓ, bounds the
  Lipschitz constant of that gradient.
- The standard deviation φ of gradients within a client is bounded by `_gradient_std`.
- The heterogeneity v of the clients is bounded by `_heterogeneity`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from epsilond.simulators.problems.finite_problem import AT_ONCE, SAFE, FiniteProblem
from epsilond.simulators.problems.held_out import HeldOut
from epsilond.simulators.problems.losses import Loss
from epsilond.simulators.problems.minimum import Minimum, least_on_ball
from epsilond.simulators.problems.populations import Population
from epsilond.simulators.problems.problem import Constants, Floats, Objective, Records

ITERATIONS = 3e8
"""Array entries that the search for the minimiser may read."""


@dataclass(frozen=True, kw_only=True)
class LinearModelProblem(FiniteProblem):
    """A problem with linear predictions. Runs start at the centre of the ball.

    Attributes:
        loss: loss of a prediction and a target.
        mean: objective, the weighted mean loss with a ridge term.
    """

    loss: Loss
    mean: MeanLoss

    @classmethod
    def of(
        cls,
        loss: Loss,
        population: Population,
        *,
        samples_per_client: int,
        diameter: float,
        strong_convexity: float,
        objective: Objective,
        described: Mapping[str, float | int | str],
        held_out: HeldOut | None = None,
    ) -> LinearModelProblem:
        """Build a learning problem for linear models, with its constants and its minimiser.

        Args:
            loss: loss of a linear prediction.
            population: records of all clients.
            samples_per_client: records n of a client in one data set.
            diameter: diameter D of the domain.
            strong_convexity: weight μ of the ridge term ½‖w‖².
            objective: `population` for the mean loss in the population, `empirical` for that on a data set.
            described: entries of the problem's description, by name.
            held_out: test records; None if there are none.

        Returns:
            The problem. Every client has the same number of records.
        """
        radius = 0.5 * diameter
        mean = MeanLoss(loss, *population.distinct(), strong_convexity)
        minimum = _minimum(mean, radius)
        return cls(
            loss=loss,
            population=population,
            mean=mean,
            samples_per_client=samples_per_client,
            radius=radius,
            strong_convexity=strong_convexity,
            objective=objective,
            constants=_constants(population, mean, minimum, radius),
            minimiser=minimum.model,
            described=described,
            held_out=held_out,
        )

    def of_population(self, population: Population) -> LinearModelProblem:
        """Return the problem with the same loss on other records or weights.

        Args:
            population: records of all clients, with their weights in the objective.

        Returns:
            A new problem, with its own constants and minimum. The held-out records are the same.
        """
        return LinearModelProblem.of(
            self.loss,
            population,
            samples_per_client=self.samples_per_client,
            diameter=2.0 * self.radius,
            strong_convexity=self.strong_convexity,
            objective=self.objective,
            described=self.described,
            held_out=self.held_out,
        )

    def mean_gradient(self, models: Floats, records: Records) -> Floats:
        """Return the mean gradient over K records of each model's loss, including the ridge term ½μ‖w‖².

        Args:
            models: linear models w, (…, d), for d coordinates.
            records: K records of each model, with features (…, K, d) and targets (…, K).

        Returns:
            Gradients, (…, d).
        """
        predictions = np.matmul(records.features, models[..., None])[..., 0]
        slopes = self.loss.slope(predictions, records.targets)
        sums = np.matmul(slopes[..., None, :], records.features)[..., 0, :]
        mean: Floats = sums / records.targets.shape[-1] + self.strong_convexity * models
        return mean

    def gradients(self, models: Floats, records: Records) -> Floats:
        """Return the gradient of one record for each model: models (…, d), records (…, d) → (…, d)."""
        slopes = self.loss.slope(np.sum(records.features * models, axis=-1), records.targets)
        return slopes[..., None] * records.features + self.strong_convexity * models


@dataclass(frozen=True)
class MeanLoss:
    """Objective F of a problem and its gradient: the weighted mean loss of distinct records, plus a ridge term.

    Records that several clients share are stored once. The ridge term is ½μ‖w‖².

    Attributes:
        loss: loss of a linear prediction and a target.
        features: features of n records, (n, d), for d features.
        targets: their targets, (n).
        weights: weight of each record's loss in F, (n).
        strong_convexity: weight μ of the ridge term.
    """

    loss: Loss
    features: Floats
    targets: Floats
    weights: Floats
    strong_convexity: float

    def values(self, models: Floats) -> Floats:
        """Return the objective (weighted mean loss plus ridge term) at each model of an array.

        The models are evaluated in chunks, which bounds the memory. Other models in the array do not change a value,
        not even by rounding.

        Args:
            models: models as vectors, (…, d), for d coordinates.

        Returns:
            Values, (…).
        """
        rows = models.reshape(-1, models.shape[-1])
        means = np.empty(len(rows))
        step = max(1, AT_ONCE // len(self.targets))
        for start in range(0, len(rows), step):
            chunk = rows[start : start + step]
            predictions = np.matmul(self.features, chunk[..., None])[..., 0]
            losses = self.loss.value(predictions, self.targets)
            # One product for each model, so that its rounding does not depend on the other models.
            # One product for each model, so that its rounding does not depend on the other models.
            weighted_means = np.matmul(losses[..., None, :], self.weights[:, None])
            means[start : start + step] = weighted_means[..., 0, 0]
        ridge: Floats = 0.5 * self.strong_convexity * np.sum(np.square(models), axis=-1)
        return means.reshape(models.shape[:-1]) + ridge

    def value(self, model: Floats) -> float:
        """Return the objective at one model."""
        return float(self.values(model))

    def gradient(self, model: Floats) -> Floats:
        """Return the gradient of the objective at one model."""
        slopes: Floats = self.weights * self.loss.slope(self.features @ model, self.targets)
        return slopes @ self.features + self.strong_convexity * model


def _constants(population: Population, mean: MeanLoss, minimum: Minimum, radius: float) -> Constants:
    """Return the constants of the problem that calibrators need, such as its Lipschitz constant, on a ball around 0.

    Args:
        population: records of all clients.
        mean: mean loss of all records.
        minimum: approximate minimum of this loss on the ball, with a bound on its error.
        radius: radius of the ball.

    Returns:
        The constants. `gradient_std`, `heterogeneity` and `initial_gap` include a factor `SAFE` for rounding.
    """
    loss, strong_convexity = mean.loss, mean.strong_convexity
    # Features have norm at most 1, so the size of a prediction on the ball is at most the radius.
    steepest = _float(loss.steepest(_array(radius), _array(loss.largest_target)))
    initial_value = mean.value(np.zeros(population.features.shape[-1]))
    return Constants(
        lipschitz=steepest + strong_convexity * radius,
        smoothness=loss.curvature + strong_convexity,
        strong_convexity=strong_convexity,
        diameter=2.0 * radius,
        gradient_std=_gradient_std(loss, population, radius),
        heterogeneity=_heterogeneity(loss, population, radius),
        optimum_norm=float(np.linalg.norm(minimum.model)),
        optimum_value=minimum.lower_bound,
        optimum_gap=minimum.gap,
        initial_gap=max(initial_value - minimum.lower_bound, 0.0) * SAFE,
    )


def _minimum(mean: MeanLoss, radius: float) -> Minimum:
    """Find an approximate minimum of the mean loss F on a ball around 0, with a proved bound on its error.

    The number of iterations is limited, so that the search reads at most about `ITERATIONS` array entries.

    Args:
        mean: the mean loss F and its gradient.
        radius: radius of the ball.

    Returns:
        A model in the ball, its value, and an upper bound on the difference from the least value.
    """
    loss = mean.loss
    largest_slope = loss.steepest(_array(radius), _array(loss.largest_target))
    loss_sizes = np.abs(loss.value(_array([-radius, 0.0, radius]), _array(loss.largest_target)))
    # Largest eigenvalue of the weighted second moments of the features.
    largest_eigenvalue = _float(_largest_eigenvalue(np.sqrt(mean.weights)[:, None] * mean.features))
    return least_on_ball(
        mean.value,
        mean.gradient,
        dimension=mean.features.shape[1],
        radius=radius,
        smoothness=loss.curvature * largest_eigenvalue * SAFE + mean.strong_convexity,
        # The search estimates its rounding errors from this bound on the loss and on the gradient times the radius.
        scale=float(np.max(loss_sizes)) + _float(largest_slope) * radius + mean.strong_convexity * radius * radius,
        iterations=math.ceil(ITERATIONS / mean.features.size),
    )


def _gradient_std(loss: Loss, population: Population, radius: float) -> float:
    """Return an upper bound on the standard deviation φ of the records' gradients within a client.

    The bound holds for all clients, and for all models in a ball of radius r. All records have the same gradient of the
    ridge term, and a variance is at most the second moment. Hence:

        φ² ≤ max over clients of mean_j (s_j(r‖x_j‖) ‖x_j‖)².

    Here x_j are the features of record j of the client, and s_j(t) is the largest slope of its loss at predictions up
    to t. For a linear loss, with gradients that do not depend on the model, φ² is the variance of the features.

    Args:
        loss: loss of a linear prediction.
        population: records of all clients.
        radius: radius r of the domain.

    Returns:
        The bound φ, in the unit of the loss over the unit of the model.
    """
    features, targets = population.features, population.targets
    if loss.curvature == 0.0:
        deviations = features - np.mean(features, axis=1, keepdims=True)
        squared = np.mean(np.sum(np.square(deviations), axis=-1), axis=1)
    else:
        norms = np.linalg.norm(features, axis=-1)
        largest_gradients = loss.steepest(radius * norms, targets) * norms
        squared = np.mean(np.square(largest_gradients), axis=1)
    return math.sqrt(float(np.max(squared))) * SAFE


def _heterogeneity(loss: Loss, population: Population, radius: float) -> float:
    """Return a bound on the heterogeneity v of the clients: how much their mean gradients differ from the mean of all.

    The heterogeneity v is the root mean square of ‖∇F_i − ∇F‖ over the clients i. Here F_i is the mean loss of a
    client's P records, and F the mean of all F_i. Records that all clients share cancel in this difference. So sums are
    over the records j that only client i has, with features x_j. The result is the smaller of two bounds, times the
    factor `SAFE` for rounding.

    1. A variance is at most the second moment: v² ≤ mean_i (Σ_j s_j(r‖x_j‖) ‖x_j‖)²/P². Here s_j(t) is the largest
       slope of the loss of record j at predictions up to t.

    2. v² ≤ mean_i (‖∇F_i(0) − ∇F(0)‖ + a_i r)², as the norm of ∇F_i − ∇F grows by at most a_i r on the ball. Here a_i =
       c max(‖S_i‖, ‖mean of all S_i‖), with the curvature c of the loss and S_i = (1/P) Σ_j x_j x_jᵀ. The Hessians of
       the sums that do not cancel are between 0 and c S_i, and 0 and c times the mean of all S_i.

    Args:
        loss: loss of a linear prediction.
        population: records of all clients.
        radius: radius r of the domain.

    Returns:
        The bound on v; 0 if all records are shared or there is one client.
    """
    if population.own == 0 or population.features.shape[0] == 1:
        return 0.0
    size = population.features.shape[1]
    # Only records that a single client has make clients differ.
    features = population.features[:, population.shared :]
    targets = population.targets[:, population.shared :]
    norms = np.linalg.norm(features, axis=-1)
    largest_gradients = np.sum(loss.steepest(radius * norms, targets) * norms, axis=1) / size
    deviations = _deviations_at_zero(loss, features, targets, size)
    if loss.curvature > 0.0:
        # Second bound: the growth of the deviation from the model 0 to the sphere.
        deviations = deviations + loss.curvature * radius * _eigenvalue_bounds(features) / size
    first_bound = float(np.mean(np.square(largest_gradients)))
    second_bound = float(np.mean(np.square(deviations)))
    return math.sqrt(min(first_bound, second_bound)) * SAFE


def _deviations_at_zero(loss: Loss, features: Floats, targets: Floats, size: int) -> Floats:
    """Return the distance of each client's mean gradient at the model 0 from the mean over all clients.

    The distances are ‖∇F_i(0) − ∇F(0)‖, where F_i is the mean loss of client i, and F the mean of all F_i. Records that
    all clients share cancel in the difference, so they are left out.

    Args:
        loss: loss of a linear prediction.
        features: features of the records that only one client has, (clients, records, d), for d features.
        targets: targets of these records, (clients, records).
        size: number P of all records of a client, over which its loss is averaged.

    Returns:
        One distance for each client, (clients,).
    """
    slopes = loss.slope(np.zeros_like(targets), targets)
    gradients = np.einsum("ij,ijk->ik", slopes, features) / size
    distances: Floats = np.linalg.norm(gradients - np.mean(gradients, axis=0), axis=-1)
    return distances


def _eigenvalue_bounds(features: Floats) -> Floats:
    """Return a bound on the largest eigenvalue of each client's matrix and of the mean of all these matrices.

    The matrix of a client is the sum of x xᵀ over the features x of its records. The bound is the larger of both
    eigenvalues.

    Args:
        features: features of the records, (clients, records, d), for d features.

    Returns:
        One bound for each client, (clients,).
    """
    clients, records, dimension = features.shape
    eigenvalue_of_mean = _largest_eigenvalue(features.reshape(clients * records, dimension)) / clients
    larger: Floats = np.maximum(_largest_eigenvalue(features), eigenvalue_of_mean)
    return larger


def _largest_eigenvalue(features: Floats) -> Floats:
    """Return the largest eigenvalue of the sum of x_j x_jᵀ over P records x_j: (…, P, d) → (…)."""
    largest: Floats = np.square(np.linalg.svd(features, compute_uv=False)[..., 0])
    return largest


def _array(values: float | list[float]) -> Floats:
    """Return numbers as an array of doubles, the type of the arguments of a loss."""
    return np.asarray(values, dtype=np.float64)


def _float(value: npt.NDArray[np.float64]) -> float:
    """Return an array of one number as a float."""
    return float(value)

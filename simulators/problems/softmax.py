"""Multinomial logistic regression: one row of weights for each class, and cross-entropy of their softmax.

Models are the C rows one after another, d = C · (features). With p the softmax of z = Wx and e_y the class's indicator,

- the gradient is (p − e_y)xᵀ + μW. ‖p − e_y‖² ≤ 2(1 − p_y)², and z_j − z_y ≤ √2‖W‖‖x‖ for every j, so that
  ‖p − e_y‖ ≤ s(r‖x‖), s(t) = √2/(1 + e^(−√2 t)/(C − 1)): with ‖x‖ ≤ 1, L = s(r) + μr.
- the Hessian is (diag p − ppᵀ) ⊗ xxᵀ + μ, and diag p − ppᵀ ≤ ½: β = ½ + μ.
- φ and v are bounded as in `linear_model`, with s for the largest slope and ½ for the curvature.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from epsilond.simulators.problems.finite_problem import AT_ONCE, SAFE, FiniteProblem
from epsilond.simulators.problems.held_out import HeldOut
from epsilond.simulators.problems.minimum import least_on_ball
from epsilond.simulators.problems.populations import Population
from epsilond.simulators.problems.problem import Constants, Floats, Objective, Records

CURVATURE = 0.5
"""Bound on the curvature of the loss in z."""
ITERATIONS = 6e8
"""Products that the search for the minimiser may take."""


@dataclass(frozen=True, kw_only=True)
class SoftmaxProblem(FiniteProblem):
    """A problem with `classes` classes; targets are 0, …, classes − 1. Runs start at the centre of the ball."""

    classes: int

    @classmethod
    def of(
        cls,
        population: Population,
        *,
        classes: int,
        samples_per_client: int,
        diameter: float,
        strong_convexity: float,
        objective: Objective,
        described: Mapping[str, float | int | str],
        held_out: HeldOut | None = None,
    ) -> SoftmaxProblem:
        """Build the problem, with its constants and its minimiser.

        Args:
            population: records of all clients.
            classes: number of classes C.
            samples_per_client: records n of a client in one data set.
            diameter: diameter D of the domain.
            strong_convexity: weight μ of ½‖w‖².
            objective: `population` or `empirical`.
            described: description of the problem for reports.
            held_out: test records, if any.
        """
        radius = 0.5 * diameter
        features, targets, weights = population.distinct()
        mean = MeanSoftmax(features, targets, weights, classes, strong_convexity)
        largest_eigenvalue = float(np.linalg.svd(np.sqrt(weights)[:, None] * features, compute_uv=False)[0]) ** 2
        minimum = least_on_ball(
            mean.value,
            mean.gradient,
            dimension=classes * features.shape[1],
            radius=radius,
            smoothness=CURVATURE * largest_eigenvalue * SAFE + strong_convexity,
            scale=math.log(classes) + 2.0 * math.sqrt(2.0) * radius + strong_convexity * radius * radius,
            iterations=math.ceil(ITERATIONS / (features.size * classes)),
        )
        centre = mean.value(np.zeros(classes * features.shape[1]))
        norms = np.linalg.norm(population.features, axis=-1)
        slopes = steepest(radius * norms, classes) * norms
        constants = Constants(
            lipschitz=float(steepest(np.asarray(radius), classes)) + strong_convexity * radius,
            smoothness=CURVATURE + strong_convexity,
            strong_convexity=strong_convexity,
            diameter=diameter,
            gradient_std=math.sqrt(float(np.max(np.mean(np.square(slopes), axis=1)))) * SAFE,
            heterogeneity=_heterogeneity(population, slopes, classes, radius),
            optimum_norm=float(np.linalg.norm(minimum.model)),
            optimum_value=minimum.lower_bound,
            optimum_gap=minimum.gap,
            initial_gap=max(centre - minimum.lower_bound, 0.0) * SAFE,
        )
        return cls(
            population=population,
            mean=mean,
            samples_per_client=samples_per_client,
            radius=radius,
            strong_convexity=strong_convexity,
            objective=objective,
            constants=constants,
            minimiser=minimum.model,
            described=described,
            held_out=held_out,
            classes=classes,
        )

    def of_population(self, population: Population) -> SoftmaxProblem:
        """Return the problem with the same loss on other records or weights."""
        return SoftmaxProblem.of(
            population,
            classes=self.classes,
            samples_per_client=self.samples_per_client,
            diameter=2.0 * self.radius,
            strong_convexity=self.strong_convexity,
            objective=self.objective,
            described=self.described,
            held_out=self.held_out,
        )

    @property
    def dimension(self) -> int:
        """Dimension d of a model, all rows together."""
        return self.classes * int(self.population.features.shape[-1])

    def mean_gradient(self, models: Floats, records: Records) -> Floats:
        """Return mean gradients: models (…, d), records (…, K, features) → (…, d)."""
        weights = _rows(models, self.classes)
        errors = errors_of(np.matmul(records.features, weights.swapaxes(-1, -2)), records.targets)
        sums = np.matmul(errors.swapaxes(-1, -2), records.features)
        mean: Floats = sums.reshape(*sums.shape[:-2], -1) / records.targets.shape[-1]
        return mean + self.strong_convexity * models

    def gradients(self, models: Floats, records: Records) -> Floats:
        """Return gradients of single records: models (…, d), records (…, features) → (…, d)."""
        weights = _rows(models, self.classes)
        errors = errors_of(np.sum(weights * records.features[..., None, :], axis=-1), records.targets)
        products = errors[..., :, None] * records.features[..., None, :]
        return np.asarray(products.reshape(*products.shape[:-2], -1) + self.strong_convexity * models)


@dataclass(frozen=True)
class MeanSoftmax:
    """Objective F of a problem and its gradient: the weighted mean loss of distinct records, plus a ridge term.

    Records that several clients share are stored once. The ridge term is ½μ‖w‖².
    """

    features: Floats
    """(n, number of features)."""
    targets: Floats
    """(n): classes, from 0."""
    weights: Floats
    """(n): weight of each record's loss in F."""
    classes: int
    strong_convexity: float
    """Weight μ of the ridge term."""

    def values(self, models: Floats) -> Floats:
        """Return F at models (…, d), as (…). Other models in the array do not change a value, not even by rounding."""
        rows = models.reshape(-1, models.shape[-1])
        means = np.empty(len(rows))
        step = max(1, AT_ONCE // (len(self.targets) * self.classes))
        own = self.targets.astype(np.int64)[None, :, None]
        for start in range(0, len(rows), step):
            chunk = _rows(rows[start : start + step], self.classes)
            outputs = np.matmul(self.features, chunk.swapaxes(-1, -2))
            losses = logsumexp(outputs, axis=-1) - np.take_along_axis(outputs, own, axis=-1)[..., 0]
            means[start : start + step] = np.matmul(losses[..., None, :], self.weights[:, None])[..., 0, 0]
        ridge: Floats = 0.5 * self.strong_convexity * np.sum(np.square(models), axis=-1)
        return means.reshape(models.shape[:-1]) + ridge

    def value(self, model: Floats) -> float:
        """Return F at one model."""
        return float(self.values(model))

    def gradient(self, model: Floats) -> Floats:
        """Return ∇F at one model."""
        errors = errors_of(self.features @ _rows(model, self.classes).T, self.targets) * self.weights[:, None]
        return np.asarray((errors.T @ self.features).reshape(-1) + self.strong_convexity * model)


def steepest(reach: Floats, classes: int) -> Floats:
    """Bound ‖p − e_y‖ if ‖W‖‖x‖ is at most `reach`."""
    bound: Floats = math.sqrt(2.0) / (1.0 + np.exp(-math.sqrt(2.0) * reach) / (classes - 1.0))
    return bound


def _rows(models: Floats, classes: int) -> Floats:
    return models.reshape(*models.shape[:-1], classes, -1)


def errors_of(outputs: Floats, targets: Floats) -> Floats:
    """Return p − e_y: outputs (…, C) and targets (…) → (…, C)."""
    exponentials = np.exp(outputs - np.max(outputs, axis=-1, keepdims=True))
    shares = exponentials / np.sum(exponentials, axis=-1, keepdims=True)
    errors: Floats = shares - (targets[..., None] == np.arange(outputs.shape[-1]))
    return errors


def _heterogeneity(population: Population, slopes: Floats, classes: int, radius: float) -> float:
    """Bound the heterogeneity v of the clients, the root mean square of ‖∇F_i − ∇F‖ over the clients i.

    F_i is the mean loss of a client's P records, and F the mean of all F_i. The result is the smaller of two bounds,
    times the factor `SAFE` for rounding:

    1. A mean of squares about the mean is at most that about 0: v² ≤ mean_i (Σ_j g_ij)²/P². The sum is over the
       records j that only client i has, because shared records cancel. g_ij bounds the norm of the gradient of j.
    2. From w = 0, the norm of ∇F_i − ∇F grows by at most a_i r: v² ≤ mean_i (‖∇F_i(0) − ∇F(0)‖ + a_i r)². Here
       a_i = ½ max(‖Σ_i‖, ‖mean of all Σ_i‖) for Σ_i = (1/P) Σ_j x_j x_jᵀ over all records of the client. The factor ½
       (`CURVATURE`) bounds the second derivative of the loss by the outputs.

    Args:
        population: records of all clients.
        slopes: the bounds g_ij for all records, (clients, P).
        classes: number of classes.
        radius: radius r of the domain.
    """
    if population.own == 0 or population.features.shape[0] == 1:
        return 0.0
    clients, size, _ = population.features.shape
    largest_gradients = np.sum(slopes[:, population.shared :], axis=1) / size
    errors = errors_of(np.zeros((clients, size, classes)), population.targets)
    gradients_at_zero = np.einsum("ijc,ijk->ick", errors, population.features).reshape(clients, -1) / size
    eigenvalue_of_all = (
        np.linalg.svd(population.features.reshape(clients * size, -1), compute_uv=False)[0] ** 2 / clients
    )
    eigenvalues = np.linalg.svd(population.features, compute_uv=False)[..., 0] ** 2
    deviations = np.linalg.norm(gradients_at_zero - np.mean(gradients_at_zero, axis=0), axis=-1)
    deviations = deviations + CURVATURE * radius * np.maximum(eigenvalues, eigenvalue_of_all) / size
    first_bound = float(np.mean(np.square(largest_gradients)))
    second_bound = float(np.mean(np.square(deviations)))
    return math.sqrt(min(first_bound, second_bound)) * SAFE

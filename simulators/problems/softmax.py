"""Multinomial logistic regression: one row of weights for each class, and cross-entropy of their softmax.

A model W has C rows, one for each class, which are stored one after another: d = C · (number of features). The outputs
for a record x are z = Wx. Let p be their softmax, y the record's class, e_y its indicator, and μ the weight of the
ridge term ½‖W‖². Features have norm at most 1, and the domain is a ball of radius r. Then

- the gradient is (p − e_y)xᵀ + μW, of norm at most L = `steepest(r)` + μr;
- the Hessian is (diag p − ppᵀ) ⊗ xxᵀ + μI, and diag p − ppᵀ is at most ½, so that the smoothness is ½ + μ;
- the standard deviation of the gradient and the heterogeneity are bounded as in `linear_model`, with `steepest` for the
  largest slope and ½ for the curvature.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from epsilond.simulators.problems.finite_problem import SAFE, FiniteProblem
from epsilond.simulators.problems.held_out import HeldOut
from epsilond.simulators.problems.mean_softmax import MeanSoftmax, errors_of, rows_of, steepest
from epsilond.simulators.problems.minimum import Minimum, least_on_ball
from epsilond.simulators.problems.populations import Population
from epsilond.simulators.problems.problem import Constants, Floats, Objective, Records

CURVATURE = 0.5
"""Bound on the curvature of the loss in z."""
PRODUCTS = 6e8
"""Number of products that the search for the minimiser may compute; they bound its iterations."""


@dataclass(frozen=True, kw_only=True)
class SoftmaxProblem(FiniteProblem):
    """A problem of softmax regression: the mean cross-entropy of softmax(Wx), for weights W in a ball around 0.

    Attributes:
        classes: number C of classes. Targets are the numbers 0, …, C − 1 of classes.
    """

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
        """Build a problem of softmax regression, with its constants and its minimiser.

        Args:
            population: records of all clients.
            classes: number of classes C.
            samples_per_client: records n of a client in one data set.
            diameter: diameter D of the domain.
            strong_convexity: weight μ of the ridge term ½‖w‖².
            objective: `population` or `empirical`.
            described: description of the problem for reports, by name.
            held_out: test records; None if there are none.
        """
        radius = 0.5 * diameter
        mean = MeanSoftmax(*population.distinct(), classes, strong_convexity)
        minimum = _minimum(mean, radius)
        return cls(
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
            classes=classes,
        )

    def of_population(self, population: Population) -> SoftmaxProblem:
        """Build a problem with the same loss and held-out records, on other records or weights.

        Args:
            population: records of all clients, with their weights in the objective.

        Returns:
            The new problem, with its own constants and minimum.
        """
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
        """Number d of coordinates of a model: classes times features."""
        return self.classes * int(self.population.features.shape[-1])

    def mean_gradient(self, models: Floats, records: Records) -> Floats:
        """Return the mean gradient of the loss on K records at each model, with the gradient of the ridge term.

        Args:
            models: models as flat vectors, (…, d), for d coordinates; each is a matrix with one row of weights per
                class.
            records: features (…, K, features) and targets (…, K), which are class numbers.

        Returns:
            Gradients as flat vectors, (…, d).
        """
        weights = rows_of(models, self.classes)
        outputs = np.matmul(records.features, weights.swapaxes(-1, -2))
        errors = errors_of(outputs, records.targets)
        # The gradient for a record with features x is the outer product of its output errors and x.
        sums = np.matmul(errors.swapaxes(-1, -2), records.features)
        mean: Floats = sums.reshape(*sums.shape[:-2], -1) / records.targets.shape[-1]
        return mean + self.strong_convexity * models

    def gradients(self, models: Floats, records: Records) -> Floats:
        """Return the gradient of the loss on one record at each model, with the gradient of the ridge term.

        Args:
            models: models as flat vectors, (…, d), for d coordinates; each is a matrix with one row of weights per
                class.
            records: features (…, features) and targets (…), one record for each model.

        Returns:
            Gradients as flat vectors, (…, d).
        """
        weights = rows_of(models, self.classes)
        outputs = np.sum(weights * records.features[..., None, :], axis=-1)
        errors = errors_of(outputs, records.targets)
        # The gradient for a record with features x is the outer product of its output errors and x.
        products = errors[..., :, None] * records.features[..., None, :]
        gradients_of_loss = products.reshape(*products.shape[:-2], -1)
        return np.asarray(gradients_of_loss + self.strong_convexity * models)


def _minimum(mean: MeanSoftmax, radius: float) -> Minimum:
    """Find the minimum of the mean loss on a ball around 0, with a certified bound on its error.

    The number of iterations is limited, so that the search computes about `PRODUCTS` products of numbers at most.

    Args:
        mean: the mean loss and its gradient.
        radius: radius of the ball.

    Returns:
        A model in the ball, its value, and a bound on the difference of this value from the minimum.
    """
    # The Hessian is at most the curvature of the loss times the weighted second moment of the features. `SAFE` covers
    # rounding errors.
    weighted_features = np.sqrt(mean.weights)[:, None] * mean.features
    largest_eigenvalue = float(np.linalg.svd(weighted_features, compute_uv=False)[0]) ** 2
    smoothness = CURVATURE * largest_eigenvalue * SAFE + mean.strong_convexity

    # `scale` bounds the mean loss, and the norm of its gradient times the radius. Rounding errors are relative to it.
    ridge = mean.strong_convexity * radius * radius
    scale = math.log(mean.classes) + 2.0 * math.sqrt(2.0) * radius + ridge
    return least_on_ball(
        mean.value,
        mean.gradient,
        dimension=mean.classes * mean.features.shape[1],
        radius=radius,
        smoothness=smoothness,
        scale=scale,
        iterations=math.ceil(PRODUCTS / (mean.features.size * mean.classes)),
    )


def _constants(population: Population, mean: MeanSoftmax, minimum: Minimum, radius: float) -> Constants:
    """Compute the constants of the problem, such as its Lipschitz constant, for models in a ball around 0.

    Args:
        population: records of all clients.
        mean: mean loss of all records.
        minimum: its certified minimum on the ball.
        radius: radius of the ball.

    Returns:
        The constants, which hold for all models in the ball and all possible records.
    """
    classes, strong_convexity = mean.classes, mean.strong_convexity
    lipschitz = float(steepest(np.asarray(radius), classes)) + strong_convexity * radius

    # `slopes` bounds the norm of each record's gradient on the ball. A variance is at most the mean square.
    norms = np.linalg.norm(population.features, axis=-1)
    slopes = steepest(radius * norms, classes) * norms
    largest_mean_square = float(np.max(np.mean(np.square(slopes), axis=1)))

    initial_value = mean.value(np.zeros(classes * population.features.shape[-1]))
    return Constants(
        lipschitz=lipschitz,
        smoothness=CURVATURE + strong_convexity,
        strong_convexity=strong_convexity,
        diameter=2.0 * radius,
        gradient_std=math.sqrt(largest_mean_square) * SAFE,
        heterogeneity=_heterogeneity(population, slopes, classes, radius),
        optimum_norm=float(np.linalg.norm(minimum.model)),
        optimum_value=minimum.lower_bound,
        optimum_gap=minimum.gap,
        initial_gap=max(initial_value - minimum.lower_bound, 0.0) * SAFE,
    )


def _heterogeneity(population: Population, slopes: Floats, classes: int, radius: float) -> float:
    """Return an upper bound on the heterogeneity v of the clients, the root mean square of ‖∇F_i − ∇F‖ over clients i.

    F_i is the mean loss of a client's P records, and F the mean of all F_i. The result is the smaller of two bounds,
    times the factor `SAFE` for rounding:

        v² ≤ mean_i (Σ_j g_ij)²/P²,
        v² ≤ mean_i (‖∇F_i(0) − ∇F(0)‖ + a_i r)².

    The first one is the second moment, which is at least the variance. g_ij bounds the norm of the gradient of record j
    of client i. The sum is over the records that only client i has, because shared records cancel. In the second one,
    a_i r bounds how much ∇F_i − ∇F can grow from the model 0 to a model of norm r (`_growth`).

    Args:
        population: records of all clients.
        slopes: the bounds g_ij for all records, (clients, P).
        classes: number of classes.
        radius: radius r of the domain.

    Returns:
        The bound; 0 if all clients have the same records.
    """
    if population.own == 0 or population.features.shape[0] == 1:
        return 0.0

    size = population.features.shape[1]
    largest_gradients = np.sum(slopes[:, population.shared :], axis=1) / size
    first_bound = float(np.mean(np.square(largest_gradients)))

    deviations = _deviations_at_zero(population, classes) + _growth(population.features, radius)
    second_bound = float(np.mean(np.square(deviations)))
    return math.sqrt(min(first_bound, second_bound)) * SAFE


def _deviations_at_zero(population: Population, classes: int) -> Floats:
    """Return the distance ‖∇F_i(0) − ∇F(0)‖ of each client's mean gradient at the model 0 from that of all clients.

    F_i is the mean loss of client i, and F the mean of all F_i.

    Args:
        population: records of all clients, the same number for each.
        classes: number of classes, at least 2.

    Returns:
        One distance per client, (N,), for N clients.
    """
    clients, size, _dimension = population.features.shape
    outputs = np.zeros((clients, size, classes))  # of the model 0
    errors = errors_of(outputs, population.targets)
    gradients = np.einsum("ijc,ijk->ick", errors, population.features).reshape(clients, -1) / size
    distances: Floats = np.linalg.norm(gradients - np.mean(gradients, axis=0), axis=-1)
    return distances


def _growth(features: Floats, radius: float) -> Floats:
    """Return a bound a_i r on the growth of ‖∇F_i − ∇F‖ from the model 0 to a model of norm r, for each client i.

    F_i is the mean loss of client i, and F the mean of all F_i. With the mean S_i of x xᵀ over the features x of client
    i, the difference of the Hessians of F_i and F has a norm of at most:

        a_i = ½ max(‖S_i‖, ‖mean of all S_i‖).

    The factor ½ (`CURVATURE`) bounds the second derivative of the loss by the outputs.

    Args:
        features: features of the records, (clients, P, d), for P records of a client and d features.
        radius: norm r of the models.

    Returns:
        The bounds a_i r, (clients,).
    """
    clients, size, dimension = features.shape
    # The squared largest singular value of a client's features is P‖S_i‖.
    eigenvalues = np.linalg.svd(features, compute_uv=False)[..., 0] ** 2
    all_features = features.reshape(clients * size, dimension)
    eigenvalue_of_mean = np.linalg.svd(all_features, compute_uv=False)[0] ** 2 / clients
    growth: Floats = CURVATURE * radius * np.maximum(eigenvalues, eigenvalue_of_mean) / size
    return growth

"""Problems for personalised learning: linear models with records of known distributions, hence exact constants.

Client i has an optimum v_i. A record is (x, y) with y = ⟨x, v_i⟩ + noise, and the loss is a function of the residual
⟨x, w + θ_i⟩ − y. Here w is the shared part of the model, and θ_i the client's own part. Coordinate k of x has variance
k^−decay. The distributions of x and of the noise are the same for all clients.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import numpy as np

from epsilond.accountants.quantities import Quantity, request
from epsilond.simulators.problems.personalized_fields import (
    LinearFields,
)
from epsilond.simulators.problems.personalized_problem import (
    Numbers,
    PersonalizedConstants,
    PersonalizedProblem,
)
from epsilond.simulators.problems.problem import Floats, Objective, Records
from epsilond.simulators.seeds import population_generator

Features = Literal["sign", "gaussian"]

FEATURES = Quantity(
    description="distribution of the features. sign: random signs, so that the norm is bounded. gaussian: "
    "Gaussian, so that it is not"
)
THRESHOLD = Quantity(
    symbol="κ",
    gt=0,
    le=1e6,
    unit="target",
    description="absolute value of the residual beyond which the Huber loss is linear",
)
FEATURE_VECTORS = Quantity(
    ge=1, le=4096, description="number of different feature vectors, which are all equally likely"
)


@request
class PersonalizedLeastSquares(LinearFields):
    """Personalised least squares, with Gaussian noise in the targets.

    The loss is half the squared residual. Its gradient has no bound, so that clipping may change it. With Gaussian
    features the loss has no smoothness constant that holds for all records, so that no risk bound applies.
    """

    kind: Annotated[
        Literal["personalized-least-squares"], Quantity(description="name of the kind of learning problem")
    ] = "personalized-least-squares"
    features: Annotated[Features, FEATURES] = "sign"

    def build(self) -> PersonalizedProblem:
        """Build the problem."""
        return _LeastSquares(self)


@request
class PersonalizedHuber(LinearFields):
    """Personalised Huber regression, with target noise +τ or −τ and features from a finite list of scaled sign vectors.

    τ is `target_noise_std`, and the list has `feature_vectors` entries. The loss is quadratic up to the residual
    κ = `threshold` and linear beyond, so that a gradient has norm at most κ‖x‖. The expected loss is a finite sum, and
    is computed exactly.
    """

    kind: Annotated[Literal["personalized-huber"], Quantity(description="name of the kind of learning problem")] = (
        "personalized-huber"
    )
    threshold: Annotated[float, THRESHOLD] = 1.0
    feature_vectors: Annotated[int, FEATURE_VECTORS] = 64

    def build(self) -> PersonalizedProblem:
        """Build the problem."""
        return _Huber(self)


# The problems -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _LinearProblem:
    """Common part of the linear problems of personalised learning; subclasses add the records and the loss.

    The prediction of client i for features x is ⟨x, w + θ_i⟩, with shared part w and own part θ_i. The residual is the
    prediction minus the target, and the slope is the derivative of the loss by the residual. A row is one client in one
    round.

    Attributes:
        spec: the request, with the clients, their optimal models, and the distribution of records.
    """

    spec: LinearFields

    @property
    def clients(self) -> int:
        return self.spec.clients

    @property
    def dimension(self) -> int:
        return self.spec.dimension

    @property
    def objective(self) -> Objective:
        return "population"

    @functools.cached_property
    def optima(self) -> Floats:
        return self.spec.draw_optima()

    def scores(self, models: Floats) -> Mapping[str, Floats]:  # noqa: ARG002  nothing is held out
        """Return no scores: no records are held out, because the excess risk is exact."""
        return {}

    def facts(self) -> Mapping[str, float | int | str]:
        """Return the fields of the request and the root mean square norm of the features."""
        requested = {name: value for name, value in asdict(self.spec).items() if value is not None}
        return requested | {"feature_norm": math.sqrt(self.squared_norm)}

    @functools.cached_property
    def squared_norm(self) -> float:
        """Expected squared norm E‖x‖² of the features; if they are signs, ‖x‖² of every record."""
        return math.fsum(self.spec.variances)

    def _constants(self, *, lipschitz: float, smoothness: float, slope: float) -> PersonalizedConstants:
        """Return the constants that risk bounds depend on, from properties of one record's loss.

        A record's gradient is the slope of the loss (its derivative by the prediction) times the features x. At the
        optimum, slope and features are independent. The standard deviation of the gradient is therefore the root mean
        square of the slope times that of ‖x‖.

        Args:
            lipschitz: bound on the norm of one record's gradient.
            smoothness: joint smoothness of one record's loss in the shared and the own part.
            slope: root mean square of the loss's slope at the optimum.

        Returns:
            The constants, which hold for all models and all possible records.
        """
        gradient_std = slope * math.sqrt(self.squared_norm)
        return PersonalizedConstants(
            lipschitz=lipschitz,
            smoothness=smoothness,
            shared_gradient_std=gradient_std,
            local_gradient_std=gradient_std,
            shared_gradient_norm=0.0,
            optimum_norm=self.spec.optimum_norm,
            optimum_spread=self.spec.optimum_spread,
        )

    def _targets(self, features: Floats, clients: Numbers, noise: Floats) -> Floats:
        """Return targets of records: the predictions of the clients' optimal models, plus `target_noise_std` · noise.

        Args:
            features: features of m records in each row, (rows, m, d), for d coordinates. A row is one client in one
                round.
            clients: index of the client of each row, (rows).
            noise: noise of variance 1, (rows, m).

        Returns:
            Targets, (rows, m).
        """
        predicted: Floats = np.einsum("kmd,kd->km", features, self.optima[clients])
        return predicted + self.spec.target_noise_std * noise

    def slopes(self, residuals: Floats) -> Floats:
        """Return the derivative of the loss at each residual r; unless a subclass overrides it, the loss is r²/2."""
        return residuals

    def weighted_gradient(self, models: Floats, records: Records, weights: Floats) -> Floats:
        """Return the weighted sum of the gradients over the records of each participating client ("row").

        Args:
            models: model of each row, (rows, d), for d coordinates.
            records: m records of each row, as features (rows, m, d) and targets (rows, m).
            weights: weight of each record, (rows, m).

        Returns:
            The sums, (rows, d).
        """
        predictions: Floats = np.einsum("kmd,kd->km", records.features, models)
        slopes = self.slopes(predictions - records.targets)
        return np.asarray(np.einsum("kmd,km->kd", records.features, slopes * weights))


class _LeastSquares(_LinearProblem):
    """Personalised least squares with Gaussian target noise. A row is one client in one round.

    Attributes:
        spec: the request, with the distribution of the features: random signs or Gaussian numbers.
    """

    spec: PersonalizedLeastSquares

    @functools.cached_property
    def constants(self) -> PersonalizedConstants:
        """Constants that risk bounds depend on. The Lipschitz constant is infinite.

        With Gaussian features the smoothness is infinite, too.
        """
        # The loss depends on w + θ_i, so that its joint smoothness in (w, θ_i) is twice its smoothness in the sum.
        smoothness = math.inf
        if self.spec.features == "sign":
            smoothness = 2.0 * self.squared_norm
        return self._constants(lipschitz=math.inf, smoothness=smoothness, slope=self.spec.target_noise_std)

    def records(self, generator: np.random.Generator, clients: Numbers, batch_size: int) -> Records:
        """Draw fresh records with Gaussian target noise.

        The features are independent random signs or normal numbers, scaled to the variances of the coordinates. A
        target is the prediction of the client's optimal model plus noise.

        Args:
            generator: source of randomness.
            clients: index of the client of each row, (rows). A row is one client in one round.
            batch_size: number m of records of each row, at least 1.

        Returns:
            Features (rows, m, d), for d features, and targets (rows, m).
        """
        shape = (len(clients), batch_size, self.dimension)
        features = _signs(generator, shape) if self.spec.features == "sign" else generator.standard_normal(shape)
        features *= np.sqrt(self.spec.variances)
        noise = generator.standard_normal(shape[:2])
        return Records(features, self._targets(features, clients, noise))

    def excess(self, models: Floats, shares: Floats) -> Floats:
        """Return the weighted sum of the clients' excess risks, computed exactly.

        The excess risk of a client is half the expected squared difference between the predictions of its model and of
        its optimum.

        Args:
            models: models of the N clients, (…, N, d), for d coordinates.
            shares: weight of each client, (N).

        Returns:
            Weighted sums, (…).
        """
        differences = models - self.optima
        squared_predictions = (differences * differences) @ self.spec.variances
        return np.asarray(0.5 * np.einsum("...n,n->...", squared_predictions, shares))


class _Huber(_LinearProblem):
    """Personalised Huber regression with two values of the target noise and finitely many feature vectors.

    A row is one client in one round.

    Attributes:
        spec: the request, with the threshold κ of the loss and the number of feature vectors.
    """

    spec: PersonalizedHuber

    @functools.cached_property
    def constants(self) -> PersonalizedConstants:
        """Constants that risk bounds depend on. All are finite, because slopes and features are bounded."""
        # The loss depends on w + θ_i, so that its joint smoothness in (w, θ_i) is twice its smoothness in the sum. The
        # slope at the optimum is the noise ±τ, clipped to the threshold.
        return self._constants(
            lipschitz=self.spec.threshold * math.sqrt(self.squared_norm),
            smoothness=2.0 * self.squared_norm,
            slope=min(self.spec.target_noise_std, self.spec.threshold),
        )

    @functools.cached_property
    def vectors(self) -> Floats:
        """Feature vectors, each as likely as any other, (`feature_vectors`, d)."""
        generator = population_generator(self.spec.seed, 1)
        return _signs(generator, (self.spec.feature_vectors, self.dimension)) * np.sqrt(self.spec.variances)

    def records(self, generator: np.random.Generator, clients: Numbers, batch_size: int) -> Records:
        """Draw fresh records with target noise +τ or −τ, where τ is `target_noise_std`.

        Args:
            generator: source of randomness.
            clients: index of the client of each row, (rows). A row is one client in one round.
            batch_size: number m of records of each row.

        Returns:
            Features (rows, m, d), for d features, and targets (rows, m).
        """
        shape = (len(clients), batch_size)
        chosen_vectors = generator.integers(self.spec.feature_vectors, size=shape)
        features = self.vectors[chosen_vectors]
        noise = _signs(generator, shape)
        return Records(features, self._targets(features, clients, noise))

    def slopes(self, residuals: Floats) -> Floats:
        """Return the derivative of the Huber loss by the prediction: the residual, clipped to the threshold.

        Args:
            residuals: predictions minus targets.
        """
        return np.clip(residuals, -self.spec.threshold, self.spec.threshold)

    def losses(self, residuals: Floats) -> Floats:
        """Return the Huber loss of residuals r: r²/2 for |r| ≤ κ, and κ|r| − κ²/2 beyond the threshold κ.

        Args:
            residuals: predictions minus targets, any shape.
        """
        magnitudes = np.abs(residuals)
        clipped = np.minimum(magnitudes, self.spec.threshold)
        return np.asarray(clipped * (magnitudes - 0.5 * clipped))

    def excess(self, models: Floats, shares: Floats) -> Floats:
        """Return the weighted sum of the clients' excess risks, computed exactly.

        The expected loss of a client is the mean over all feature vectors and over both values of the noise, ±τ. At the
        optimum the residual is the noise, so that the loss of every record is the Huber loss of τ.

        Args:
            models: models of the N clients, (…, N, d), for d coordinates.
            shares: weight of each client, (N).

        Returns:
            Weighted sums, (…); negative results of rounding are set to 0.
        """
        errors = (models - self.optima) @ self.vectors.T  # (…, N, feature vectors): prediction minus optimal prediction
        noise = self.spec.target_noise_std
        mean_losses = 0.5 * (self.losses(errors + noise) + self.losses(errors - noise))
        least_loss = self.losses(np.array(noise))
        excesses = mean_losses - least_loss
        weighted: Floats = np.einsum("...n,n->...", excesses.mean(axis=-1), shares)
        return np.maximum(weighted, 0.0)


def _signs(generator: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Draw independent random signs ±1.

    Args:
        generator: source of randomness.
        shape: shape of the result.
    """
    bits = generator.integers(0, 2, size=shape, dtype=np.int8)
    return np.asarray(bits * 2.0 - 1.0, dtype=np.float64)

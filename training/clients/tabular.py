"""Clients that hold features and targets, with losses of linear predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.clipping import clip
from epsilond.training.arrays import Floats, Indices, as_floats
from epsilond.training.clients.batches import Batch, GradientStatistics
from epsilond.training.clients.clipping import measure_norms, relative_rounding_bound, safe_clipping_factors
from epsilond.training.clients.losses import LOSSES, VectorLoss


@dataclass(frozen=True)
class TabularClients:
    """Records of N clients, one client after another, with a loss of a linear prediction.

    A record with features x and target y has the loss ℓ(Wx, y) + μ/2 ‖w‖². Here W is the model as a matrix
    (outputs, p), and w is the same model as a vector (d,).

    Attributes:
        features: features of all n records, of shape (n, p). Their norms are at most `feature_norm`, so that the
            constants of the losses hold for every record.
        targets: targets of all records, of shape (n,).
        starts: index of the first record of each client, and the number n of all records, of shape (N + 1,).
        loss: loss ℓ of a prediction and a target.
        feature_norm: upper bound on the ℓ2 norm of a record's features.
        strong_convexity: weight μ ≥ 0 of the ridge term.
    """

    features: Floats
    targets: Floats
    starts: Indices
    loss: VectorLoss
    feature_norm: float
    strong_convexity: float

    @property
    def sizes(self) -> Indices:
        """Number of records of each of the N clients, (N,)."""
        return np.diff(self.starts)

    @property
    def dimension(self) -> int:
        """Dimension of a model, which has one row of weights per output."""
        return self.loss.outputs * int(self.features.shape[1])

    @property
    def means_only(self) -> bool:
        """False, because the gradient of every record is available for clipping."""
        return False

    @property
    def smoothness(self) -> float:
        """Smoothness β of every record's loss, a Lipschitz constant of its gradient."""
        return self.loss.curvature * self.feature_norm**2 + self.strong_convexity

    def lipschitz(self, radius: float) -> float:
        """Return a Lipschitz constant L of every record's loss on a ball around 0; inf if there is none.

        Args:
            radius: radius of the ball of models, which may be infinite.

        Returns:
            The bound on the derivative of ℓ at predictions of these models, times the bound on the norm of the
            features, plus μ times the radius.
        """
        ridge_slope = 0.0
        if self.strong_convexity:  # 0 times an infinite radius would be NaN
            ridge_slope = self.strong_convexity * radius
        largest_prediction = radius * self.feature_norm
        return self.loss.steepest(largest_prediction) * self.feature_norm + ridge_slope

    def sums(self, models: Floats, batch: Batch, bounds: Floats) -> tuple[Floats, GradientStatistics]:
        """Return the sum of the clipped gradients of each client in a batch, and statistics of their norms.

        With the features x of a record, its prediction z = Wx and the slopes s = ∂ℓ/∂z, the gradient is s ⊗ x + μw. Its
        norm and the sums are computed from s and x, so that no gradient is stored. A gradient with NaN or infinite
        entries counts as zeros.

        Args:
            models: one model w (d,) for all clients, or one per client (M, d), for d coordinates.
            batch: records of M clients.
            bounds: clipping norm of each client, (M,).

        Returns:
            The sums, shape (M, d), and the statistics of the norms before clipping.
        """
        # Predictions z = Wx and slopes s = ∂ℓ/∂z of all records of the batch.
        rows = self.starts[batch.clients][:, None] + batch.places
        features = self.features[rows]
        targets = self.targets[rows]
        weights = np.reshape(models, (-1, self.loss.outputs, features.shape[-1]))
        predictions = np.matmul(features, np.swapaxes(weights, -1, -2))
        slopes = self.loss.slopes(predictions, targets)

        # Each gradient is multiplied by its clipping factor; padding and gradients that are not finite by 0.
        is_record = np.ones(rows.shape, dtype=np.bool_)
        if batch.counted is not None:
            is_record = batch.counted
        norms = self._gradient_norms(models, features, predictions, slopes)
        is_finite = np.isfinite(norms)
        clipping = safe_clipping_factors(np.where(is_finite, norms, 1.0), bounds[:, None], self.dimension)
        factors = np.where(is_finite, clipping, 0.0) * is_record.astype(np.float64)

        # Sum of s ⊗ x, as one product of matrices per client, plus the gradients μw of the ridge term.
        finite_slopes = np.where(is_finite[..., None], slopes, 0.0)
        scaled_slopes = finite_slopes * factors[..., None]
        sums = np.matmul(np.swapaxes(scaled_slopes, -1, -2), features).reshape(len(rows), -1)
        if self.strong_convexity:
            sums = sums + self.strong_convexity * np.sum(factors, axis=1)[:, None] * models

        # Entries that pad a batch are neither clipped nor reported as not finite.
        counted_norms = np.where(is_record & is_finite, norms, 0.0)
        all_bounds = np.broadcast_to(bounds[:, None], counted_norms.shape)
        return sums, measure_norms(counted_norms, all_bounds, is_finite | ~is_record)

    def _gradient_norms(self, models: Floats, features: Floats, predictions: Floats, slopes: Floats) -> Floats:
        """Compute the norms of the records' gradients s ⊗ x + μw, without the gradients themselves.

        The sum is:

            ‖s ⊗ x + μw‖² = ‖s‖²‖x‖² + 2μ ⟨s, Wx⟩ + μ²‖w‖².

        If μ > 0, terms of this sum may cancel. A bound on its rounding error is then added.

        Args:
            models: one model w (d,) for all clients, or one per client (M, d), for d coordinates.
            features: features x of each record, (M, K, p), for K records and p features.
            predictions: prediction Wx of each record, (M, K, outputs).
            slopes: derivative s of the loss by the prediction, of each record, (M, K, outputs).

        Returns:
            One number for each record, (M, K), below the norm at most by a relative error of a few roundings.
        """
        squared_loss_part = np.sum(np.square(slopes), axis=-1) * np.sum(np.square(features), axis=-1)
        if not self.strong_convexity:
            return np.asarray(np.sqrt(squared_loss_part))

        # With one model per client, its norm is the same for all records of the client.
        mu = self.strong_convexity
        squared_model = np.sum(np.square(models), axis=-1)
        if np.ndim(squared_model):
            squared_model = squared_model[..., None]
        cross_term = 2.0 * mu * np.sum(slopes * predictions, axis=-1)
        squared_norm = squared_loss_part + cross_term + mu * mu * squared_model

        # The terms that may cancel are at most (‖s‖‖x‖ + μ‖w‖)² together, and their rounding is relative to this.
        sum_of_norms = np.sqrt(squared_loss_part) + mu * np.sqrt(squared_model)
        error = relative_rounding_bound(self.dimension) * np.square(sum_of_norms)
        return np.asarray(np.sqrt(np.maximum(squared_norm, 0.0) + error))


def tabular(
    parts: Sequence[tuple[object, object]],
    *,
    loss: VectorLoss | str = "logistic",
    feature_norm: float = 1.0,
    strong_convexity: float = 0.0,
) -> TabularClients:
    """Build clients from tables of features and targets, with a loss of a linear prediction.

    Args:
        parts: for each client i a pair of features (n_i, p) and targets (n_i,), for n_i records and p features. A
            feature with a NaN or infinite value counts as 0.
        loss: logistic (targets ±1), least-squares or huber, or the result of a function of `epsilond.training`, such as
            softmax(classes).
        feature_norm: longer feature vectors are scaled down to this ℓ2 norm. Choose it without looking at the data.
        strong_convexity: weight μ ≥ 0 of the ridge term μ/2 ‖w‖², which is added to every record's loss.

    Returns:
        The clients. `smoothness` and `lipschitz` give constants of their losses.

    Example:
        >>> from epsilond.training import tabular
        >>> clients = tabular([([[3.0, 4.0], [0.0, 0.5]], [1, -1])], loss="logistic")
        >>> clients.dimension, clients.sizes.tolist(), clients.lipschitz(1.0), clients.smoothness
        (2, [2], 1.0, 0.25)

    Raises:
        InvalidInput: the shapes do not fit, the loss does not exist, a label is not valid for it, or `feature_norm` or
            `strong_convexity` is out of range.
    """
    chosen_loss = _choose_loss(loss)
    if not feature_norm > 0.0 or not np.isfinite(feature_norm):
        raise InvalidInput.at("/feature_norm", "is out of range", allowed="> 0, finite")
    if not 0.0 <= strong_convexity < np.inf:
        raise InvalidInput.at("/strong_convexity", "is out of range", allowed="≥ 0, finite")

    clients = _read_clients(parts)
    raw_features = np.concatenate([client.features for client in clients])
    finite_features = np.nan_to_num(raw_features, posinf=0.0, neginf=0.0)
    features = clip(finite_features, feature_norm, records=True).values
    targets = chosen_loss.read_targets(np.concatenate([client.targets for client in clients]))

    # The records of client i are the rows from starts[i] to starts[i + 1] − 1.
    starts = np.cumsum([0, *(len(client.targets) for client in clients)])
    return TabularClients(features, targets, starts, chosen_loss, feature_norm, strong_convexity)


def _choose_loss(loss: VectorLoss | str) -> VectorLoss:
    """Return the loss itself, or the built-in loss of this name.

    Args:
        loss: a loss, or the name of a built-in one.

    Returns:
        The loss; built-in losses have their default parameters.

    Raises:
        InvalidInput: there is no loss of this name.
    """
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise InvalidInput.at("/loss", "there is no such loss", allowed=", ".join(LOSSES))
    return LOSSES[loss]()


class _ClientTable(NamedTuple):
    """The records of one client as arrays of doubles.

    Attributes:
        features: features of n ≥ 1 records, (n, p), for p features.
        targets: their targets, (n,).
    """

    features: Floats
    targets: Floats


def _read_clients(parts: Sequence[object]) -> list[_ClientTable]:
    """Convert the features and targets of all clients to arrays of doubles.

    Args:
        parts: a pair of features and targets for each client.

    Returns:
        One table for each client, in the given order.

    Raises:
        InvalidInput: there is no client, a client has no valid pair, or clients have different numbers of features.
    """
    clients = [_read_client(index, part) for index, part in enumerate(parts)]
    numbers_of_features = {client.features.shape[1] for client in clients}
    if len(numbers_of_features) != 1:
        raise InvalidInput.at("/clients", "must all have as many features, and there must be one at least")
    return clients


def _read_client(index: int, part: object) -> _ClientTable:
    """Convert one client's features and targets to arrays of doubles, and check their shapes.

    Args:
        index: index of the client, which error messages name.
        part: pair of features and targets.

    Returns:
        The features, shape (n, p), for p features, and the targets, shape (n,), with n at least 1.

    Raises:
        InvalidInput: the part is no such pair, the shapes do not fit each other, or there is no record.
    """
    pointer = f"/clients/{index}"
    if not isinstance(part, Sequence) or len(part) != 2:
        raise InvalidInput.at(pointer, "must be a pair of features and targets")
    features, targets = (as_floats(array, pointer=pointer) for array in part)
    has_matching_shapes = features.ndim == 2 and targets.shape == features.shape[:1]
    if not has_matching_shapes or not len(targets):
        raise InvalidInput.at(pointer, "must be features (n, p) and targets (n), with one record at least")
    return _ClientTable(features, targets)

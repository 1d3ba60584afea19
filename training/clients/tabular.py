"""Clients that hold features and targets, and whose losses are of linear predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.clipping import clip
from epsilond.training.arrays import Floats, Indices, as_floats
from epsilond.training.clients.batches import Batch, Met
from epsilond.training.clients.clipping import met, rounding, scales
from epsilond.training.clients.losses import LOSSES, VectorLoss


@dataclass(frozen=True)
class TabularClients:
    """The records of all clients, one client's after another's.

    Features are scaled down to norm `feature_norm`, so that what is said of the losses holds for any record.
    """

    features: Floats
    targets: Floats
    starts: Indices
    """(N + 1,): where each client's records begin, and where the last's end."""
    loss: VectorLoss
    feature_norm: float
    strong_convexity: float

    @property
    def sizes(self) -> Indices:
        """(N,)."""
        return np.diff(self.starts)

    @property
    def dimension(self) -> int:
        """Of a model: a row for each output."""
        return self.loss.outputs * int(self.features.shape[1])

    @property
    def means_only(self) -> bool:
        """Every gradient is clipped here."""
        return False

    @property
    def smoothness(self) -> float:
        """β of every record's loss."""
        return self.loss.curvature * self.feature_norm**2 + self.strong_convexity

    def lipschitz(self, radius: float) -> float:
        """L of every record's loss on the ball of that radius around 0; inf if there is none."""
        ridge = self.strong_convexity * radius if self.strong_convexity else 0.0
        return self.loss.steepest(radius * self.feature_norm) * self.feature_norm + ridge

    def sums(self, models: Floats, batch: Batch, bounds: Floats) -> tuple[Floats, Met]:
        """See `Gradients`; no gradient is ever written out, only its norm and the sum."""
        rows = self.starts[batch.clients][:, None] + batch.places
        features, targets = self.features[rows], self.targets[rows]
        shaped = np.reshape(models, (-1, self.loss.outputs, features.shape[-1]))
        margins = np.matmul(features, np.swapaxes(shaped, -1, -2))
        slopes = self.loss.slopes(margins, targets)
        norms = self._norms(models, features, margins, slopes)
        counts = np.ones(rows.shape) if batch.counted is None else batch.counted.astype(np.float64)
        finite = np.isfinite(norms)
        kept = np.where(finite, scales(np.where(finite, norms, 1.0), bounds[:, None], self.dimension), 0.0) * counts
        slopes = np.where(finite[..., None], slopes, 0.0)
        summed = np.matmul(np.swapaxes(slopes * kept[..., None], -1, -2), features).reshape(len(rows), -1)
        if self.strong_convexity:
            summed = summed + self.strong_convexity * np.sum(kept, axis=1)[:, None] * models
        seen = counts > 0.0
        told = np.where(seen & finite, norms, 0.0)
        return summed, met(told, np.broadcast_to(bounds[:, None], told.shape), finite | ~seen)

    def _norms(self, models: Floats, features: Floats, margins: Floats, slopes: Floats) -> Floats:
        """Upper bounds on the norms of slopes ⊗ x + μw, above them by rounding alone."""
        steep = np.sum(np.square(slopes), axis=-1) * np.sum(np.square(features), axis=-1)
        if not self.strong_convexity:
            return np.asarray(np.sqrt(steep))
        mu, size = self.strong_convexity, np.sum(np.square(models), axis=-1)
        size = size[..., None] if np.ndim(size) else size
        squared = steep + 2.0 * mu * np.sum(slopes * margins, axis=-1) + mu * mu * size
        lost = rounding(self.dimension) * np.square(np.sqrt(steep) + mu * np.sqrt(size))
        return np.asarray(np.sqrt(np.maximum(squared, 0.0) + lost))


def tabular(
    parts: Sequence[tuple[object, object]],
    *,
    loss: VectorLoss | str = "logistic",
    feature_norm: float = 1.0,
    strong_convexity: float = 0.0,
) -> TabularClients:
    """Clients of (features (n_i, p), targets (n_i,)) each, whose loss is linear in the features.

    `loss` is logistic (targets ±1), least-squares, huber, or what a function of `epsilond.training` makes, as
    softmax(classes).
    Records longer than `feature_norm` are scaled down to it: choose it without looking at the data. `strong_convexity`
    μ adds μ/2 ‖w‖² to every record's loss. What is no number in a record counts as 0.

    Example:
        >>> from epsilond.training import tabular
        >>> clients = tabular([([[3.0, 4.0], [0.0, 0.5]], [1, -1])], loss="logistic")
        >>> clients.dimension, clients.sizes.tolist(), clients.lipschitz(1.0), clients.smoothness
        (2, [2], 1.0, 0.25)

    Raises:
        InvalidInput: shapes do not fit, there is no such loss, or a label is none of its.
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise InvalidInput.at("/loss", "there is no such loss", allowed=", ".join(LOSSES))
        loss = LOSSES[loss]()
    if not feature_norm > 0.0 or not np.isfinite(feature_norm):
        raise InvalidInput.at("/feature_norm", "is out of range", allowed="> 0, finite")
    if not 0.0 <= strong_convexity < np.inf:
        raise InvalidInput.at("/strong_convexity", "is out of range", allowed="≥ 0, finite")
    read = [_read_client(place, part) for place, part in enumerate(parts)]
    if not read or len({features.shape[1] for features, _ in read}) != 1:
        raise InvalidInput.at("/clients", "must all have as many features, and there must be one at least")
    features = np.nan_to_num(np.concatenate([one for one, _ in read]), posinf=0.0, neginf=0.0)
    features = clip(features, feature_norm, records=True).values
    targets = loss.read_targets(np.concatenate([one for _, one in read]))
    starts = np.cumsum([0, *(len(one) for _, one in read)])
    return TabularClients(features, targets, starts, loss, feature_norm, strong_convexity)


def _read_client(place: int, part: object) -> tuple[Floats, Floats]:
    if not isinstance(part, Sequence) or len(part) != 2:
        raise InvalidInput.at(f"/clients/{place}", "must be a pair of features and targets")
    features, targets = (as_floats(one, pointer=f"/clients/{place}") for one in part)
    if features.ndim != 2 or targets.shape != features.shape[:1] or not len(targets):
        raise InvalidInput.at(f"/clients/{place}", "must be features (n, p) and targets (n), with one record at least")
    return features, targets

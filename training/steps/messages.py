"""What clients do to their gradients before they send them: means of batches, norms, clipping, noise."""

from __future__ import annotations

import numpy as np

from epsilond.training.arrays import Bools, Floats

SMALLEST = 1e-300
"""Norms below it count as this, so that nothing is divided by 0."""


def norms_of(vectors: Floats) -> Floats:
    """ℓ2 norms of the rows: (…, d) → (…)."""
    return np.asarray(np.sqrt(np.sum(np.square(vectors), axis=-1)))


def shrinking(norms: Floats, bound: float | Floats) -> Floats:
    """What vectors of these norms are multiplied by to have norm at most `bound`."""
    return np.asarray(np.minimum(1.0, bound / np.maximum(norms, SMALLEST)))


def batch_mean(each: Floats, counted: Bools, batch_size: int) -> Floats:
    """Σ of those counted over K, also where other than K are: (…, n, d), (…, n) → (…, d).

    The divisor is no function of the draw: else the noise would not hide how many were drawn.
    """
    kept: Floats = np.sum(each * counted[..., None], axis=-2) / batch_size
    return kept


def with_noise(values: Floats, noise_std: float | Floats, normal: Floats) -> Floats:
    """Values plus N(0, σ²) per coordinate, from standard normal draws."""
    return values + noise_std * normal

"""Parts of a client's message: means of batches, norms, clipping and noise."""

from __future__ import annotations

import numpy as np

from epsilond.training.arrays import Bools, Floats

SMALLEST = 1e-300
"""Lower limit of norms in denominators, so that nothing is divided by 0."""


def norms_of(vectors: Floats) -> Floats:
    """Return the ℓ2 norms of the rows: (…, d) → (…)."""
    return np.asarray(np.sqrt(np.sum(np.square(vectors), axis=-1)))


def clipping_factors(norms: Floats, bound: float | Floats) -> Floats:
    """Return the factors min(1, bound/norm), which scale vectors down to a norm of at most `bound`.

    Args:
        norms: norms of the vectors.
        bound: largest norm, one for all vectors or one for each.

    Returns:
        The factors, in [0, 1], one for each norm. The factor of a zero vector is 1 if the bound is positive.
    """
    # A lower limit of the norms avoids a division by 0.
    ratios = bound / np.maximum(norms, SMALLEST)
    return np.asarray(np.minimum(1.0, ratios))


def batch_mean(gradients: Floats, counted: Bools, batch_size: int) -> Floats:
    """Return the sum of the gradients in a batch, divided by the planned batch size K.

    A random batch may have a different size. The divisor must not depend on that size, because one record changes the
    size, and the noise is calibrated for a fixed divisor.

    Args:
        gradients: gradients of all n records of a client, (…, n, d), for d coordinates.
        counted: whether each record is in the batch, (…, n).
        batch_size: planned number K of records in a batch.

    Returns:
        The quotient, (…, d).
    """
    mean: Floats = np.sum(gradients * counted[..., None], axis=-2) / batch_size
    return mean


def with_noise(values: Floats, noise_std: float | Floats, normal: Floats) -> Floats:
    """Add Gaussian noise of a given standard deviation to messages.

    Args:
        values: messages, (…, d), for d coordinates.
        noise_std: standard deviation of the noise in each coordinate, one for all or one for each message.
        normal: standard normal variables, (…, d).

    Returns:
        The noisy messages, shape (…, d).
    """
    return values + noise_std * normal

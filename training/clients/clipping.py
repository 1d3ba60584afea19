"""Clipping of gradients to a bound with all rounding errors; gradients with NaN or infinite entries become zeros."""

from __future__ import annotations

import numpy as np

from epsilond.mechanisms.clipping import clip
from epsilond.training.arrays import Bools, Floats
from epsilond.training.clients.batches import GradientStatistics
from epsilond.training.steps.messages import clipping_factors, norms_of

NOTICED = 1e-9
"""Relative excess over the bound that does not count as clipped, because rounding causes it."""


def rounding(dimension: int) -> float:
    """Return an upper bound on the relative rounding error of a norm or an inner product in double precision.

    The error of an inner product is relative to the sum of the products' absolute values. It is at most about d · 2^−53
    for d products. The bound is twice that for d + 16 products, a margin for the rounding errors of further operations.

    Args:
        dimension: number d of coordinates.

    Returns:
        (d + 16) · 2^−52.
    """
    return (dimension + 16) * 2.0**-52


def scales(norms: Floats, bounds: Floats, dimension: int) -> Floats:
    """Return factors that scale vectors down to their bounds; the bounds hold in spite of rounding.

    Args:
        norms: computed norms of the vectors.
        bounds: clipping norms; infinity leaves a vector unchanged.
        dimension: number of coordinates.

    Returns:
        The factors, in the shape of `norms`, between 0 and 1.
    """
    # The limits are lower than the bounds by the largest rounding error of a norm.
    limits = bounds * (1.0 - rounding(dimension))
    return np.where(np.isinf(limits), 1.0, clipping_factors(norms, limits))


def clip_rows(rows: Floats, bound: float) -> tuple[Floats, GradientStatistics]:
    """Scale each vector down to an ℓ2 norm of at most `bound`.

    Vectors with NaN or infinite entries become zeros.

    Args:
        rows: vectors, (K, d), for K vectors and d coordinates.
        bound: largest ℓ2 norm, above 0. If it is infinite, finite rows are unchanged.

    Returns:
        The clipped vectors, (K, d), and statistics of the norms before clipping.
    """
    # Without a bound, only rows that are not finite are replaced.
    if np.isinf(bound):
        finite: Bools = np.all(np.isfinite(rows), axis=-1)
        values = np.where(finite[:, None], rows, 0.0)
        return values, measure_norms(norms_of(values), np.asarray(bound), finite)
    clipped = clip(rows, bound, records=True)
    norms = np.nan_to_num(clipped.norms, posinf=np.inf)
    return clipped.values, measure_norms(norms, np.asarray(bound), ~clipped.unusable)


def measure_norms(norms: Floats, bounds: Floats, finite: Bools) -> GradientStatistics:
    """Count the vectors that exceed their bounds beyond rounding or are not finite, and find the largest norm.

    Args:
        norms: norms before clipping.
        bounds: clipping norms.
        finite: whether all entries of each vector are finite.

    Returns:
        The statistics of these vectors. They depend on the data without noise, so no guarantee covers them.
    """
    # An excess of 1e-9, relatively, is due to rounding.
    is_clipped = norms > bounds * (1.0 + NOTICED)
    return GradientStatistics(
        largest_norm=float(np.max(norms, initial=0.0)),
        clipped=int(np.sum(is_clipped)),
        not_finite=int(np.sum(~finite)),
    )

"""Clipping of gradients to a bound with all rounding errors; gradients with NaN or infinite entries become zeros."""

from __future__ import annotations

import numpy as np

from epsilond.mechanisms.clipping import clip
from epsilond.training.arrays import Bools, Floats
from epsilond.training.clients.batches import GradientStatistics
from epsilond.training.steps.messages import clipping_factors, norms_of

_ROUNDING_EXCESS = 1e-9
"""Relative excess over the bound that does not count as clipped, because rounding causes it."""


def relative_rounding_bound(dimension: int) -> float:
    """Return an upper bound on the relative rounding error of a norm or an inner product in double precision.

    The error of an inner product of d coordinates is at most about d · 2^−53 times the sum of the products' absolute
    values. The bound is twice this for d + 16 coordinates, which leaves a margin for a few further operations.

    Args:
        dimension: number d of coordinates.

    Returns:
        (d + 16) · 2^−52.
    """
    return (dimension + 16) * 2.0**-52


def safe_clipping_factors(norms: Floats, bounds: Floats, dimension: int) -> Floats:
    """Compute factors that scale vectors down to given norms, even if the computed norms have rounding errors.

    Args:
        norms: computed norms of the vectors.
        bounds: largest norms after scaling, of a shape that broadcasts to that of `norms`. Infinity leaves a vector
            unchanged.
        dimension: number of coordinates of a vector.

    Returns:
        The factors, in the shape of `norms`, between 0 and 1.
    """
    limits = bounds * (1.0 - relative_rounding_bound(dimension))
    return np.where(np.isinf(limits), 1.0, clipping_factors(norms, limits))


def clip_rows(rows: Floats, bound: float) -> tuple[Floats, GradientStatistics]:
    """Scale each vector down to an ℓ2 norm of at most `bound`.

    Vectors with NaN or infinite entries become zeros.

    Args:
        rows: vectors, (K, d), for K vectors and d coordinates.
        bound: largest ℓ2 norm, from 2^−256 to 2^256, or infinite. If it is infinite, finite vectors are unchanged.

    Returns:
        The clipped vectors, (K, d), and statistics of the norms before clipping.
    """
    if np.isinf(bound):
        finite: Bools = np.all(np.isfinite(rows), axis=-1)
        values = np.where(finite[:, None], rows, 0.0)
        return values, measure_norms(norms_of(values), np.asarray(bound), finite)
    clipped = clip(rows, bound, records=True)
    norms = np.nan_to_num(clipped.norms, posinf=np.inf)  # NaN is the norm of a vector that is not finite
    return clipped.values, measure_norms(norms, np.asarray(bound), ~clipped.unusable)


def measure_norms(norms: Floats, bounds: Floats, finite: Bools) -> GradientStatistics:
    """Count the vectors that are not finite or exceed their bounds by more than rounding, and find the largest norm.

    Args:
        norms: norms before clipping; 0 for vectors that are not finite.
        bounds: clipping norms.
        finite: whether all entries of each vector are finite.

    Returns:
        The statistics of these vectors. They depend on the data without noise, so no guarantee covers them.
    """
    is_clipped = norms > bounds * (1.0 + _ROUNDING_EXCESS)
    return GradientStatistics(
        largest_norm=float(np.max(norms, initial=0.0)),
        clipped=int(np.sum(is_clipped)),
        not_finite=int(np.sum(~finite)),
    )

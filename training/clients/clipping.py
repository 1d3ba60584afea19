"""Gradients that are no longer than a bound, whatever their client returned; one that is no number counts as zeros."""

from __future__ import annotations

import numpy as np

from epsilond.mechanisms.clipping import clip
from epsilond.training.arrays import Bools, Floats
from epsilond.training.clients.batches import Met
from epsilond.training.steps.messages import norms_of, shrinking

NOTICED = 1e-9
"""A gradient longer than the bound by no more than this, relative, does not count as clipped."""


def rounding(dimension: int) -> float:
    """By how much, relative, norms and products of so many coordinates may be off."""
    return (dimension + 16) * 2.0**-52


def scales(norms: Floats, bounds: Floats, dimension: int) -> Floats:
    """What to multiply vectors of these norms by, so that none exceeds its bound, every rounding error counted."""
    most = bounds * (1.0 - rounding(dimension))
    return np.where(np.isinf(most), 1.0, shrinking(norms, most))


def clipped_rows(rows: Floats, bound: float) -> tuple[Floats, Met]:
    """(K, d), each scaled down to norm `bound`, which may be infinite."""
    if np.isinf(bound):
        finite: Bools = np.all(np.isfinite(rows), axis=-1)
        kept = np.where(finite[:, None], rows, 0.0)
        return kept, met(norms_of(kept), np.asarray(bound), finite)
    found = clip(rows, bound, records=True)
    return found.values, met(np.nan_to_num(found.norms, posinf=np.inf), np.asarray(bound), ~found.unusable)


def met(norms: Floats, bounds: Floats, finite: Bools) -> Met:
    """What is told of norms against their bounds."""
    return Met(float(np.max(norms, initial=0.0)), int(np.sum(norms > bounds * (1.0 + NOTICED))), int(np.sum(~finite)))

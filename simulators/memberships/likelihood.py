"""Likelihood-ratio attacks (LiRA; Carlini et al. 2022): one canary's confidence against that of reference models.

An attacker who can train as the trainer does knows, for each canary, how models fit it that saw it and that did not.
Online: the log ratio of two normal densities. Offline: how unusual the fit is among models that did not see it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.simulators.audits.worlds import Floats

Bools = npt.NDArray[np.bool_]
LEAST_SPREAD = 1e-12


def online(confidence: Floats, references: Floats, members: Bools) -> Floats:
    """Scores (S, m) of targets from the references' confidence (K, m), whose canaries were in where `members` says.

    Means are each canary's own; the two variances are pooled over canaries, as is usual where references are few. A
    canary that every reference saw, or none, scores 0.
    """
    inside, outside = _means(references, members), _means(references, ~members)
    variances = _pooled(references, members, inside), _pooled(references, ~members, outside)
    scores = _log_density(confidence, inside, variances[0]) - _log_density(confidence, outside, variances[1])
    return np.asarray(np.where(np.isfinite(scores), scores, 0.0))


def offline(confidence: Floats, references: Floats, members: Bools) -> Floats:
    """How many standard deviations above the references that did not see it: (S, m)."""
    outside = _means(references, ~members)
    scores = (confidence - outside) / np.sqrt(_pooled(references, ~members, outside))
    return np.asarray(np.where(np.isfinite(scores), scores, 0.0))


def _means(references: Floats, chosen: Bools) -> Floats:
    """(m,): of those chosen, NaN where there is none."""
    counts = chosen.sum(axis=0)
    sums = np.where(chosen, references, 0.0).sum(axis=0)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def _pooled(references: Floats, chosen: Bools, means: Floats) -> float:
    """Mean square about the canaries' own means, with as many degrees of freedom as are left."""
    apart = np.where(chosen, references - np.where(np.isnan(means), 0.0, means), 0.0)
    freedom = chosen.sum() - np.isfinite(means).sum()
    return float(max(np.sum(np.square(apart)) / max(freedom, 1), LEAST_SPREAD))


def _log_density(values: Floats, means: Floats, variance: float) -> Floats:
    return np.asarray(-0.5 * np.square(values - means) / variance - 0.5 * np.log(variance))

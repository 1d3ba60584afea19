"""Likelihood-ratio attacks (LiRA; Carlini et al. 2022): a canary's confidence compared with that of reference models.

The attacker can train as the trainer does. For each canary, the references show how well models fit it with and without
training on it. Online attack: the log ratio of two normal densities. Offline attack: the deviation from models that
were not trained on the canary.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.simulators.audits.worlds import Floats

Bools = npt.NDArray[np.bool_]
LEAST_VARIANCE = 1e-12
"""Floor of pooled variances, so that nothing is divided by 0."""


def online(confidence: Floats, references: Floats, members: Bools) -> Floats:
    """Return the log ratio of the densities with and without each canary.

    The means are specific to each canary; both variances are pooled over the canaries, as is usual for few references.
    A canary that is in every reference, or in none, scores 0.

    Args:
        confidence: confidence of the targets, (S, m).
        references: confidence of the references, (K, m).
        members: which canaries are in which reference, (K, m).

    Returns:
        Scores, (S, m).
    """
    inside, outside = _means(references, members), _means(references, ~members)
    variances = _pooled_variance(references, members, inside), _pooled_variance(references, ~members, outside)
    scores = _log_density(confidence, inside, variances[0]) - _log_density(confidence, outside, variances[1])
    return np.asarray(np.where(np.isfinite(scores), scores, 0.0))


def offline(confidence: Floats, references: Floats, members: Bools) -> Floats:
    """Return the deviation from references without the canary, in standard deviations.

    Args:
        confidence: confidence of the targets, (S, m).
        references: confidence of the references, (K, m).
        members: which canaries are in which reference, (K, m).

    Returns:
        Scores, (S, m).
    """
    outside = _means(references, ~members)
    scores = (confidence - outside) / np.sqrt(_pooled_variance(references, ~members, outside))
    return np.asarray(np.where(np.isfinite(scores), scores, 0.0))


def _means(references: Floats, chosen: Bools) -> Floats:
    """Return the mean confidence of the chosen references for each canary, (m,); NaN if there is none."""
    counts = chosen.sum(axis=0)
    sums = np.where(chosen, references, 0.0).sum(axis=0)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def _pooled_variance(references: Floats, chosen: Bools, means: Floats) -> float:
    """Return the variance about the canaries' own means, pooled over the canaries."""
    deviations = np.where(chosen, references - np.where(np.isnan(means), 0.0, means), 0.0)
    degrees_of_freedom = chosen.sum() - np.isfinite(means).sum()
    return float(max(np.sum(np.square(deviations)) / max(degrees_of_freedom, 1), LEAST_VARIANCE))


def _log_density(values: Floats, means: Floats, variance: float) -> Floats:
    return np.asarray(-0.5 * np.square(values - means) / variance - 0.5 * np.log(variance))

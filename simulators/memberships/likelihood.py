"""Likelihood-ratio attacks (LiRA; Carlini et al. 2022): a canary's confidence compared with that of reference models.

A canary is a record or a client that may be in the training data. The attacker can train reference models as the
trainer does. For each canary, they show how well models fit it with and without training on it. The online attack
scores by the log ratio of two normal densities, and the offline attack by the deviation from models that were not
trained on the canary.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from epsilond.simulators.audits.worlds import Floats

Bools = npt.NDArray[np.bool_]
LEAST_VARIANCE = 1e-12
"""Floor of pooled variances, so that nothing is divided by 0."""


def score_online(confidence: Floats, references: Floats, members: Bools) -> Floats:
    """Return a score of the membership of each canary by the online likelihood-ratio attack (LiRA).

    A canary is a record that may be in the training data. A model's confidence says how well it fits a canary, for
    example the log odds of its label. The attacker trains reference models, each with a known subset of the canaries.
    The score is the log ratio of two normal densities of the target model's confidence: one fitted to references with
    the canary, and one to references without it (Carlini et al. 2022).

    Each canary has means of its own. Both variances are pooled over the canaries, as is usual for few references.

    Args:
        confidence: confidence of S target models in m canaries, (S, m).
        references: confidence of K reference models, (K, m).
        members: which canaries are in which reference, (K, m).

    Returns:
        Scores, (S, m); 0 for a canary that is in every reference, or in none.
    """
    mean_with = _means(references, members)
    mean_without = _means(references, ~members)
    variance_with = _pooled_variance(references, members, mean_with)
    variance_without = _pooled_variance(references, ~members, mean_without)
    log_density_with = _log_density(confidence, mean_with, variance_with)
    log_density_without = _log_density(confidence, mean_without, variance_without)
    scores = log_density_with - log_density_without  # NaN where a mean is missing
    return np.asarray(np.where(np.isfinite(scores), scores, 0.0))


def score_offline(confidence: Floats, references: Floats, members: Bools) -> Floats:
    """Return a score of the membership of each canary by the offline likelihood-ratio attack (LiRA).

    A canary is a record that may be in the training data. A model's confidence says how well it fits a canary, for
    example the log odds of its label. The score is the target model's confidence minus the mean over reference models
    that were trained without the canary, in standard deviations (Carlini et al. 2022).

    Args:
        confidence: confidence of S target models in m canaries, (S, m).
        references: confidence of K reference models, (K, m).
        members: which canaries are in which reference, (K, m).

    Returns:
        Scores, (S, m); 0 for a canary that is in every reference.
    """
    mean_without = _means(references, ~members)
    standard_deviation = np.sqrt(_pooled_variance(references, ~members, mean_without))
    scores = (confidence - mean_without) / standard_deviation
    return np.asarray(np.where(np.isfinite(scores), scores, 0.0))


def _means(references: Floats, chosen: Bools) -> Floats:
    """Return the mean of each column over its chosen entries.

    Args:
        references: confidence of K reference models in m canaries, (K, m).
        chosen: which references count for each canary, (K, m).

    Returns:
        The means, (m,); NaN for a canary without chosen references.
    """
    counts = chosen.sum(axis=0)
    sums = np.where(chosen, references, 0.0).sum(axis=0)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def _pooled_variance(references: Floats, chosen: Bools, means: Floats) -> float:
    """Return the variance of the chosen entries of a matrix about the means of their columns, pooled over the columns.

    The sum of the squared deviations is divided by the degrees of freedom: the number of entries minus the number of
    means.

    Args:
        references: confidence of K reference models in m canaries, (K, m).
        chosen: which references count for each canary, (K, m).
        means: mean over the references that count, (m,); NaN if there are none.

    Returns:
        The variance, at least `LEAST_VARIANCE`.
    """
    # A column without a mean has no chosen entries, so its deviations are 0.
    known_means = np.where(np.isnan(means), 0.0, means)
    deviations = np.where(chosen, references - known_means, 0.0)
    degrees_of_freedom = chosen.sum() - np.isfinite(means).sum()
    variance = np.sum(np.square(deviations)) / max(degrees_of_freedom, 1)
    return float(max(variance, LEAST_VARIANCE))


def _log_density(values: Floats, means: Floats, variance: float) -> Floats:
    """Return the logarithm of a normal density at some values, up to a constant.

    Args:
        values: points at which the density is evaluated, any shape.
        means: mean of the distribution at each point.
        variance: variance of the distribution, above 0.
    """
    return np.asarray(-0.5 * np.square(values - means) / variance - 0.5 * np.log(variance))

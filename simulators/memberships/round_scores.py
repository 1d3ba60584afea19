"""Scores of canaries from the noisy sum of one round: log likelihood ratios with and without each canary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from epsilond.simulators.problems.problem import Floats


def round_scores(
    total: Floats, updates: Floats, canaries: Floats, *, rate: float, noise_std: float, has_own_directions: bool
) -> Floats:
    """Return the log likelihood ratio of one round's noisy sum, with against without each canary.

    A member, that is, a client or a record, takes part in a round with probability q. A canary is a member that an
    attacker tries to detect. It is in the data with probability ½, and so takes part with probability q/2. The sum is
    treated as normal. The scores are therefore approximate, but every score gives a valid attack.

    Args:
        total: the noisy sums, (S, d), for S runs and d coordinates.
        updates: contributions of the ordinary members, (S, B, d), for B members.
        canaries: contributions of the canaries, as if all were present, (S, m, d), for m canaries.
        rate: sampling rate q.
        noise_std: standard deviation of the noise per coordinate.
        has_own_directions: whether every canary contributes along a direction of its own, orthogonal to the others.

    Returns:
        The log likelihood ratios, (S, m).
    """
    # The expectation before it is known who takes part, and which canaries are in the data.
    canary_rate = 0.5 * rate
    expected = rate * updates.sum(axis=1) + canary_rate * canaries.sum(axis=1)
    # Variances per coordinate are means over the coordinates. Canaries with directions of their own do not change each
    # other's scores, so they add no variance.
    ordinary_variance = rate * (1.0 - rate) * np.sum(np.square(updates), axis=(1, 2)) / total.shape[1]
    canary_squares = np.zeros(len(canaries)) if has_own_directions else _mean_squares(canaries)
    canary_variance = canary_rate * (1.0 - canary_rate) * canary_squares
    variance = np.square(noise_std) + ordinary_variance + canary_variance
    return _log_ratio(total - expected, canaries, rate, variance)


def _mean_squares(canaries: Floats) -> Floats:
    """Return the mean over the coordinates of the summed squares of all canaries' contributions.

    The variance per coordinate that the random participation of the canaries causes is proportional to it.

    Args:
        canaries: contributions of the m canaries in S runs, (S, m, d), for d coordinates.

    Returns:
        A number for each run, (S,).
    """
    return np.asarray(np.sum(np.square(canaries), axis=(1, 2)) / canaries.shape[-1])


def _log_ratio(rest: Floats, canaries: Floats, rate: float, variance: Floats) -> Floats:
    """Return the log likelihood ratio of one round's sum, with against without each canary, for normal sums.

    A canary is a member that an attacker tries to detect. If it is in the data, it takes part with probability q, so
    the density with it is a mixture.

    Args:
        rest: the noisy sums minus their expectations, (S, d), for S runs and d coordinates. The expectation of every
            canary's contribution is q/2 times the contribution.
        canaries: contributions of the canaries, as if all were present, (S, m, d), for m canaries.
        rate: sampling rate q.
        variance: variance of the sums per coordinate, (S,).

    Returns:
        The log likelihood ratios, (S, m).
    """
    squares = np.sum(np.square(canaries), axis=-1)
    # For each canary, its own expectation of q/2 times the contribution is added back.
    product = np.einsum("sd,smd->sm", rest, canaries) + 0.5 * rate * squares
    # The log ratio of the normal densities if the canary takes part and if it does not.
    present = (product - 0.5 * squares) / variance[:, None]
    if rate >= 1.0:
        return np.asarray(present)
    return np.asarray(np.logaddexp(np.log(rate) + present, np.log1p(-rate)))

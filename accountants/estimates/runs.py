"""Start values of searches for a parameter of a run of Gaussian steps on sampled batches, from the compiled kernel.

If the kernel has no answer, the noise is estimated from the number of rounds that include a record, and the other
functions return their first estimate. A certified search follows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.composition.run_search import search_run
from epsilond.accountants.estimates.noise import central_log_delta
from epsilond.accountants.numerics.root_search import bisect_reals

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation, Sampling
    from epsilond.accountants.target import Target

_SHORT = 2e-6
"""Relative decrease of the noise below its estimate.

The first trial of a search then misses the target by little, so the smallest noise that meets it is just above.
"""
_MOST_INCLUDED = 256
"""Limit on the number of inclusions of a record that are considered."""
_DOUBLINGS = 10
"""Limit on the doublings of the noise from its estimate by the central limit theorem."""
_HALVINGS = 20
"""Number of bisections of log noise between two doublings. The last bracket is narrower than 1e-6."""


def nearer_noise(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, rate: float, rounds: int
) -> float:
    """Estimate the noise multiplier that meets a target, slightly below the smallest one.

    It comes from the compiled kernel, or otherwise from an estimate of δ by the number of rounds that include a record.
    A certified search starts from the result.

    Args:
        target: ε and δ.
        guess: first estimate, in clipping norms.
        sampling: sampling of the batches.
        relation: the neighbouring relation.
        rate: inclusion probability of a record, in (0, 1].
        rounds: number of rounds, at least 1.

    Returns:
        The standard deviation of the noise in clipping norms. It is `guess` if neither method serves the sampling
        scheme.
    """
    # The kernel solves for the shift, the reciprocal of the noise.
    shift = search_run(
        "shift",
        target,
        sampling=sampling,
        relation=relation,
        rate=rate,
        noise=guess,
        rounds=rounds,
        guess=1.0 / guess,
    )
    if shift is not None:
        return (1.0 - _SHORT) / shift

    if rate == 1.0 or sampling not in ("poisson", "without-replacement"):
        return guess
    return _noise_by_inclusions(target, guess, sampling=sampling, rate=rate, rounds=rounds)


def _noise_by_inclusions(target: Target, guess: float, *, sampling: Sampling, rate: float, rounds: int) -> float:
    """Estimate the noise multiplier that meets a target, slightly below the smallest one, for rare inclusions.

    Batches are assumed to include a record rarely. δ is estimated by `likely_log_delta_of_inclusions`, and decreases
    with the noise.

    Args:
        target: ε and δ.
        guess: first estimate in clipping norms, which is doubled until the target is met, and then bisected.
        sampling: Poisson batches, or batches without replacement.
        rate: inclusion probability of a record, in (0, 1).
        rounds: number of rounds, at least 1.

    Returns:
        The standard deviation of the noise in clipping norms. It is `guess` if δ is not above the target at `guess`,
        nor at twice that noise.
    """
    # Replacing a record moves the mean by two clipping norms. Adding or removing it moves the mean by one.
    distance = 2.0 if sampling == "without-replacement" else 1.0

    def misses(log_noise: float) -> bool:
        """Return whether the estimated δ is above the target at a noise with this natural logarithm."""
        shift = distance * math.exp(-log_noise)
        log_delta = likely_log_delta_of_inclusions(target.epsilon, shift=shift, rate=rate, rounds=rounds)
        return log_delta > target.log_delta

    # Double the noise while twice the noise still misses the target.
    log_two = math.log(2.0)
    first = low = math.log(guess)
    for _ in range(_DOUBLINGS):
        if not misses(low + log_two):
            break
        low += log_two
    if low == first and not misses(low):
        return guess

    log_noise, _ = bisect_reals(misses, low, low + log_two, steps=_HALVINGS)
    return math.exp(log_noise)


def likely_log_delta_of_inclusions(epsilon: float, *, shift: float, rate: float, rounds: int) -> float:
    """Estimate log δ of a run with batches that rarely include a record.

    If k rounds include it, the privacy loss is about that of a Gaussian mechanism with μ = √k · shift, minus
    k log(1/q). This loss has the δ of the mechanism at ε + k log(1/q). The estimate is the largest over k of this δ
    times the probability of k inclusions.

    Args:
        epsilon: ε, in nats.
        shift: distance of the two means in a round that includes the record, in standard deviations of the noise.
        rate: inclusion probability q in (0, 1).
        rounds: number of rounds, at least 1.

    Returns:
        The natural logarithm of δ, without error bounds. The search over k ends at the first decrease.
    """
    largest = -math.inf
    log_probability = rounds * math.log1p(-rate)  # of no inclusion
    for inclusions in range(1, min(rounds, _MOST_INCLUDED) + 1):
        # The binomial probabilities of k and k − 1 inclusions have the ratio (T + 1 − k)/k · q/(1 − q).
        log_probability += math.log((rounds + 1.0 - inclusions) / inclusions) + math.log(rate) - math.log1p(-rate)
        epsilon_if_included = epsilon - inclusions * math.log(rate)
        log_delta_if_included = central_log_delta(epsilon_if_included, shift * math.sqrt(inclusions))
        log_delta = log_probability + log_delta_if_included
        if log_delta < largest:
            break
        largest = log_delta
    return largest


def nearer_rounds(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, rate: float, noise: float
) -> float:
    """Estimate the number of rounds at which δ reaches the target's, by the compiled kernel.

    A certified search starts from the result.

    Args:
        target: ε and δ.
        guess: first estimate, a number of rounds.
        sampling: sampling of the batches.
        relation: the neighbouring relation.
        rate: inclusion probability of a record, in (0, 1].
        noise: noise multiplier, the standard deviation of the noise in clipping norms.

    Returns:
        The number, not rounded. It is `guess` if the search has no result.
    """
    # The search ignores its argument `rounds`, the unknown.
    rounds = search_run(
        "count", target, sampling=sampling, relation=relation, rate=rate, noise=noise, rounds=1, guess=max(guess, 1.0)
    )
    return guess if rounds is None else rounds


def nearer_rate(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, noise: float, rounds: int
) -> float:
    """Estimate the sampling rate that meets a target, slightly above the largest one, by the compiled kernel.

    A certified search starts from the result.

    Args:
        target: ε and δ.
        guess: first estimate, a probability.
        sampling: sampling of the batches.
        relation: the neighbouring relation.
        noise: noise multiplier, the standard deviation of the noise in clipping norms.
        rounds: number of rounds, at least 1.

    Returns:
        The inclusion probability of a record, at most 1. It is `guess` if the search has no result.
    """
    any_rate = 0.5  # the search ignores its argument `rate`, the unknown
    rate = search_run(
        "rate",
        target,
        sampling=sampling,
        relation=relation,
        rate=any_rate,
        noise=noise,
        rounds=rounds,
        guess=min(guess, 0.5),
    )
    if rate is None:
        return guess
    # Slightly above the largest rate, so that the first trial of a search misses the target.
    return min(rate * (1.0 + _SHORT), 1.0)

"""Start values of searches for a parameter of a run of Gaussian steps on sampled batches, from the compiled kernel.

Each function returns its first estimate if the kernel has no better one. A certified search follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.composition.run_search import searched

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation, Sampling
    from epsilond.accountants.target import Target

_SHORT = 2e-6
"""Relative decrease of the noise below its estimate.

The first trial misses the target, to show that the next is least.
"""


def nearer_noise(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, rate: float, rounds: int
) -> float:
    """Return a noise multiplier slightly below the smallest that meets the target.

    Args:
        target: ε and δ.
        guess: first estimate.
        sampling: sampling of the batches.
        relation: the neighbouring relation.
        rate: inclusion probability of a record.
        rounds: number of rounds.
    """
    shift = searched(
        "shift",
        target,
        sampling=sampling,
        relation=relation,
        rate=rate,
        noise=guess,
        rounds=rounds,
        guess=1.0 / guess,
    )
    return guess if shift is None else (1.0 - _SHORT) / shift


def nearer_rounds(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, rate: float, noise: float
) -> float:
    """Return the number of rounds from which on the target is missed.

    Args:
        target: ε and δ.
        guess: first estimate.
        sampling: sampling of the batches.
        relation: the neighbouring relation.
        rate: inclusion probability of a record.
        noise: noise multiplier.
    """
    rounds = searched(
        "count", target, sampling=sampling, relation=relation, rate=rate, noise=noise, rounds=1, guess=max(guess, 1.0)
    )
    return guess if rounds is None else rounds


def nearer_rate(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, noise: float, rounds: int
) -> float:
    """Return a rate slightly above the largest that meets the target.

    Args:
        target: ε and δ.
        guess: first estimate.
        sampling: sampling of the batches.
        relation: the neighbouring relation.
        noise: noise multiplier.
        rounds: number of rounds.
    """
    rate = searched(
        "rate",
        target,
        sampling=sampling,
        relation=relation,
        rate=0.5,
        noise=noise,
        rounds=rounds,
        guess=min(guess, 0.5),
    )
    return guess if rate is None else min(rate * (1.0 + _SHORT), 1.0)

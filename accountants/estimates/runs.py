"""Where searches for a number of a run of Gaussian steps on sampled batches start, as near as the kernel can tell.

Each function returns its guess where the compiled kernel has nothing nearer. A certified search follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilond.accountants.composition.run_search import searched

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation, Sampling
    from epsilond.accountants.target import Target

_SHORT = 2e-6
"""Share of the noise less than is likely: the first trial misses the target, so that it shows the next to be least."""


def nearer_noise(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, rate: float, rounds: int
) -> float:
    """A noise multiplier a hair below the least that meets the target."""
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
    """The number of rounds from which on the target is missed."""
    rounds = searched(
        "count", target, sampling=sampling, relation=relation, rate=rate, noise=noise, rounds=1, guess=max(guess, 1.0)
    )
    return guess if rounds is None else rounds


def nearer_rate(
    target: Target, guess: float, *, sampling: Sampling, relation: Relation, noise: float, rounds: int
) -> float:
    """A rate a hair above the largest that meets the target."""
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

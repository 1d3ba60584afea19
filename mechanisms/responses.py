"""Randomized response with exactly its distribution: the true category, or any of the other categories."""

from __future__ import annotations

import functools
import math
from decimal import Decimal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.flips import uniform_integers
from epsilond.mechanisms.jumps import IntegerBounds, Inversion, decay
from epsilond.mechanisms.randomness import Integers, RandomSource, secure

MOST_CATEGORIES = 1 << 31
"""Largest number of categories, far below the 2^62 that the uniform sampler supports."""


def randomized_response(
    reports: Integers, *, epsilon: float, categories: int, source: RandomSource | None = None
) -> Integers:
    """Keep each category with probability e^ε/(e^ε + k − 1), and replace it by a uniform other category otherwise.

    Args:
        reports: true categories, integers from 0 to k − 1.
        epsilon: ε ≥ 0 of a single response, read as the exact fraction that the double is.
        categories: k, from 2 to 2^31.
        source: source of the random bits; the operating system if None.

    Returns:
        The randomized categories, in the shape of `reports`.

    Raises:
        InvalidInput: a parameter is outside its range, or a report is not a category.

    Guarantees:
        Each response is ε-differentially private for the replacement of a report.
    """
    if not 0.0 <= epsilon < math.inf:
        raise InvalidInput.at("/epsilon", "is out of range", allowed="≥ 0, finite")
    if not 2 <= categories <= MOST_CATEGORIES:
        raise InvalidInput.at("/categories", "is out of range", allowed=f"2 to {MOST_CATEGORIES}")
    truths, bits = np.asarray(reports), source or secure()
    if truths.dtype.kind not in "iu" or (truths.size and not 0 <= truths.min() <= truths.max() < categories):
        raise InvalidInput.at("/reports", "are out of range", allowed=f"integers from 0 to {categories - 1}")

    sampler = _truth_or_lie(epsilon, categories)
    is_lie = sampler.outcomes(bits.words(truths.shape), bits.next_word) == 1

    # The other categories, in ascending order, have the ranks 0 to k − 2.
    ranks = uniform_integers(categories - 1, truths.shape, bits)
    lies = ranks + (ranks >= truths)
    return np.asarray(np.where(is_lie, lies, truths), dtype=np.int64)


@functools.lru_cache(maxsize=8)
def _truth_or_lie(epsilon: float, categories: int) -> Inversion:
    """Return a sampler that decides between the true category (outcome 0) and a false one (outcome 1).

    In randomized response with k categories, the truth has weight 1 and a lie has weight (k − 1) e^−ε.

    Args:
        epsilon: ε of randomized response.
        categories: number k of categories.

    Returns:
        The exact sampler. The last eight results are cached.
    """

    def weights(precision: int) -> IntegerBounds:
        """Return bounds on both weights, in units of 2^−precision."""
        low, high = decay(Decimal(epsilon), precision)
        unit = 1 << precision
        return IntegerBounds((unit, (categories - 1) * low), (unit, (categories - 1) * high))

    return Inversion.from_weights(weights)

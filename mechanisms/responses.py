"""Randomized response with exactly its law: the own category, or any other one."""

from __future__ import annotations

import functools
import math
from decimal import Decimal

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.flips import below
from epsilond.mechanisms.jumps import IntegerBounds, Inversion, decay
from epsilond.mechanisms.randomness import Integers, RandomSource, secure

MOST_CATEGORIES = 1 << 31


def randomized_response(
    reports: Integers, *, epsilon: float, categories: int, source: RandomSource | None = None
) -> Integers:
    """Each of 0, …, k − 1 with probability e^ε/(e^ε + k − 1), else one of the k − 1 others, all alike.

    ε ≥ 0 is taken as the fraction that the double is.

    Raises:
        InvalidInput: a parameter is outside its range, or a report is no category.
    """
    if not 0.0 <= epsilon < math.inf:
        raise InvalidInput.at("/epsilon", "is out of range", allowed="≥ 0, finite")
    if not 2 <= categories <= MOST_CATEGORIES:
        raise InvalidInput.at("/categories", "is out of range", allowed=f"2 to {MOST_CATEGORIES}")
    given, bits = np.asarray(reports), source or secure()
    if given.dtype.kind not in "iu" or (given.size and not 0 <= given.min() <= given.max() < categories):
        raise InvalidInput.at("/reports", "are out of range", allowed=f"integers from 0 to {categories - 1}")
    lies = _truth_or_lie(epsilon, categories).outcomes(bits.words(given.shape), bits.more)
    others = below(categories - 1, given.shape, bits)
    return np.asarray(np.where(lies == 1, others + (others >= given), given), dtype=np.int64)


@functools.lru_cache(maxsize=8)
def _truth_or_lie(epsilon: float, categories: int) -> Inversion:
    """Outcome 0 with weight 1, outcome 1 with weight (k − 1) e^−ε."""

    def law(precision: int) -> IntegerBounds:
        low, high = decay(Decimal(epsilon), precision)
        one = 1 << precision
        return IntegerBounds((one, (categories - 1) * low), (one, (categories - 1) * high))

    return Inversion.of(law)

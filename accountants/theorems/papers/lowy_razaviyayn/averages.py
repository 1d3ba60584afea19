"""Averages over unequal clients of which a random number takes part (Appendix E.1 of Lowy and Razaviyayn)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence


def average_of_largest(values: Sequence[tuple[float, int]], count: int) -> float:
    """Compute the mean of the `count` largest values of a multiset.

    Args:
        values: pairs of a value and its multiplicity. A value may be in several pairs.
        count: number of values in the mean, counted with multiplicity.

    Returns:
        The mean, in the unit of the values.

    Raises:
        InvalidInput: `count` is below 1 or above the number of values.
    """
    value_count = sum(multiplicity for _, multiplicity in values)
    if not 1 <= count <= value_count:
        raise InvalidInput.at("/participants", "must be between 1 and the number of clients")
    remaining, summands = count, []
    for value, multiplicity in sorted(values, reverse=True):
        included_count = min(remaining, multiplicity)
        summands.append(value * included_count)
        remaining -= included_count
    return math.fsum(summands) / count


def rms_average_of_largest(values: Sequence[tuple[float, int]], counts: Sequence[tuple[int, float]]) -> float:
    """Compute the root mean square of the mean of the M largest values, for a random number M of participants.

    The averages Ξ, Ψ, Φ² and Σ² of the clients' noise and gradient variances in Appendix E.1 of Lowy and Razaviyayn are
    of this kind.

    Args:
        values: the value of each group of equal clients, at least 0, with the number of clients in the group.
        counts: the possible numbers M, each with its probability.

    Returns:
        The average, in the unit of the values. It is between the mean of all values and the largest value.
    """
    largest = max(value for value, _ in values)
    if largest == 0.0:
        return 0.0
    # Division by the largest value keeps the squares within the doubles.
    weighted_squares = []
    for count, probability in counts:
        relative_average = average_of_largest(values, count) / largest
        weighted_squares.append(probability * relative_average**2)
    return largest * math.sqrt(math.fsum(weighted_squares))

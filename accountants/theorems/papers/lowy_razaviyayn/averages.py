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
        values: the values, each with its multiplicity. Entries may repeat a value; their multiplicities then add up.
        count: number of values in the mean.

    Returns:
        The mean, in the unit of the values.

    Raises:
        InvalidInput: `count` is below 1 or above the number of values.
    """
    value_count = sum(multiplicity for _, multiplicity in values)
    if not 1 <= count <= value_count:
        raise InvalidInput.at("/participants", "must be between 1 and the number of clients")
    # Take the largest values first, until `count` values are taken.
    remaining, summands = count, []
    for value, multiplicity in sorted(values, reverse=True):
        included = min(remaining, multiplicity)
        summands.append(value * included)
        remaining -= included
    return math.fsum(summands) / count


def rms_average_of_largest(values: Sequence[tuple[float, int]], counts: Sequence[tuple[int, float]]) -> float:
    """Compute √E[A²], where A is the mean of the M_r largest values for a random number M_r of participants.

    It is between the mean of all values and the largest value. The averages Ξ, Ψ, Φ² and Σ² in Appendix E.1 of Lowy and
    Razaviyayn are of this kind. Their values are the clients' ξ_i, ψ_i, φ_i² and σ_i².

    Args:
        values: the value of each group of equal clients, at least 0, with the number of clients in the group.
        counts: the possible numbers M_r, each with its probability.

    Returns:
        √E[(mean of the M_r largest values)²], in the unit of the values.
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

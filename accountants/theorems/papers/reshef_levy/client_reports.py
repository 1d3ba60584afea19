"""Several reports of one client with cancelled noise: checks of their lists, and the privacy of each record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.outward import raise_by_units

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_LISTED = 10**6
"""Largest number of reports in a list."""


def check_listed(name: str, values: Sequence[object], *, least: int, most: int = MOST_LISTED) -> None:
    """Check that a list has an allowed length, and that its entries are positive and finite numbers.

    Args:
        name: name of the list's field in the request, for the error.
        values: the list.
        least: smallest allowed length.
        most: largest allowed length.

    Raises:
        InvalidInput: the length is not allowed, or an entry is not such a number. The error points to the first one.
    """
    if not least <= len(values) <= most:
        raise InvalidInput.at(f"/{name}", "has too few or too many entries", allowed=f"{least} to {most}")
    for index, value in enumerate(values):
        # A bool is an int in Python, but it is not meant as a number.
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
            raise InvalidInput.at(f"/{name}/{index}", "is out of range", allowed="> 0 and finite")


def record_mus(distances: Sequence[float], noise_stds: Sequence[float]) -> tuple[float, ...]:
    """Compute the Gaussian DP parameter of the record in each report of a client with cancelled noise.

    The sum of the client's first k messages contains the record of report j for each k ≥ j, with noise of its own. So
    the parameter is:

        μ_j = Δ_j √(Σ_{k ≥ j} 1/σ_k²).

    Args:
        distances: ℓ2 sensitivity Δ_j of each report's message, in the order of the reports.
        noise_stds: standard deviation σ_k of the noise in the sum of the first k messages, in the same unit.

    Returns:
        One μ_j for each report, rounded up.
    """
    mus_from_last = []
    precision = 0.0  # Σ_{k ≥ j} 1/σ_k²
    reversed_reports = zip(reversed(distances), reversed(noise_stds), strict=True)
    for count, (distance, std) in enumerate(reversed_reports, start=1):
        precision += 1.0 / std / std
        # A sum of n terms has a relative error of at most n + 1 units of roundoff, its root half of that. The rest is a
        # margin for the root, the product and the sensitivity.
        units_of_roundoff = 0.5 * count + 4.0
        mus_from_last.append(raise_by_units(distance * math.sqrt(precision), units_of_roundoff))
    return tuple(reversed(mus_from_last))


def all_records_mu(distances: Sequence[float], noise_stds: Sequence[float]) -> float:
    """Compute the Gaussian DP parameter μ if the records of all reports of a client change at once.

    The sum of the first k messages then changes by at most Δ_1 + … + Δ_k. Its noise has the standard deviation σ_k, so
    μ² = Σ_k (Δ_1 + … + Δ_k)²/σ_k².

    Args:
        distances: ℓ2 sensitivity Δ_j of each report's message, in the order of the reports.
        noise_stds: standard deviation σ_k of the noise in the sum of the first k messages, in the same unit.

    Returns:
        μ, rounded up.
    """
    squares = []
    total_distance = 0.0  # Δ_1 + … + Δ_k
    for distance, std in zip(distances, noise_stds, strict=True):
        total_distance += distance
        squares.append((total_distance / std) ** 2)
    return raise_by_units(math.sqrt(math.fsum(squares)), len(squares) + 4.0)

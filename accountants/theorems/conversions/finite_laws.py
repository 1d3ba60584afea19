"""Laws on finitely many outcomes, as request classes, and their divergences: for facts that hold of any two laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Quantity, request

MOST_OUTCOMES = 1000
ROUNDED = 1e-9
FIRST = Quantity(symbol="P", description="probabilities of the outcomes of the first law")
SECOND = Quantity(symbol="Q", description="probabilities of the same outcomes under the second law")
KERNEL = Quantity(
    symbol="K", description="a channel that both laws go through: for each outcome the law of what comes out of it"
)
Probabilities = tuple[float, ...]


def check_law(pointer: str, values: Sequence[Any], length: int) -> None:
    """Refuse what is no probability vector of that length, to within 1e-9.

    Raises:
        InvalidInput: at `pointer`.
    """
    numbers = all(isinstance(p, int | float) and not isinstance(p, bool) and 0.0 <= p <= 1.0 for p in values)
    if not 1 <= len(values) == length <= MOST_OUTCOMES or not numbers or abs(math.fsum(values) - 1.0) > ROUNDED:
        raise InvalidInput.at(pointer, "is not a probability vector of the right length", allowed=f"{length} entries")


def check_kernel(pointer: str, rows: Sequence[Any], inputs: int) -> None:
    """Refuse what is not one probability vector for each outcome, all of one length.

    Raises:
        InvalidInput: at `pointer` or at one of its rows.
    """
    if len(rows) != inputs:
        raise InvalidInput.at(pointer, "must have one row for each outcome", allowed=f"{inputs} rows")
    for place, row in enumerate(rows):
        check_law(f"{pointer}/{place}", row, len(rows[0]))


@request
class TwoLaws:
    """Two laws of the same outcomes, up to 1000."""

    first: Annotated[Probabilities, FIRST]
    second: Annotated[Probabilities, SECOND]

    def check(self) -> None:
        """Probability vectors of one length."""
        check_law("/first", self.first, len(self.first))
        check_law("/second", self.second, len(self.first))


def law(values: Sequence[float]) -> FloatArray:
    """The law, of total mass 1 to the last digits."""
    return np.asarray(values, dtype=np.float64) / math.fsum(values)


def sent_through(values: FloatArray, rows: Sequence[Sequence[float]]) -> FloatArray:
    """What comes out of a channel."""
    kernel = np.stack([law(row) for row in rows])
    return np.asarray(values @ kernel)


def _log_ratio(first: FloatArray, second: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(first > 0.0, np.log(first) - np.log(second), -np.inf))


def hockey_stick(first: FloatArray, second: FloatArray, epsilon: float) -> float:
    """E_{e^ε}(P‖Q) = Σ max(P − e^ε Q, 0), ε ≥ 0."""
    over = epsilon - _log_ratio(first, second)
    kept = first > 0.0
    return math.fsum(first[kept] * -np.expm1(np.minimum(over[kept], 0.0)))


def largest_loss(first: FloatArray, second: FloatArray) -> float:
    """D_∞(P‖Q) = max ln(P/Q) over the outcomes of P, infinite where Q has none of one; at least 0."""
    return max(float(np.max(_log_ratio(first, second))), 0.0)


def renyi_divergence(first: FloatArray, second: FloatArray, order: float) -> float:
    """D_a(P‖Q) = ln Σ P^a Q^(1 − a)/(a − 1), a > 1; infinite where Q misses an outcome of P."""
    ratios = _log_ratio(first, second)[first > 0.0]
    if np.isposinf(ratios).any():
        return math.inf
    exponents = (order - 1.0) * ratios + np.log(first[first > 0.0])
    top = float(np.max(exponents))
    return max((top + math.log(math.fsum(np.exp(exponents - top)))) / (order - 1.0), 0.0)

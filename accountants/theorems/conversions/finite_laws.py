"""Laws on finitely many outcomes, as request classes, and their divergences: for facts that hold of any two laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np

from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.renyi_divergence import divergence_of_atoms
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Quantity, request

MOST_OUTCOMES = 1000
ROUNDED = 1e-9
MOST_RATIO = 1e15
"""Ratio of P − Q to Q from which on it counts as P/Q; the logarithms then differ by 1e-15, of 34."""
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


def exact_law(values: Sequence[float]) -> FloatArray:
    """Return the law, each probability within one rounding."""
    return np.asarray([float(probability) for probability in _rationals(values)])


def difference(first: Sequence[float], second: Sequence[float]) -> FloatArray:
    """Return P − Q, each entry within one rounding: nothing cancels where the two laws are close."""
    return np.asarray([float(p - q) for p, q in zip(_rationals(first), _rationals(second), strict=True)])


def _rationals(values: Sequence[float]) -> list[Fraction]:
    """Return the law as rational numbers of total mass 1."""
    numbers = [Fraction(value) for value in values]
    total = sum(numbers)
    return [number / total for number in numbers]


def renyi_divergence(change: FloatArray, second: FloatArray, order: float) -> float:
    """Compute D_a(P‖Q) = ln Σ P^a Q^(1 − a)/(a − 1), rounded up; infinite where Q misses an outcome of P.

    Args:
        change: P − Q, from `difference`, perhaps sent through a channel.
        second: probabilities of Q, sent through the same channel.
        order: order a > 1.
    """
    shared = (change != 0.0) | (second > 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        ratio = np.maximum(change[shared] / second[shared], -1.0)
        far = np.log(np.maximum(change[shared], 0.0)) - np.log(second[shared])
        log_ratio = np.where(ratio < MOST_RATIO, np.log1p(np.minimum(ratio, MOST_RATIO)), far)
        return divergence_of_atoms(order, np.log(second[shared]), log_ratio).upper

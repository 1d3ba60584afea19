"""Distributions with finitely many outcomes, as request classes, and their divergences."""

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
"""Largest number of outcomes of a distribution."""
ROUNDED = 1e-9
"""Largest difference of the sum of a probability vector from 1, for decimal input."""
MOST_RATIO = 1e15
"""Ratio (P − Q)/Q above which P/Q − 1 is replaced by P/Q. The logarithm is then above 34; the error is below 1e-15."""
FIRST = Quantity(symbol="P", description="probabilities of the outcomes under the first distribution")
SECOND = Quantity(symbol="Q", description="probabilities of the same outcomes under the second distribution")
KERNEL = Quantity(
    symbol="K",
    description="channel applied to both distributions: for each outcome, the probabilities of its outputs",
)
Probabilities = tuple[float, ...]


def check_distribution(pointer: str, values: Sequence[Any], length: int) -> None:
    """Check that a sequence is a probability vector of the given length.

    Args:
        pointer: JSON pointer of the sequence in the request, for the error.
        values: entries of the sequence. Their sum may differ from 1 by `ROUNDED`.
        length: required number of entries.

    Raises:
        InvalidInput: the length is wrong or above `MOST_OUTCOMES`, an entry is not a probability, or the sum is not 1.
    """
    has_length = 1 <= len(values) <= MOST_OUTCOMES and len(values) == length
    are_probabilities = all(_is_probability(value) for value in values)
    is_distribution = are_probabilities and abs(math.fsum(values) - 1.0) <= ROUNDED
    if not has_length or not is_distribution:
        raise InvalidInput.at(pointer, "is not a probability vector of the right length", allowed=f"{length} entries")


def _is_probability(value: object) -> bool:
    """Return whether a value from a request is a number in [0, 1]; True and False are not numbers here."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def check_kernel(pointer: str, rows: Sequence[Any], inputs: int) -> None:
    """Check that a channel is a stochastic matrix: a row for each input, with the probabilities of its outputs.

    Args:
        pointer: JSON pointer of the channel in the request, for the error.
        rows: distribution of the channel's output for each input, all of one length.
        inputs: required number of inputs.

    Raises:
        InvalidInput: the number of rows is wrong, or a row is not a probability vector of the length of the first row.
    """
    if len(rows) != inputs:
        raise InvalidInput.at(pointer, "must have one row for each outcome", allowed=f"{inputs} rows")
    for index, row in enumerate(rows):
        check_distribution(f"{pointer}/{index}", row, len(rows[0]))


@request
class TwoLaws:
    """Two distributions on the same outcomes, at most 1000."""

    first: Annotated[Probabilities, FIRST]
    second: Annotated[Probabilities, SECOND]

    def check(self) -> None:
        """Check that both are probability vectors of one length."""
        check_distribution("/first", self.first, len(self.first))
        check_distribution("/second", self.second, len(self.first))


def normalise(values: Sequence[float]) -> FloatArray:
    """Return the probabilities divided by their sum, as an array.

    Args:
        values: probabilities with a sum close to 1, such as rounded decimal numbers.
    """
    return np.asarray(values, dtype=np.float64) / math.fsum(values)


def apply_channel(values: FloatArray, rows: Sequence[Sequence[float]]) -> FloatArray:
    """Return the probabilities of the outputs of a channel, given the probabilities of its inputs.

    Args:
        values: array of the probabilities of the inputs.
        rows: for each input, the probabilities of the outputs.
    """
    kernel = np.stack([normalise(row) for row in rows])
    return np.asarray(values @ kernel)


def _log_ratio(first: FloatArray, second: FloatArray) -> FloatArray:
    """Compute ln(P/Q) for each outcome: −∞ where P is 0, and ∞ where only Q is 0.

    Args:
        first: array of the probabilities of P.
        second: array of the probabilities of Q on the same outcomes.

    Returns:
        An array of logarithms in nats, one for each outcome.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.log(first) - np.log(second)
        return np.asarray(np.where(first > 0.0, log_ratio, -np.inf))


def hockey_stick(first: FloatArray, second: FloatArray, epsilon: float) -> float:
    """Compute the hockey-stick divergence E_{e^ε}(P‖Q) = Σ max(P − e^ε Q, 0) over the outcomes.

    It is the least δ at which P(S) ≤ e^ε Q(S) + δ for every event S.

    Args:
        first: array of the probabilities of P.
        second: array of the probabilities of Q on the same outcomes.
        epsilon: privacy loss ε ≥ 0, in nats.

    Returns:
        The divergence in [0, 1], up to rounding.
    """
    support = first > 0.0
    losses = _log_ratio(first, second)[support]
    # max(P − e^ε Q, 0) = P (1 − e^min(ε − ln(P/Q), 0))
    exponents = np.minimum(epsilon - losses, 0.0)
    return math.fsum(first[support] * -np.expm1(exponents))


def largest_loss(first: FloatArray, second: FloatArray) -> float:
    """Compute the max-divergence D_∞(P‖Q) = max ln(P/Q), the largest privacy loss over the outcomes of P.

    Args:
        first: array of the probabilities of P.
        second: array of the probabilities of Q on the same outcomes.

    Returns:
        The divergence in nats, at least 0. It is infinite if an outcome of P has probability 0 under Q.
    """
    losses = _log_ratio(first, second)
    return max(float(np.max(losses)), 0.0)


def rounded_probabilities(values: Sequence[float]) -> FloatArray:
    """Return the probabilities divided by their exact sum. Each quotient is rounded once."""
    return np.asarray([float(probability) for probability in _rationals(values)])


def difference(first: Sequence[float], second: Sequence[float]) -> FloatArray:
    """Compute P − Q for each outcome, so that close distributions lose no digits.

    Both vectors are first divided by their sums. The differences are computed in rational numbers, and each is rounded
    once.

    Args:
        first: probabilities of P.
        second: probabilities of Q on the same outcomes.

    Returns:
        An array with one entry for each outcome.
    """
    pairs = zip(_rationals(first), _rationals(second), strict=True)
    return np.asarray([float(probability_p - probability_q) for probability_p, probability_q in pairs])


def _rationals(values: Sequence[float]) -> list[Fraction]:
    """Return the probabilities as rational numbers with sum 1."""
    numbers = [Fraction(value) for value in values]
    total = sum(numbers)
    return [number / total for number in numbers]


def renyi_divergence(change: FloatArray, second: FloatArray, order: float) -> float:
    """Compute the Rényi divergence D_a(P‖Q) = ln Σ P^a Q^(1 − a)/(a − 1), rounded up.

    Args:
        change: array of P − Q for each outcome. It is passed instead of P, because it keeps its digits if P and Q are
            close.
        second: array of the probabilities of Q on the same outcomes.
        order: order a > 1 of the divergence.

    Returns:
        An upper bound on the divergence, in nats. It is infinite if P has an outcome that has probability 0 under Q.
    """
    is_possible = (change != 0.0) | (second > 0.0)
    possible_change, possible_second = change[is_possible], second[is_possible]
    with np.errstate(divide="ignore", over="ignore"):
        log_second = np.log(possible_second)
        # P/Q − 1 = (P − Q)/Q, which keeps the digits of close distributions.
        relative_change = np.maximum(possible_change / possible_second, -1.0)
        log_small = np.log1p(np.minimum(relative_change, MOST_RATIO))
        # Where P is much larger than Q, the logarithm of P/Q is computed as that of (P − Q)/Q.
        log_large = np.log(np.maximum(possible_change, 0.0)) - log_second
        log_ratio = np.where(relative_change < MOST_RATIO, log_small, log_large)
        return divergence_of_atoms(order, log_second, log_ratio).upper

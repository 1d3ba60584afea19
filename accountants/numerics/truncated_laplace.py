"""The truncated discrete Laplace distribution in decimal arithmetic, for cases in which doubles would lose the answer.

P(y) = e^(−α|y|)/Z for |y| ≤ m, α ≥ 0. With D = (1 − e^−α) Z = 1 + e^−α − 2 e^(−α(m+1)), all quantities are elementary.
But α is often 1e-9 and m beyond 2^53, so that Lemma 1 of Das et al. cancels thirty digits. The least m for a δ of
2^−1e6 depends on the sixteenth digit of log δ. The number of digits therefore depends on α and m.
"""

from __future__ import annotations

import decimal
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from epsilond.accountants.numerics.laplace.levels_estimate import likely_levels
from epsilond.accountants.numerics.root_search import bisect_integers

DIGITS = 50  # number of digits that remain after every cancellation
CANCELLED = 27  # number of digits that 1 minus a product of many survival probabilities may lose
_SMALL = Decimal("1e-26")  # escape probability below which probabilities are added instead of multiplied out
_LOG_PAD = Decimal("1e-40")  # bound on the rounding of the log of an escape probability, with `DIGITS` digits
_NEGLIGIBLE = Decimal("1e-20")  # x below which log(1 − x) uses its series; the fourth term is 1e-60 of the first


class LogProbability(NamedTuple):
    """Bounds on the logarithm of a probability, as decimal numbers.

    Attributes:
        lower: lower bound, which may be −∞.
        upper: upper bound.
    """

    lower: Decimal
    upper: Decimal


@contextmanager
def digits_for(decay_rate: float, levels: int, further: int = 0) -> Iterator[None]:
    """Set a decimal precision that is enough for the noise P(y) ∝ e^(−α|y|) on |y| ≤ m, within a `with` block.

    A difference such as 1 − e^−α loses as many digits as α has zeros after the point. Digits for four times as many are
    added, and for those of m. Exponents may have any size.

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise.
        further: number of additional digits.
    """
    lost = 0.0 if decay_rate == 0.0 else max(0.0, -math.log10(decay_rate))  # zeros of α after the point
    context = decimal.Context(
        prec=math.ceil(DIGITS + further + 4 * lost + len(str(levels))),
        Emax=decimal.MAX_EMAX,
        Emin=decimal.MIN_EMIN,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )
    with decimal.localcontext(context):
        yield


def _scaled_total(decay: Decimal, levels: int) -> Decimal:
    """Return D = (1 − e^−α) Z = 1 + e^−α − 2 e^(−α(m+1)), where Z normalises the noise P(y) ∝ e^(−α|y|) on |y| ≤ m.

    Args:
        decay: rate α > 0 of the noise.
        levels: largest absolute value m of the noise.
    """
    return 1 + (-decay).exp() - 2 * (-decay * (levels + 1)).exp()


def normaliser(decay_rate: float, levels: int) -> Decimal:
    """Return the normaliser Z = Σ e^(−α|y|) of the noise P(y) = e^(−α|y|)/Z on |y| ≤ m (Das et al., equation (4)).

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise.

    Returns:
        The normaliser Z, at least 1, as a decimal number.
    """
    if decay_rate == 0.0:
        return Decimal(2 * levels + 1)
    with digits_for(decay_rate, levels):
        decay = Decimal(decay_rate)
        return _scaled_total(decay, levels) / (1 - (-decay).exp())


def probability(decay_rate: float, levels: int, value: int) -> Decimal:
    """Return P(Y = y) of the truncated discrete Laplace noise Y (Das et al., equation (3)); 0 for |y| > m.

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise.
        value: the integer y.

    Returns:
        The probability, as a decimal number.
    """
    if abs(value) > levels:
        return Decimal(0)
    with digits_for(decay_rate, levels):
        return (-Decimal(decay_rate) * abs(value)).exp() / normaliser(decay_rate, levels)


def _top(decay: Decimal, levels: int, ratio: Decimal, count: int) -> Decimal:
    """Return the probability that the truncated discrete Laplace noise takes one of its largest values.

    The noise has P(y) ∝ e^(−α|y|) on |y| ≤ m. The probability of its n largest values is e^(−α(m+1)) (e^{αn} − 1)/D,
    with D of `_scaled_total`.

    Args:
        decay: rate α of the noise.
        levels: largest absolute value m of the noise.
        ratio: e^(−α(m+1))/D.
        count: number n of values, 0 ≤ n ≤ m + 1.

    Returns:
        The probability, in [0, 1].

    Source: Das et al., Lemma 1.
    """
    if not decay:
        return Decimal(count) / (2 * levels + 1)
    reached = (-decay * count).exp()
    return ratio * (1 - reached) / reached


class _Shifted(NamedTuple):
    """Probability that the noise on a shifted coordinate gives an output that is impossible without the shift.

    Attributes:
        escaping: this probability.
        staying: 1 − `escaping`, computed separately so that it keeps its digits.
        times: number of coordinates with this shift.
    """

    escaping: Decimal
    staying: Decimal
    times: int


def _shift_probabilities(decay_rate: float, levels: int, parts: Sequence[tuple[int, int]]) -> list[_Shifted]:
    """Return for each shift the probability that the output of a coordinate is impossible for the neighbour.

    Noise shifted by k gives such an output if it is in its top k levels. For k > m the complementary probability is
    computed, because it is the smaller one.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number of coordinates with that shift.

    Returns:
        The two complementary probabilities and the number of coordinates, for each shift.
    """
    decay = Decimal(decay_rate)
    edge = (-decay * (levels + 1)).exp()  # e^(−α(m+1))
    ratio = edge / (1 + (-decay).exp() - 2 * edge) if decay else edge
    probabilities = []
    for shift, count in parts:
        if shift <= levels:
            escaping = _top(decay, levels, ratio, shift)
            probabilities.append(_Shifted(escaping, 1 - escaping, count))
        else:
            possible_values = max(2 * levels + 1 - shift, 0)
            staying = _top(decay, levels, ratio, possible_values)
            probabilities.append(_Shifted(1 - staying, staying, count))
    return probabilities


def log_top(decay_rate: float, levels: int, count: int) -> Decimal:
    """Return the log probability that the noise Y takes one of its `count` largest values; −∞ for a count of 0.

    Y has the truncated discrete Laplace distribution P(y) ∝ e^(−α|y|) on |y| ≤ m.

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise, which has 2m + 1 values.
        count: number of values.

    Returns:
        The log probability, at most 0.
    """
    if count <= 0:
        return Decimal("-Infinity")
    with digits_for(decay_rate, levels):
        (shifted,) = _shift_probabilities(decay_rate, levels, [(count, 1)])
        if count <= levels:
            return shifted.escaping.ln()
        return _log_rest(shifted.staying)


def _log_rest(value: Decimal) -> Decimal:
    """Return log(1 − x) for 0 ≤ x ≤ 1, by its series if 1 − x would lose the digits of x.

    Args:
        value: x.
    """
    if value < _NEGLIGIBLE:
        return -value - value * value / 2 - value**3 / 3
    return (1 - value).ln()


def cumulative(decay_rate: float, levels: int, value: int) -> Decimal:
    """Return P(Y ≤ y) of the truncated discrete Laplace noise Y, which has P(y) ∝ e^(−α|y|) on |y| ≤ m.

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise.
        value: the integer y.
    """
    with digits_for(decay_rate, levels):
        return log_top(decay_rate, levels, levels + value + 1).exp()


def log_survival(decay_rate: float, levels: int, parts: Sequence[tuple[int, int]]) -> Decimal:
    """Return the log probability that no coordinate escapes, log Π (1 − p_k)^n; −∞ if that is impossible.

    A coordinate escapes if its output is impossible for the neighbour. p_k is the probability of this at shift k, and n
    the number of coordinates with that shift.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number n of coordinates with that shift.

    Returns:
        The log probability, at most 0.
    """
    with digits_for(decay_rate, levels):
        total = Decimal(0)
        for escaping, staying, count in _shift_probabilities(decay_rate, levels, parts):
            log_staying = _log_rest(escaping) if 2 * escaping < 1 else staying.ln()
            total += count * log_staying
        return total


def log_escape(decay_rate: float, levels: int, parts: Sequence[tuple[int, int]]) -> LogProbability:
    """Return bounds on the log probability that a coordinate escapes, log(1 − Π (1 − p_k)^count).

    A coordinate escapes if its output is impossible for the neighbour. p_k is the probability of this at shift k. This
    is log δ if α‖k‖₁ ≤ ε, because all other outputs have a loss of at most α‖k‖₁ (docs/shifted-noise.md). The bounds
    differ by 2e-40 if some p_k is at least 1e-26. Otherwise the difference is larger by Σ count · p_k, about the escape
    probability itself.

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number of coordinates with that shift.

    Returns:
        The lower and the upper bound on the logarithm.
    """
    return _log_escape(decay_rate, levels, tuple(parts))


@functools.lru_cache(maxsize=64)
def _log_escape(decay_rate: float, levels: int, parts: tuple[tuple[int, int], ...]) -> LogProbability:
    """Return the bounds of `log_escape`, stored for recent arguments because an answer needs them several times.

    A coordinate escapes if its output is impossible for the neighbour. The result is log(1 − Π (1 − p_k)) over all
    coordinates. The subtraction loses as many digits as the largest p_k has leading zeros, at most 27. So many more
    digits are carried.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number of coordinates with that shift.

    Returns:
        Bounds on the logarithm; both are −∞ if no coordinate can escape.
    """
    with digits_for(decay_rate, levels, CANCELLED):
        probabilities = _shift_probabilities(decay_rate, levels, parts)
        shifts = [shift for shift in probabilities if shift.escaping and shift.times]
        if not shifts:
            return LogProbability(Decimal("-Infinity"), Decimal("-Infinity"))

        largest_escaping = max(shift.escaping for shift in shifts)
        if largest_escaping >= _SMALL:
            survival = Decimal(1)
            for shift in shifts:
                survival *= shift.staying**shift.times
            log_escape = (1 - survival).ln()
            return LogProbability(log_escape - _LOG_PAD, min(log_escape + _LOG_PAD, Decimal(0)))

        # If all are tiny: E − E²/2 ≤ 1 − Π (1 − p)^n ≤ E = Σ n p.
        expected = sum((shift.times * shift.escaping for shift in shifts), Decimal(0))
        log_expected = expected.ln()
        return LogProbability(log_expected - expected - _LOG_PAD, log_expected + _LOG_PAD)


def least_levels(decay_rate: float, parts: Sequence[tuple[int, int]], log_delta: float) -> int:
    """Return the least level m of truncation at which outputs reveal the neighbour with a probability of at most δ.

    The result is the least m for which `log_escape` is at most log δ, exactly; 0 for δ = 1. The probability decreases
    with m (erratum D-1 of Das et al.).

    Args:
        decay_rate: rate α of the noise.
        parts: pairs of a shift k and the number of coordinates with that shift.
        log_delta: natural logarithm of δ.

    Returns:
        The level m ≥ 0, an integer.
    """
    target = Decimal(log_delta)
    guess = math.ceil(min(max(likely_levels(decay_rate, parts, log_delta), 0.0), 1e30))  # a finite number
    return _least(lambda levels: log_escape(decay_rate, levels, parts).upper <= target, guess)


def _least(meets: Callable[[int], bool], guess: int) -> int:
    """Return the least integer ≥ 0 that meets a condition.

    The search doubles its steps away from an initial estimate, and then bisects.

    Args:
        meets: a condition that holds from some integer on.
        guess: the initial estimate, at least 0.

    Returns:
        The least integer that meets the condition.
    """
    low, high = guess - 1, guess
    step = 1
    while not meets(high):  # upwards to an integer that meets it
        low, high = high, high + step
        step *= 2
    step = 1
    while low >= 0 and meets(low):  # downwards to one that does not, or below 0
        low, high = low - step, low
        step *= 2
    return bisect_integers(lambda count: not meets(count), max(low, -1), high) + 1


def largest_rate(epsilon: float, total: int) -> float:
    """Return the largest double α with α · total ≤ ε, exactly.

    The quotient ε/total is a double that may be rounded up. It is lowered until the exact product is at most ε.

    Args:
        epsilon: ε ≥ 0, in nats.
        total: a whole number, at least 1.
    """
    rate = epsilon / total
    while Fraction(rate) * total > Fraction(epsilon):
        rate = math.nextafter(rate, 0.0)
    return rate


@functools.lru_cache(maxsize=64)
def variance(decay_rate: float, levels: int) -> float:
    """Return the variance E Y² of truncated discrete Laplace noise, in squared grid steps.

    The variance is computed with enough digits for its cancellation. With x = e^−α, w = 1 − x and t = e^{−αm} it is

        E Y² = 2x (1 + x − t (mw + 1)² − xt)/(w² (w + 2x(1 − t))).

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise.

    Returns:
        The variance, rounded to a double.

    Source: the closed form of Das et al., Lemma 1.
    """
    if decay_rate == 0.0:  # uniform noise
        return levels * (levels + 1) / 3
    with digits_for(decay_rate, levels):
        decay = Decimal(decay_rate)
        x, t = (-decay).exp(), (-decay * levels).exp()
        w = 1 - x
        numerator = 1 + x - t * (levels * w + 1) ** 2 - x * t
        denominator = w * w * (w + 2 * x * (1 - t))
        return float(2 * x * numerator / denominator)


def bits_per_coordinate(quantization_levels: int, noise_levels: int) -> int:
    """Return the bits ⌈log₂(2(s + m) + 1)⌉ of one coordinate, exactly (Das et al., equation (7)).

    Args:
        quantization_levels: largest absolute value s of the rounded coordinate.
        noise_levels: largest absolute value m of the noise.
    """
    return (2 * (quantization_levels + noise_levels)).bit_length()


def extra_bits(quantization_levels: int, noise_levels: int) -> int:
    """Return the exact number of bits that noise adds to the ⌈log₂(2s + 1)⌉ bits of a rounded coordinate.

    Args:
        quantization_levels: largest absolute value s of the rounded coordinate.
        noise_levels: largest absolute value m of the noise.
    """
    bits_without_noise = bits_per_coordinate(quantization_levels, 0)
    return bits_per_coordinate(quantization_levels, noise_levels) - bits_without_noise

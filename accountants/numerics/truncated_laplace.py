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
    """Bounds on the natural logarithm of a probability, as decimal numbers.

    Attributes:
        lower: lower bound; −∞ if the probability is 0.
        upper: upper bound; −∞ if the probability is 0.
    """

    lower: Decimal
    upper: Decimal


@contextmanager
def digits_for(decay_rate: float, levels: int, further: int = 0) -> Iterator[None]:
    """Set the decimal precision for formulas of the noise P(y) ∝ e^(−α|y|) on |y| ≤ m, within a `with` block.

    A difference such as 1 − e^−α loses about log₁₀(1/α) digits. The closed form of the variance loses three times as
    many. The precision allows for four times as many, and for the digits of m. Exponents may have any size.

    Args:
        decay_rate: rate α ≥ 0 of the noise.
        levels: largest absolute value m of the noise.
        further: number of digits that the caller loses in addition.
    """
    digits_of_difference = 0.0 if decay_rate == 0.0 else max(0.0, -math.log10(decay_rate))
    context = decimal.Context(
        prec=math.ceil(DIGITS + further + 4 * digits_of_difference + len(str(levels))),
        Emax=decimal.MAX_EMAX,
        Emin=decimal.MIN_EMIN,
        traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
    )
    with decimal.localcontext(context):
        yield


def _scaled_normaliser(decay: Decimal, levels: int) -> Decimal:
    """Return D = (1 − e^−α) Z, where Z is the normaliser of the noise P(y) = e^(−α|y|)/Z on |y| ≤ m.

    The geometric sums give D = 1 + e^−α − 2 e^(−α(m+1)).

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
        return _scaled_normaliser(decay, levels) / (1 - (-decay).exp())


def probability(decay_rate: float, levels: int, value: int) -> Decimal:
    """Return P(Y = y) of the truncated discrete Laplace noise Y (Das et al., equation (3)); 0 for |y| > m.

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise.
        value: the integer y.
    """
    if abs(value) > levels:
        return Decimal(0)
    with digits_for(decay_rate, levels):
        return (-Decimal(decay_rate) * abs(value)).exp() / normaliser(decay_rate, levels)


def _largest_values(decay: Decimal, levels: int, ratio: Decimal, count: int) -> Decimal:
    """Return the probability that truncated discrete Laplace noise takes one of its n largest values.

    The noise has P(y) ∝ e^(−α|y|) on |y| ≤ m. The probability is:

        e^(−α(m+1)) (e^{αn} − 1)/D    with    D = 1 + e^−α − 2 e^(−α(m+1)),

    and n/(2m + 1) for α = 0.

    Args:
        decay: rate α ≥ 0 of the noise.
        levels: largest absolute value m of the noise.
        ratio: e^(−α(m+1))/D; not used for α = 0.
        count: number n of values, 0 ≤ n ≤ m + 1.

    Source: Das et al., Lemma 1.
    """
    if not decay:
        return Decimal(count) / (2 * levels + 1)
    decay_over_values = (-decay * count).exp()
    return ratio * (1 - decay_over_values) / decay_over_values


class _Shifted(NamedTuple):
    """Probability that the noise on a shifted coordinate gives an output that is impossible without the shift.

    Attributes:
        escaping: this probability.
        staying: 1 − `escaping`. The smaller of both is computed first, so that it keeps its digits.
        coordinates: number of coordinates with this shift.
    """

    escaping: Decimal
    staying: Decimal
    coordinates: int


def _shift_probabilities(decay_rate: float, levels: int, parts: Sequence[tuple[int, int]]) -> list[_Shifted]:
    """Return for each shift the probability that the output of a coordinate is impossible without the shift.

    The noise takes the integers y with |y| ≤ m. Shifted by k, it gives such an output if it takes one of its k largest
    values. For k > m, the probability of the other 2m + 1 − k values is computed instead, because it is the smaller
    one.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number of coordinates with that shift.
    """
    decay = Decimal(decay_rate)
    beyond = (-decay * (levels + 1)).exp()  # e^(−α(m+1)), the unnormalised mass of the first value beyond the noise
    # Divided by the normalising factor; not used for α = 0.
    ratio = beyond / (1 + (-decay).exp() - 2 * beyond) if decay else beyond
    probabilities = []
    for shift, count in parts:
        if shift <= levels:
            escaping = _largest_values(decay, levels, ratio, shift)
            probabilities.append(_Shifted(escaping, 1 - escaping, count))
        else:
            possible_values = max(2 * levels + 1 - shift, 0)
            # The noise is symmetric: its smallest values are as likely as its largest ones.
            staying = _largest_values(decay, levels, ratio, possible_values)
            probabilities.append(_Shifted(1 - staying, staying, count))
    return probabilities


def log_top(decay_rate: float, levels: int, count: int) -> Decimal:
    """Return the log probability that the noise Y takes one of its `count` largest values; −∞ for a count of 0.

    Y has the truncated discrete Laplace distribution P(y) ∝ e^(−α|y|) on |y| ≤ m.

    Args:
        decay_rate: rate α of the noise.
        levels: largest absolute value m of the noise, which has 2m + 1 values.
        count: number of values; −∞ is returned below 1, and 0 from 2m + 1 on.

    Returns:
        The natural logarithm of the probability.
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
    """Return the log probability that all coordinates with shifted noise give outputs that are possible without shift.

    It is Σ n log(1 − p_k), where p_k is the probability that noise shifted by k gives an impossible output.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number n of coordinates with that shift.

    Returns:
        The log probability, at most 0; −∞ if some coordinate always gives an impossible output.
    """
    with digits_for(decay_rate, levels):
        total = Decimal(0)
        for escaping, staying, count in _shift_probabilities(decay_rate, levels, parts):
            # The logarithm is computed from the smaller probability, which has all its digits.
            log_staying = _log_rest(escaping) if 2 * escaping < 1 else staying.ln()
            total += count * log_staying
        return total


def log_escape(decay_rate: float, levels: int, parts: Sequence[tuple[int, int]]) -> LogProbability:
    """Return bounds on the log probability that some coordinate with shifted noise escapes.

    A coordinate escapes if its output is impossible without the shift. For the probability p_k of this at shift k, and
    n coordinates with that shift, the result is:

        log(1 − Π (1 − p_k)^n).

    This is log δ if α‖k‖₁ ≤ ε, because all other outputs have a loss of at most α‖k‖₁ (docs/shifted-noise.md). The
    bounds differ by at most 2e-40 if some p_k is at least 1e-26. Otherwise they differ by Σ n p_k more.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number n of coordinates with that shift.

    Returns:
        The lower and the upper bound on the logarithm; both are −∞ if no coordinate can escape.
    """
    return _log_escape(decay_rate, levels, tuple(parts))


@functools.lru_cache(maxsize=64)
def _log_escape(decay_rate: float, levels: int, parts: tuple[tuple[int, int], ...]) -> LogProbability:
    """Compute the bounds of `log_escape`, and keep them for recent arguments, because an answer needs them repeatedly.

    They are bounds on log(1 − Π (1 − p_k)) over all coordinates. Here p_k is the probability that a coordinate with
    shift k gives an output that is impossible without the shift. If the largest p_k is at least 1e-26, the subtraction
    from 1 loses at most 27 digits, which are added to the precision. Otherwise 1 − Π (1 − p_k) is between E − E²/2 and
    E, for the sum E = Σ p_k.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        levels: largest absolute value m of the noise.
        parts: pairs of a shift k and the number of coordinates with that shift.
    """
    with digits_for(decay_rate, levels, CANCELLED):
        probabilities = _shift_probabilities(decay_rate, levels, parts)
        shifts = [shift for shift in probabilities if shift.escaping and shift.coordinates]
        if not shifts:
            return LogProbability(Decimal("-Infinity"), Decimal("-Infinity"))

        largest_escaping = max(shift.escaping for shift in shifts)
        if largest_escaping >= _SMALL:
            survival = Decimal(1)
            for shift in shifts:
                survival *= shift.staying**shift.coordinates
            log_escape = (1 - survival).ln()
            return LogProbability(log_escape - _LOG_PAD, min(log_escape + _LOG_PAD, Decimal(0)))

        expected = sum((shift.coordinates * shift.escaping for shift in shifts), Decimal(0))
        log_expected = expected.ln()
        # log(E − E²/2) = log E + log(1 − E/2) is at least log E − E for E ≤ 1.
        return LogProbability(log_expected - expected - _LOG_PAD, log_expected + _LOG_PAD)


def least_levels(decay_rate: float, parts: Sequence[tuple[int, int]], log_delta: float) -> int:
    """Return the least bound m on the absolute noise such that shifts are revealed with a probability of at most δ.

    The shift is revealed by an output that the noise without the shift cannot give. The result is the least m at which
    the upper bound on the log of this probability (`log_escape`) is at most log δ. The probability decreases with m.

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|) on |y| ≤ m.
        parts: pairs of a shift k and the number of coordinates with that shift.
        log_delta: natural logarithm of δ.

    Returns:
        The integer m ≥ 0; it is 0 for δ = 1.
    """
    target = Decimal(log_delta)
    # 1e30 replaces an infinite estimate. The search corrects any estimate.
    estimate = math.ceil(min(max(likely_levels(decay_rate, parts, log_delta), 0.0), 1e30))
    return _least(lambda levels: log_escape(decay_rate, levels, parts).upper <= target, estimate)


def _least(meets: Callable[[int], bool], estimate: int) -> int:
    """Return the least integer ≥ 0 that meets a condition.

    The search doubles its steps away from an initial estimate, and then bisects.

    Args:
        meets: the condition. If an integer meets it, so do all larger ones.
        estimate: initial estimate of the result, at least 0; it affects the time only.
    """
    low, high = estimate - 1, estimate
    step = 1
    while not meets(high):  # go up until the condition holds
        low, high = high, high + step
        step *= 2
    step = 1
    while low >= 0 and meets(low):  # go down until it does not hold, or below 0
        low, high = low - step, low
        step *= 2
    return bisect_integers(lambda count: not meets(count), max(low, -1), high) + 1


def largest_rate(epsilon: float, total: int) -> float:
    """Return the largest double α with an exact product with `total` of at most ε.

    The quotient ε/total may be rounded up to a double. It is lowered until the exact product is at most ε. For a
    `total` above 2^53, which may be rounded itself, the result may be slightly less than the largest double.

    Args:
        epsilon: ε ≥ 0, in nats.
        total: an integer, at least 1.
    """
    rate = epsilon / total
    while Fraction(rate) * total > Fraction(epsilon):
        rate = math.nextafter(rate, 0.0)
    return rate


@functools.lru_cache(maxsize=64)
def variance(decay_rate: float, levels: int) -> float:
    """Return the variance E Y² of truncated discrete Laplace noise Y, in squared grid steps.

    Y has P(y) ∝ e^(−α|y|) on |y| ≤ m. With x = e^−α, w = 1 − x and t = e^{−αm} the variance is:

        E Y² = 2x (1 + x − t (mw + 1)² − xt)/(w² (w + 2x(1 − t))).

    The numerator and w cancel for small α. They are computed with so many digits that enough remain.

    Args:
        decay_rate: rate α ≥ 0 of the noise.
        levels: largest absolute value m of the noise.

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
    """Return the number of bits of one coordinate of a message, ⌈log₂(2(s + m) + 1)⌉ (Das et al., equation (7)).

    Args:
        quantization_levels: largest absolute value s of the rounded coordinate.
        noise_levels: largest absolute value m of the noise.
    """
    return (2 * (quantization_levels + noise_levels)).bit_length()


def extra_bits(quantization_levels: int, noise_levels: int) -> int:
    """Return the number of bits that noise adds to the ⌈log₂(2s + 1)⌉ bits of a rounded coordinate.

    Args:
        quantization_levels: largest absolute value s of the rounded coordinate.
        noise_levels: largest absolute value m of the noise.
    """
    bits_without_noise = bits_per_coordinate(quantization_levels, 0)
    return bits_per_coordinate(quantization_levels, noise_levels) - bits_without_noise

"""Estimate of the least level of truncation of discrete Laplace noise for a δ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def likely_levels(decay_rate: float, parts: Sequence[tuple[int, int]], log_delta: float) -> float:
    """Estimate the least level m of truncation for δ, in doubles, as a start of `least_levels`.

    Lemma 1 of Das et al. is solved for x = e^(−α(m+1)). The estimate affects the number of trials, not the result. With
    g = Σ count (e^(αk) − 1), g x/(1 + e^−α − 2x) coordinates are expected to escape: their output is impossible for the
    neighbour. This number is about −log(1 − δ).

    Args:
        decay_rate: rate α of the noise P(y) ∝ e^(−α|y|).
        parts: pairs of a shift k and the number of coordinates with that shift.
        log_delta: natural logarithm of δ.

    Returns:
        m, not rounded. It is 0 if there is no shift, α = 0 or δ ≥ 1.
    """
    exponents = [(decay_rate * size, count) for size, count in parts if size and count]
    if not exponents or decay_rate == 0.0 or not log_delta < 0.0:
        return 0.0

    # log g, with the largest e^(αk) taken out of the sum.
    largest = max(exponent for exponent, _ in exponents)
    scaled_terms = [count * math.exp(exponent - largest) * -math.expm1(-exponent) for exponent, count in exponents]
    log_g = largest + math.log(math.fsum(scaled_terms))

    # The equation for the expected number of escapes, solved for x and then for m.
    log_ratio = _log_expected_escapes(log_delta) - log_g
    log_numerator = math.log1p(math.exp(-decay_rate))
    log_denominator = math.log1p(2.0 * math.exp(min(log_ratio, 700.0)))  # no overflow
    log_x = log_ratio + log_numerator - log_denominator
    return -log_x / decay_rate - 1.0


def _log_expected_escapes(log_delta: float) -> float:
    """Return ln(−ln(1 − δ)), the log of the expected number of rare events of which one happens with probability δ.

    1 − δ is computed without cancellation if δ is close to 1, and the result is ln δ for tiny δ.

    Args:
        log_delta: ln δ, below 0.

    Returns:
        The log of the expected number, ln(−ln(1 − δ)).
    """
    # For δ < e^−40, −ln(1 − δ) is δ to all digits.
    if log_delta < -40.0:
        return log_delta
    # For δ above about one half, 1 − δ is computed with `expm1`.
    if log_delta > -0.7:
        return math.log(-math.log(-math.expm1(log_delta)))
    return math.log(-math.log1p(-math.exp(log_delta)))

"""Estimate of the least level of truncation of discrete Laplace noise for a δ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def likely_levels(decay_rate: float, parts: Sequence[tuple[int, int]], log_delta: float) -> float:
    """Estimate the least level m at which discrete Laplace noise may be truncated for a given δ.

    It is the start of the search of `least_levels`, and does not affect its result. A coordinate escapes if its output
    is impossible for the neighbour. By Lemma 1 of Das et al., the expected number of escapes is:

        g x/(1 + e^−α − 2x),   g = Σ count (e^(αk) − 1),   x = e^(−α(m + 1)).

    An escape has the probability δ if this number is about −ln(1 − δ). The equation is solved for x, and then for m.

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

    # log g. The largest e^(αk) is taken out of the sum, so that it does not overflow.
    largest = max(exponent for exponent, _ in exponents)
    scaled_terms = [count * math.exp(exponent - largest) * -math.expm1(-exponent) for exponent, count in exponents]
    log_g = largest + math.log(math.fsum(scaled_terms))

    log_ratio = _log_expected_escapes(log_delta) - log_g
    log_numerator = math.log1p(math.exp(-decay_rate))
    log_denominator = math.log1p(2.0 * math.exp(min(log_ratio, 700.0)))  # the limit avoids an overflow
    log_x = log_ratio + log_numerator - log_denominator
    return -log_x / decay_rate - 1.0


def _log_expected_escapes(log_delta: float) -> float:
    """Return ln(−ln(1 − δ)), the log of the expected number of rare events, if one or more occur with probability δ.

    Args:
        log_delta: ln δ, below 0.
    """
    # For δ < e^−40, −ln(1 − δ) equals δ up to rounding.
    if log_delta < -40.0:
        return log_delta
    # For δ above about 1/2, `expm1` computes 1 − δ without cancellation.
    if log_delta > -0.7:
        return math.log(-math.log(-math.expm1(log_delta)))
    return math.log(-math.log1p(-math.exp(log_delta)))

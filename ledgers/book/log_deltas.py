"""Logarithms of δ, as answers about ledgers have them."""

from __future__ import annotations

import math


def short_log10(log_delta: float) -> float:
    """Return log10 of a δ, as it was written if that was a short number: a target is read, not certified."""
    exact = log_delta / math.log(10.0)
    return round(exact, 9) if math.isclose(exact, round(exact, 9), rel_tol=1e-15) else exact


def short_delta(log_delta: float) -> float | None:
    """Return a δ, as it was written if that was a short number; None if it is below every double."""
    exact = math.exp(log_delta)
    short = float(f"{exact:.9g}")
    is_short = short > 0.0 and math.isclose(math.log(short), log_delta, rel_tol=1e-15)
    return (short if is_short else exact) or None


def log10_above(log_delta: float) -> float:
    """Return an upper bound of log10 of a δ."""
    return above(log_delta / math.log(10.0))


def above(rounded: float) -> float:
    """Return a bound above the rounding of a division by log 10."""
    return rounded if math.isinf(rounded) else rounded + 8e-16 * abs(rounded)

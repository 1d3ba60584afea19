"""δ of zero-concentrated differential privacy at one ε, about."""

from __future__ import annotations

import math

from epsilond.accountants.profiles.concentrated import LARGEST_EXPONENT, minimiser_at

_NEARLY = 1e-9
"""Relative tolerance of the minimiser's logarithm; the error of the bound is about its square."""


def likely_concentrated_log_delta(rho: float, epsilon: float) -> float:
    """Return an estimate of the log δ(ε) that ρ-zCDP gives."""
    log_b = minimiser_at(rho, epsilon, near=_NEARLY)
    b = math.exp(min(log_b, LARGEST_EXPONENT))
    if log_b < 0.0:
        return b * ((b + 1.0) * rho - epsilon) + b * log_b - (b + 1.0) * math.log1p(b)
    return b * ((b + 1.0) * rho - epsilon) - log_b - (b + 1.0) * math.log1p(math.exp(-log_b))

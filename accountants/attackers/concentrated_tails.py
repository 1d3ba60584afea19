"""Far losses of zero-concentrated privacy against those of a Gaussian pair.

Let D_a ≤ ρ a at every order, m = √(2ρ), y = (ε − ρ)/m for ε > ρ, and x = ε/μ − μ/2. At the order 1 + y/m the bound on δ
from ρ (Canonne, Kamath and Steinke 2020, Proposition 12) is at most e^{−y²/2 − 1} m/y. Mills' ratio M(u) is below
(u² + 2)/(u³ + 3u), so 1 − u M(u) > 1/(u² + 3). Hence δ_μ = φ(x) (M(x) − M(x + μ)) exceeds φ(x) μ/((x + μ)² + 3) for
x > 0. The logarithm of the quotient of the two bounds is:

    g(ε) = y²/2 + 1 + log(y/m) − x²/2 − log √(2π) + log μ − log((x + μ)² + 3).

Its derivative is at least ε (1/m² − 1/μ²) − 1/ε, as y/m − x/μ = ε (1/m² − 1/μ²). So δ ≤ δ_μ from ε on if g(ε) ≥ 0 and
ε² (1/m² − 1/μ²) ≥ 1.
"""

from __future__ import annotations

import math

TAIL_LOG_DELTA = -600.0
"""log δ from which on ρ bounds δ, if that gives a μ. Tables of integer noise list outcomes down to about −880."""
_BISECTIONS = 60
"""Number of bisections, after which the interval is as narrow as the distance of two doubles."""
_MARGIN = 1e-9
"""Margin of both conditions, above their rounding at ε ≤ 1e15: 100 units of y²."""


def is_below_gaussian_from(epsilon: float, rho: float, mu: float) -> bool:
    """Return whether δ of every ρ-zCDP mechanism is proved to be at most that of a Gaussian pair from an ε on.

    zCDP is zero-concentrated differential privacy, and the pair is N(μ, 1) against N(0, 1). Let m = √(2ρ),
    y = (ε − ρ)/m and x = ε/μ − μ/2. It is proved if μ > m, x > 0, y > 0, ε² (1/m² − 1/μ²) ≥ 1 and:

        y²/2 − x²/2 + 1 + log(y/m) − log √(2π) + log μ − log((x + μ)² + 3) ≥ 0.

    The left side is a lower bound on log(δ_μ/δ), where δ_μ is that of the Gaussian pair.

    Source: docs/attackers.md.

    Args:
        epsilon: ε > 0, in nats.
        rho: ρ > 0.
        mu: μ > 0, in standard deviations.

    Returns:
        True if it is proved; False if the conditions do not hold by more than their rounding errors.
    """
    m = math.sqrt(2.0 * rho)
    y, x = (epsilon - rho) / m, epsilon / mu - 0.5 * mu
    if not (y > 0.0 and x > 0.0 and mu > m):
        return False

    # From ε² (1/m² − 1/μ²) = 1 on, the quotient increases in ε, so that its value at ε is the smallest.
    scaled_slope = epsilon * epsilon * (1.0 / m - 1.0 / mu) * (1.0 / m + 1.0 / mu)
    is_increasing = scaled_slope >= 1.0 + _MARGIN

    half_squares = 0.5 * (y - x) * (y + x)
    logs = 1.0 + math.log(y / m) - 0.5 * math.log(2.0 * math.pi) + math.log(mu) - math.log((x + mu) ** 2 + 3.0)
    return is_increasing and half_squares + logs >= _MARGIN * (1.0 + y * y + x * x)


def least_mu_from(epsilon: float, rho: float) -> float:
    """Return a μ such that, from an ε on, δ of every ρ-zCDP mechanism is at most that of N(μ, 1) against N(0, 1).

    zCDP is zero-concentrated differential privacy. The μ is about the least that `is_below_gaussian_from` proves.

    Args:
        epsilon: ε > ρ, in nats.
        rho: ρ > 0.

    Returns:
        The μ, above √(2ρ); math.inf if no μ is proved.
    """
    # Double the distance from √(2ρ) until a μ is proved, or until it is too large to be useful.
    m = math.sqrt(2.0 * rho)
    largest = 4.0 * m + 4.0 * math.sqrt(epsilon)
    low, high = m, m * (1.0 + 2.0**-20)
    while not is_below_gaussian_from(epsilon, rho, high):
        low, high = high, m + 2.0 * (high - m)
        if high > largest:
            return math.inf

    # Bisect between a μ that is not proved and one that is.
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if is_below_gaussian_from(epsilon, rho, middle):
            high = middle
        else:
            low = middle
    return high

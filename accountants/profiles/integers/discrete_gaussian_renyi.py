"""The Rényi divergence of discrete Gaussian noise and its shift by k, at every real order.

Let θ(f) be the sum of e^{−(y − f)²/2σ²} over the integers y. The square is completed in Σ p(y)^a p(y − k)^{1 − a}, so:

    D_a = a k²/2σ² + log(θ((a − 1) k)/θ(0))/(a − 1).

θ has period 1 and, by Poisson's summation, its largest value at integers. So D_a ≤ a k²/2σ², with equality for integers
(a − 1) k. The distance f of (a − 1) k to the next integer is exact in fractions. The quotient follows from positive
terms: with A_y = e^{(yf − y²/2)/σ²} (1 − e^{−yf/σ²})²:

    θ(f)/θ(0) = e^{−f²/2σ²} (1 + Σ_{y ≥ 1} A_y/θ(0)).

From σ = 3 on the quotient is within 5 e^{−2π²σ²} of 1. Source: docs/integer-noise.md, Divergences at given orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.numerics.outward import round_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

_FLAT_FROM = 3.0
"""Scale from which θ is constant within 5 e^{−2π²σ²}, below e^{−175}."""
_LISTED = 256
"""Number of listed integers y ≥ 1 below that scale; A_y beyond is below e^{−3000}, and leaving it out is valid."""


@dataclass(frozen=True)
class DiscreteGaussianRenyi:
    """The Rényi divergences of discrete Gaussian noise, P(y) ∝ e^{−y²/2σ²} on the integers, and its shift by k.

    With the sum θ(f) of e^{−(y − f)²/2σ²} over the integers y, the divergence of order a is:

        a k²/2σ² + log(θ((a − 1) k)/θ(0))/(a − 1).

    The second term is at most 0.

    Attributes:
        scale: scale σ of the noise.
        shift: shift k ≥ 1, the sensitivity of the released integer.
    """

    scale: float
    shift: int

    @property
    def rho(self) -> float:
        """A number ρ such that the Rényi divergence of every order a > 1 is at most ρ a: k²/2σ², rounded up."""
        return round_up(Fraction(self.shift) ** 2 / (2 * Fraction(self.scale) ** 2))

    def divergence(self, order: float) -> Interval:
        """Return bounds on the Rényi divergence of order a, which is the same in both directions.

        The divergence of a normal distribution and its shift, a k²/(2σ²), is an upper bound. A term that is at most 0
        is added: the log of a quotient of sums over the integers, divided by a − 1.

        Args:
            order: order a > 1.

        Returns:
            Lower and upper bound, in nats.
        """
        shift, scale = Fraction(self.shift), Fraction(self.scale)
        normal_divergence = round_up(Fraction(order) * shift**2 / (2 * scale**2))

        # The quotient depends only on the distance of (a − 1) k from the nearest integer.
        excess = order - 1.0
        product = (Fraction(order) - 1) * self.shift
        distance = abs(float(product - round(product)))
        log_quotient = self._log_quotient(distance)

        lower = normal_divergence + log_quotient.lower / excess
        upper = normal_divergence + log_quotient.upper / excess
        # Error of the quotient and of the sum, relative to their terms.
        rounding = 16 * UNIT_ROUNDOFF * (normal_divergence + max(map(abs, log_quotient)) / excess)
        return Interval(max(lower - rounding, 0.0), min(upper + rounding, normal_divergence))

    def _log_quotient(self, distance: float) -> Interval:
        """Return bounds on log(θ(f)/θ(0)), where θ(f) is the sum of e^{−(y − f)²/2σ²} over all integers y.

        For a large scale σ the quotient is almost 1, by Poisson's summation formula. Otherwise it is:

            e^{−f²/2σ²} (1 + Σ_{y ≥ 1} A_y/θ(0)),   A_y = e^{(yf − y²/2)/σ²} (1 − e^{−yf/σ²})².

        Args:
            distance: f in [0, 1/2], rounded once.

        Returns:
            A lower and an upper bound on the natural logarithm, at most 0.
        """
        if distance == 0.0:
            return Interval(0.0, 0.0)
        variance = self.scale * self.scale
        if self.scale >= _FLAT_FROM:
            # Poisson's summation bounds the quotient; the exponent is rounded toward 0.
            return Interval(-5.0 * math.exp(-2.0 * math.pi**2 * variance * (1.0 - 8 * UNIT_ROUNDOFF)), 0.0)

        outcomes = np.arange(1.0, _LISTED + 1.0)
        with np.errstate(under="ignore", over="ignore"):
            # A_y and θ(0).
            exponents = outcomes / variance * (distance - 0.5 * outcomes)
            terms = np.exp(exponents) * np.expm1(-outcomes * distance / variance) ** 2
            total = 1.0 + 2.0 * float(np.sum(np.exp(-0.5 * outcomes / variance * outcomes)))
            # Each exponent has a few roundings of its own size; 2 |x| e^x covers the terms that matter.
            error = 16 * UNIT_ROUNDOFF * float(np.sum(terms * (1.0 + np.minimum(np.abs(exponents), 1e3))))

        ratio = float(np.sum(terms)) / total
        fall = 0.5 * distance * distance / variance
        rise = math.log1p(ratio)
        # Errors of the sum, and of the few roundings of both terms. 1e-300 covers results below the normal doubles.
        slack = 2.0 * error + 32 * UNIT_ROUNDOFF * (fall + rise) + 1e-300
        return Interval(rise - fall - slack, min(rise - fall + slack, 0.0))

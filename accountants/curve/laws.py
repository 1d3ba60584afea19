"""Exact distributions of a privacy loss, as data.

A *law* names an ordered pair (P, Q). The transform K(z) = log E_P[e^{zL}] of its loss L = log dP/dQ is known, not
merely bounded. The contour engine composes pairs that carry laws; pairs without one are composed from their profiles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from epsilond.accountants.errors import InvalidInput

Direction: TypeAlias = Literal["remove", "add", "replace"]

_REVERSED: dict[Direction, Direction] = {"remove": "add", "add": "remove", "replace": "replace"}


def _demand(pointer: str, holds: bool, allowed: str) -> None:
    if not holds:
        raise InvalidInput.at(pointer, "is outside its range", allowed=allowed)


@dataclass(frozen=True)
class GaussianLaw:
    """N(μ, 1) against N(0, 1), in either order: the loss is N(μ²/2, μ²) under the first law.

    Attributes:
        mu: distance of the means in standard deviations, 0 ≤ μ < ∞. The law is that of this very float.

    Raises:
        InvalidInput: μ is negative or not finite.
    """

    mu: float

    def __post_init__(self) -> None:
        _demand("/mu", 0.0 <= self.mu < math.inf, "0 ≤ μ < ∞")

    @property
    def distance(self) -> float:
        """μ."""
        return self.mu

    def reversed(self) -> GaussianLaw:
        """The pair in the other order: the same law."""
        return self


@dataclass(frozen=True)
class SampledGaussianLaw:
    """One step of the Poisson-subsampled Gaussian mechanism, in one order of one neighbouring relation.

    With N_m = N(m, 1) in units of the noise's standard deviation, q the rate and s the shift:

        "remove"    (1 − q) N_0 + q N_s  against  N_0
        "add"       N_0  against  (1 − q) N_0 + q N_s
        "replace"   (1 − q) N_0 + q N_s  against  (1 − q) N_0 + q N_{−s}

    Attributes:
        rate: probability q that the contribution is drawn, 0 ≤ q ≤ 1.
        shift: norm of one contribution over the noise's standard deviation (1/z for noise multiplier z), 0 ≤ s < ∞.
            The law is that of this very float; who divides rounds, and answers for it.
        direction: which of the three pairs.

    Raises:
        InvalidInput: a number is outside its range, or the direction is unknown.
    """

    rate: float
    shift: float
    direction: Direction

    def __post_init__(self) -> None:
        _demand("/rate", 0.0 <= self.rate <= 1.0, "0 ≤ rate ≤ 1")
        _demand("/shift", 0.0 <= self.shift < math.inf, "0 ≤ shift < ∞")
        _demand("/direction", self.direction in _REVERSED, ", ".join(_REVERSED))

    @property
    def distance(self) -> float:
        """Of the means if every contribution is drawn, in standard deviations.

        Both laws are mixtures with the same weights of laws at most as far apart, so that the pair of N(distance, 1)
        and N(0, 1) dominates (joint convexity).
        """
        return 2.0 * self.shift if self.direction == "replace" else self.shift

    def reversed(self) -> SampledGaussianLaw:
        """The pair in the other order."""
        return SampledGaussianLaw(self.rate, self.shift, _REVERSED[self.direction])


Law: TypeAlias = GaussianLaw | SampledGaussianLaw

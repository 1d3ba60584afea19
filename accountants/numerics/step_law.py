"""Distributions of atoms and uniform pieces, with bounds on the errors of their numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_LEGENDRE_POINTS, _LEGENDRE_WEIGHTS = np.polynomial.legendre.leggauss(40)
LARGEST_PIECE_EXPONENT = 30.0
"""Largest |z|ℓ/2 for which 40 nodes integrate e^{zy} over an interval of length ℓ.

The error is within e^−46 of the integral of |e^{zy}|.
"""


class Pieces(NamedTuple):
    """Uniform components of a mixture, each on an interval.

    Attributes:
        low: lower bound of each interval.
        high: upper bound of each interval.
        mass: probability of each component.
    """

    low: FloatArray
    high: FloatArray
    mass: FloatArray

    def tilt(self, tilt: float, log_moment: float) -> TiltedPieces:
        """Tilt the pieces: multiply their densities by e^{λx}/M(λ), where M(λ) is the mean of e^{λY} of the mixture Y.

        The integral of e^{λx} over a piece of mass m, centre y and length ℓ gives the tilted mass:

            m e^{λy} (sinh a / a)/M(λ)    with a = λℓ/2.

        Args:
            tilt: exponent λ > 0.
            log_moment: log M(λ).

        Returns:
            The pieces, with their tilted masses rounded down, and the numbers a.
        """
        # The lower limit of a prevents 0/0 in sinh(a)/a, which is 1 within rounding there.
        a = np.maximum(0.5 * tilt * (self.high - self.low), 1e-8)
        # sinh(a)/a = e^a (1 − e^{−2a})/(2a). Logarithms prevent an overflow for a large λ.
        log_growth = 0.5 * tilt * (self.high + self.low) + a + np.log(-np.expm1(-2.0 * a) / (2.0 * a))
        rounding_factor = 1.0 - 1e-9  # far more than the errors of the exponentials
        tilted_masses = self.mass * np.exp(log_growth - log_moment) * rounding_factor
        return TiltedPieces(self, tilted_masses, a)


class TiltedPieces(NamedTuple):
    """Uniform pieces of a mixture after a tilt by λ: each has a density proportional to e^{λx} on its interval.

    Attributes:
        pieces: the pieces before the tilt.
        masses: lower bounds on the probabilities of the pieces after the tilt.
        half_tilts: a = λℓ/2 for the length ℓ of each piece, at least 1e-8.
    """

    pieces: Pieces
    masses: FloatArray
    half_tilts: FloatArray

    def transform_decrease(self, t: float) -> float:
        """Return a lower bound on 1 − |φ(t)|, where φ is the characteristic function of the tilted mixture.

        The bound increases in t. It is Σ m (1 − |φ_piece(t)|), summed over the tilted masses m. With y = tℓ/2 and
        a = λℓ/2, the tilted piece of length ℓ has:

            |φ_piece(t)|² = a² (1 + (sin y/sinh a)²)/(a² + y²).

        This decreases on 0 ≤ y ≤ π. It is at most (a coth a)²/(a² + y²), which decreases everywhere. This bound is used
        for y ≥ π instead.

        Args:
            t: frequency, at least 0.

        Returns:
            The lower bound, in [0, 1].
        """
        a = self.half_tilts
        y = 0.5 * t * (self.pieces.high - self.pieces.low)
        bound_beyond_pi = a / np.tanh(a) / np.hypot(a, np.maximum(y, math.pi))
        # Beyond a = 300, where sinh would overflow soon, the ratio is negligible.
        sine_ratio = np.sin(np.minimum(y, math.pi)) / np.sinh(np.minimum(a, 300.0))
        modulus_below_pi = a * np.sqrt((1.0 + sine_ratio * sine_ratio) / (a * a + y * y))
        # The maximum keeps the bound monotone at y = π.
        bound = np.where(y < math.pi, np.maximum(modulus_below_pi, bound_beyond_pi), bound_beyond_pi)
        # A larger |φ_piece| lowers the result. The factor exceeds the rounding error.
        modulus = bound * (1.0 + 1e-12)
        return float(self.masses @ (1.0 - np.minimum(modulus, 1.0)))


class WeightedPoints(NamedTuple):
    """Distribution on finitely many points, with bounds on the errors of its numbers.

    Attributes:
        points: values of the variable.
        weights: probability of each point.
        point_errors: bounds on the absolute errors of the points.
        weight_errors: bounds on the absolute errors of the weights.
    """

    points: FloatArray
    weights: FloatArray
    point_errors: FloatArray
    weight_errors: FloatArray


NO_PIECES = Pieces(np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class StepLaw:
    """Distribution of a variable Y with atoms (single values of positive probability) and uniform pieces.

    The remaining probability, 1 minus that of all atoms and pieces, is at Y = 0.

    Attributes:
        atoms: the atoms, with the errors of their values and probabilities.
        pieces: intervals with a constant density. They are exact.
    """

    atoms: WeightedPoints
    pieces: Pieces = NO_PIECES

    @cached_property
    def nodes(self) -> WeightedPoints:
        """The atoms, and 40 Gauss–Legendre nodes for each uniform piece, as one distribution on points.

        It replaces Y in means of e^{zY}, for a complex number z. The error is negligible if |z|ℓ/2 is at most
        `LARGEST_PIECE_EXPONENT` for the length ℓ of every piece.
        """
        low, high, mass = self.pieces
        centre, half_length = 0.5 * (high + low)[:, None], 0.5 * (high - low)[:, None]
        piece_points = (centre + half_length * _LEGENDRE_POINTS).ravel()
        piece_weights = (0.5 * mass[:, None] * _LEGENDRE_WEIGHTS).ravel()
        # Margins for the roundings above and for those of the Gauss–Legendre rule itself.
        point_errors = 4 * UNIT_ROUNDOFF * np.abs(piece_points)
        weight_errors = 64 * UNIT_ROUNDOFF * piece_weights
        return WeightedPoints(
            points=np.concatenate((self.atoms.points, piece_points)),
            weights=np.concatenate((self.atoms.weights, piece_weights)),
            point_errors=np.concatenate((self.atoms.point_errors, point_errors)),
            weight_errors=np.concatenate((self.atoms.weight_errors, weight_errors)),
        )

    @cached_property
    def largest_value(self) -> float:
        """Largest value of Y, at least 0."""
        largest_node = float(self.nodes.points.max(initial=0.0))
        largest_end = float(self.pieces.high.max(initial=0.0))
        return max(0.0, largest_node, largest_end)

    @property
    def largest_magnitude(self) -> float:
        """Largest value of |Y|; 0 if there are neither atoms nor pieces."""
        values = np.concatenate((self.nodes.points, self.pieces.low, self.pieces.high))
        return float(np.abs(values).max(initial=0.0))

    def divide(self, exponent: int) -> StepLaw:
        """Return the distribution of Y / 2^exponent, where Y has this distribution.

        The division is exact unless a value underflows. The error bound of each atom is increased by the least positive
        double, which covers underflow.

        Args:
            exponent: integer of any sign.

        Returns:
            The distribution of the quotient.
        """
        scale = math.ldexp(1.0, -exponent)
        errors = scale * self.atoms.point_errors + math.ulp(0.0)
        atoms = self.atoms._replace(points=scale * self.atoms.points, point_errors=errors)
        low, high, mass = self.pieces
        return StepLaw(atoms, Pieces(scale * low, scale * high, mass))

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
"""Largest |z|ℓ/2 at which 40 nodes integrate e^{zy} over a piece of length ℓ, within e^−46 of the integral at Re z."""


class Pieces(NamedTuple):
    """Uniform distributions on intervals, which are parts of a mixture.

    Attributes:
        low: lower end of each interval.
        high: upper end of each interval.
        mass: probability of each interval.
    """

    low: FloatArray
    high: FloatArray
    mass: FloatArray

    def tilt(self, tilt: float, log_moment: float) -> TiltedPieces:
        """Return the masses of the uniform pieces under the distribution with density e^{λy}/M(λ), rounded down.

        A piece of mass m, centre y and length ℓ has the tilted mass m e^{λy} (sinh a / a)/M(λ), a = λℓ/2. This follows
        from the integral of e^{λx} over the piece.

        Args:
            tilt: exponent λ > 0 of the weights e^{λy}.
            log_moment: log M(λ), where M(λ) is the mean of e^{λY}.

        Returns:
            The pieces, with their tilted masses and the numbers a.
        """
        a = np.maximum(0.5 * tilt * (self.high - self.low), 1e-8)  # not 0, where sinh(a)/a is 0/0
        # sinh(a)/a = e^a (1 − e^{−2a})/(2a), in logarithms as λ may be large.
        log_growth = 0.5 * tilt * (self.high + self.low) + a + np.log(-np.expm1(-2.0 * a) / (2.0 * a))
        rounding_factor = 1.0 - 1e-9  # far more than the errors of the exponentials
        tilted_masses = self.mass * np.exp(log_growth - log_moment) * rounding_factor
        return TiltedPieces(self, tilted_masses, a)


class TiltedPieces(NamedTuple):
    """Uniform pieces of a distribution after a tilt by λ: each has a density proportional to e^{λy} on its interval.

    Attributes:
        pieces: the pieces before the tilt.
        masses: their tilted masses.
        half_tilts: a = λℓ/2 for each length ℓ.
    """

    pieces: Pieces
    masses: FloatArray
    half_tilts: FloatArray

    def transform_decrease(self, t: float) -> float:
        """Return a lower bound on 1 − |φ(t)|, which increases in t, for the tilted characteristic function φ.

        A tilted distribution has its density multiplied by e^{λy} and normalised. With y = tℓ/2 and a = λℓ/2, a piece
        of length ℓ has

            |φ_piece(t)|² = (a/sinh a)² (sinh²a + sin²y)/(a² + y²).

        It decreases on 0 ≤ y ≤ π and stays below (a coth a)²/(a² + y²). The bound is Σ m (1 − |φ_piece(t)|) over the
        tilted masses m.

        Args:
            t: frequency, at least 0.

        Returns:
            The lower bound, in [0, 1].
        """
        a = self.half_tilts
        y = 0.5 * t * (self.pieces.high - self.pieces.low)
        bound_beyond_pi = a / np.tanh(a) / np.hypot(a, np.maximum(y, math.pi))
        sine_ratio = np.sin(np.minimum(y, math.pi)) / np.sinh(np.minimum(a, 300.0))  # no overflow
        exact = a * np.sqrt((1.0 + sine_ratio * sine_ratio) / (a * a + y * y))
        bound = np.where(y < math.pi, np.maximum(exact, bound_beyond_pi), bound_beyond_pi)
        # Raise |φ_piece| by more than its rounding error; a larger modulus lowers the bound.
        modulus = bound * (1.0 + 1e-12)
        return float(self.masses @ (1.0 - np.minimum(modulus, 1.0)))


class WeightedPoints(NamedTuple):
    """A distribution on finitely many points, with the errors of its numbers.

    Attributes:
        points: values of the variable.
        weights: their probabilities.
        point_errors, weight_errors: absolute error bounds of both.
    """

    points: FloatArray
    weights: FloatArray
    point_errors: FloatArray
    weight_errors: FloatArray


NO_PIECES = Pieces(np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class StepLaw:
    """The distribution of a variable Y with single values of positive probability (atoms) and uniform pieces.

    The probability that atoms and pieces leave to 1 is at Y = 0.

    Attributes:
        atoms: the atoms, with the errors of their values and probabilities.
        pieces: intervals with a constant density. They are exact.
    """

    atoms: WeightedPoints
    pieces: Pieces = NO_PIECES

    @cached_property
    def nodes(self) -> WeightedPoints:
        """The atoms, and 40 Gauss–Legendre nodes for each uniform piece, as one distribution on points.

        Quadrature replaces the integral over a uniform piece by a weighted sum. Expectations of e^{zY} over the nodes
        are those over Y. This holds as long as |z|ℓ/2 is at most `LARGEST_PIECE_EXPONENT` for the length ℓ of every
        piece.
        """
        low, high, mass = self.pieces
        centre, half_length = 0.5 * (high + low)[:, None], 0.5 * (high - low)[:, None]
        piece_points = (centre + half_length * _LEGENDRE_POINTS).ravel()
        piece_weights = (0.5 * mass[:, None] * _LEGENDRE_WEIGHTS).ravel()
        point_errors = 4 * UNIT_ROUNDOFF * np.abs(piece_points)  # roundings of the nodes
        weight_errors = 64 * UNIT_ROUNDOFF * piece_weights  # roundings of the weights
        return WeightedPoints(
            points=np.concatenate((self.atoms.points, piece_points)),
            weights=np.concatenate((self.atoms.weights, piece_weights)),
            point_errors=np.concatenate((self.atoms.point_errors, point_errors)),
            weight_errors=np.concatenate((self.atoms.weight_errors, weight_errors)),
        )

    @cached_property
    def largest_value(self) -> float:
        """Largest value of Y, or 0 if no value is positive."""
        largest_node = float(self.nodes.points.max(initial=0.0))
        largest_end = float(self.pieces.high.max(initial=0.0))
        return max(0.0, largest_node, largest_end)

    @property
    def largest_magnitude(self) -> float:
        """Largest |Y| of any atom, quadrature node or end of a piece."""
        values = np.concatenate((self.nodes.points, self.pieces.low, self.pieces.high))
        return float(np.abs(values).max(initial=0.0))

    def divide(self, exponent: int) -> StepLaw:
        """Return the distribution of Y / 2^exponent, where Y has this distribution.

        The division is exact unless a value underflows. The error of each atom is increased by the least double, which
        covers underflow.

        Args:
            exponent: whole number.

        Returns:
            The distribution of the divided variable.
        """
        scale = math.ldexp(1.0, -exponent)
        errors = scale * self.atoms.point_errors + math.ulp(0.0)
        atoms = self.atoms._replace(points=scale * self.atoms.points, point_errors=errors)
        low, high, mass = self.pieces
        return StepLaw(atoms, Pieces(scale * low, scale * high, mass))

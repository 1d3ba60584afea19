"""The Gauss rule on panels of an interval of the noise, and a bound on its error (certificate, A2, Panels)."""

from __future__ import annotations

import decimal
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.accuracy import MOST_NODES
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.piece import Piece
    from epsilond.accountants.numerics.special import FloatArray

    BoolArray = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

_WIDEST_PANEL = 2.0
"""Largest width of a panel, in standard deviations; the charges for roundings of nodes allow for it."""
_WIDEST_ANGLE = 3.0
"""Largest width of a panel times the shift s: ellipses of height π/s, where r has zeros, then resolve e^−31."""
_ORDER = 24
"""Number of Gauss nodes of a panel; 24 resolve e^−31 of a normal density on the widest panel."""


def _gauss_rule(order: int) -> tuple[FloatArray, FloatArray]:
    """Return the nodes x_i and weights w_i on [−1, 1] of the Gauss–Legendre rule, each rounded correctly.

    The nodes are the roots of the Legendre polynomial P_n, and the weights are 2/((1 − x_i²) P_n′(x_i)²).

    Args:
        order: number n of nodes.

    Returns:
        The nodes, increasing, and the weights.
    """
    nodes, weights = [], []
    estimates, _ = np.polynomial.legendre.leggauss(order)
    with decimal.localcontext(decimal.Context(prec=40)):
        for estimate in estimates.tolist():
            x = decimal.Decimal(estimate)
            # Each Newton step doubles the number of correct digits, from about 16 to the 40 of the arithmetic.
            for _ in range(3):
                value, slope = _legendre(order, x)
                x -= value / slope
            weight = 2 / ((1 - x * x) * slope * slope)
            nodes.append(float(x))
            weights.append(float(weight))
    return np.asarray(nodes), np.asarray(weights)


def _legendre(order: int, x: decimal.Decimal) -> tuple[decimal.Decimal, decimal.Decimal]:
    """Return the Legendre polynomial P_n(x) and its derivative, in decimal arithmetic.

    Both follow from the recurrences:

        m P_m = (2m − 1) x P_{m−1} − (m − 1) P_{m−2},   (1 − x²) P_n′ = n (P_{n−1} − x P_n).

    Args:
        order: degree n ≥ 1.
        x: argument, different from ±1.

    Returns:
        The polynomial P_n(x), and its derivative P_n′(x).
    """
    # Start with P_0 = 1 and P_1 = x.
    previous, value = decimal.Decimal(1), x
    for m in range(2, order + 1):
        previous, value = value, ((2 * m - 1) * x * value - (m - 1) * previous) / m
    return value, order * (previous - x * value) / (1 - x * x)


POINTS, WEIGHTS = _gauss_rule(_ORDER)
_ELLIPSES = np.geomspace(1.15, 8.0, 8)[:, None]
"""Bernstein ellipses that are tried, by the sum ρ of their semiaxes: ρ = 8 has 99 nats, and one step takes 75."""


class Panels(NamedTuple):
    """A division of a piece's interval of the noise into panels, each with the nodes of a Gauss–Legendre rule.

    Attributes:
        piece: integrand and interval.
        starts: lower bounds of the panels minus that of the piece, in standard deviations of the noise.
        widths: widths of the panels.
    """

    piece: Piece
    starts: FloatArray
    widths: FloatArray

    @classmethod
    def widest(cls, piece: Piece) -> Panels:
        """Divide an interval of the noise into equal panels, as few as the limits on their width allow.

        Their number is a power of two, so that the division by it is exact.

        Args:
            piece: the interval, with its integrand.

        Returns:
            The panels, each of which has a Gauss rule.

        Raises:
            ContourRefused: they have more nodes than an answer may take.
        """
        length = piece.high - piece.low
        largest_width = min(_WIDEST_PANEL, _WIDEST_ANGLE / piece.ratio.shift)
        halvings = max(0, math.ceil(math.log2(length / largest_width)))
        count = 2**halvings
        # `MOST_NODES` is half the largest number of nodes over the noise.
        if count * POINTS.size > 2 * MOST_NODES:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{count} panels of the noise")
        width = length / count
        return cls(piece, starts=width * np.arange(float(count)), widths=np.full(count, width))

    def halve(self, chosen: BoolArray) -> Panels:
        """Divide some of the panels into two equal ones.

        Args:
            chosen: mask of the panels to halve.

        Returns:
            A new division of the same interval. The upper halves come after all other panels.
        """
        # A halved panel keeps its start. Its upper half is a new panel.
        widths = np.where(chosen, 0.5 * self.widths, self.widths)
        starts_of_upper_halves = (self.starts + widths)[chosen]
        return Panels(
            self.piece,
            starts=np.concatenate((self.starts, starts_of_upper_halves)),
            widths=np.concatenate((widths, widths[chosen])),
        )

    @property
    def _centres(self) -> FloatArray:
        """Middle of each panel, in standard deviations of the noise."""
        return np.asarray(self.piece.low + (self.starts + 0.5 * self.widths))

    @property
    def nodes(self) -> FloatArray:
        """Nodes of all panels, in standard deviations of the noise."""
        half_widths = (0.5 * self.widths)[:, None]
        return (self._centres[:, None] + half_widths * POINTS).reshape(-1)

    @property
    def log_weights(self) -> FloatArray:
        """Logarithms of the weights of all nodes, in the order of `nodes`."""
        return np.log((0.5 * self.widths)[:, None] * WEIGHTS).reshape(-1)

    def log_errors(self, tilt: float, frequency: float, lift: float = 0.0) -> FloatArray:
        """Return the log of a bound on the error of Gauss quadrature on each panel, an interval of the noise.

        The integrand f_z is the density of the first distribution times e^{zL}, with the privacy loss L. Let |f_z| ≤ B
        on the Bernstein ellipse of a panel with the sum ρ of its semiaxes, relative to the half-width h of the panel.
        Then the error of the Gauss rule with n nodes is at most:

            (64/15) h B ρ^{−2n}/(1 − ρ^{−2}).

        The best of several ρ is used. B is the maximum on the real axis, times a bound on the growth up to the height
        of the ellipse.

        Args:
            tilt: real part l of the exponent z.
            frequency: largest modulus of the imaginary part of z.
            lift: imaginary part of the noise on the path of integration. It is above 0 only for the bound on the decay
                of the moment with the frequency, which is computed at the frequency 0.

        Returns:
            One logarithm for each panel; inf if no ellipse is small enough.

        Source: docs/engine-certificate.md, A2, Panels; A3.
        """
        # Semiaxes of the ellipses, with a row for each ρ and a column for each panel.
        half_width = 0.5 * self.widths
        real_semiaxis = 0.5 * half_width * (_ELLIPSES + 1.0 / _ELLIPSES)
        height = 0.5 * half_width * (_ELLIPSES - 1.0 / _ELLIPSES)  # the imaginary semiaxis

        # log B. The bound is proved only up to a certain height, which some ellipses exceed.
        largest_height = self._largest_height(frequency, lift)
        low, high = self._centres - real_semiaxis, self._centres + real_semiaxis
        log_bound = self.piece.log_maximum(tilt, low, high)
        log_bound += self.piece.log_growth(tilt, frequency, low, high, np.minimum(height, largest_height), lift)

        log_powers = 2 * POINTS.size * np.log(_ELLIPSES)
        log_rule = np.log(64.0 / 15.0 * half_width) - log_powers - np.log1p(-(_ELLIPSES**-2.0))
        log_errors = np.where(height <= largest_height, log_bound + log_rule, np.inf)
        return np.asarray(log_errors.min(axis=0))

    def _largest_height(self, frequency: float, lift: float) -> float:
        """Return the largest height above the path of integration at which the bound on the integrand is proved.

        The path of integration over the complex noise has the imaginary part `lift`. A point at the height y above it
        must have (y + lift) s < π for the shift s. At the frequency 0, the bound is proved only up to y s = π/2.

        Args:
            frequency: largest modulus of the imaginary part of the exponent z in the moment E[e^{zL}].
            lift: imaginary part of the noise on the path of integration, which is 0 at a positive frequency.

        Returns:
            The largest height y, in standard deviations of the noise.

        Source: docs/engine-certificate.md, A3.
        """
        shift = self.piece.ratio.shift
        # Angles in radians, rounded down from π/2 and π.
        largest_angle = 1.57 if frequency == 0.0 else 3.1
        return min(3.1 / shift - lift, largest_angle / shift)

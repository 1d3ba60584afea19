"""The integrand on a line, and the enclosure of log D(ε) that it gives.

    D(ε) = (1/π) e^{K(l) − lε} ∫₀^∞ Re[ φ(t) e^{−it(ε − c)} / (z(1 + z)) ] dt,   z = l + it        (A0)

by the trapezoidal rule. In units of e^{K − lε} the alias (A1), the frequencies left out (A3), the quadratures over the
noise and every rounding (A2, A4) are charged; A5 adds them up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine.contour.accuracy import GOOD_NATS, MOST_NODES, NATS, QUADRATURE_NATS, RATIO
from epsilond.accountants.engine.contour.drawn_gaussian import DrawnGaussian
from epsilond.accountants.engine.contour.noise import exact_step, summation_error
from epsilond.accountants.engine.contour.part import Line, joined
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.saddle import TiltRange
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.part import ComplexArray, LineValues, Part
    from epsilond.accountants.engine.contour.saddle import Saddle
    from epsilond.accountants.numerics.special import FloatArray

_LEAST_NATS = 7.0
"""Nats of the share of δ that may be left out beyond the most frequencies: e^−7 is 1e-3, the widest that is taken."""
_MOST_PRODUCTS = 1 << 27
"""Nodes of the noise times frequencies, over all parts: half a second."""
_NEAR_TILTS = np.geomspace(0.3, 8.0, 10)
"""Distances from the saddle, in units of 1/√F″, of other tilts whose Chernoff bounds give the alias."""
_FAR_TILTS = np.geomspace(0.1, 2.2, 28)
"""More of them, in units of the saddle's tilt, where √F″ is large for rare giant losses."""
_SHARES = np.linspace(1.0, 0.28, 10)
"""Shares of the saddle's tilt at which the line may lie (A5, Lower tilts)."""


class ChernoffBounds(NamedTuple):
    """log D(ε) ≤ log_bounds − μ ε for each of some tilts μ ≥ 0, increasing from 0 (A1)."""

    tilts: FloatArray
    log_bounds: FloatArray

    def upper_log_delta(self, epsilon: float) -> float:
        """Return the least of the bounds, with their rounding, and 0."""
        rounding = 16 * UNIT_ROUNDOFF * (1.0 + np.abs(self.log_bounds) + self.tilts * abs(epsilon))
        return min(float((self.log_bounds - self.tilts * epsilon + rounding).min()), 0.0)

    def log_excess(self, tilt: float, period: float, epsilon: float) -> float:
        """log of the bound on Σ_{m≠0} e^{lmA} D(ε + mA): the best tilt on either side of l gives a geometric series."""
        apart = np.abs(self.tilts - tilt) * period
        size = np.abs(self.log_bounds) + self.tilts * abs(epsilon) + apart
        with np.errstate(divide="ignore"):
            logs = self.log_bounds - self.tilts * epsilon - apart - np.log(-np.expm1(-apart))
        logs = logs + 16 * UNIT_ROUNDOFF * (1.0 + size)
        above, below = (float(logs[side].min()) for side in (self.tilts > tilt, self.tilts < tilt))
        return float(np.logaddexp(above, below)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(above) + abs(below))

    def period(self, tilt: float, epsilon: float, target: float) -> float:
        """Return a period with which the excess is about e^target at most."""
        with np.errstate(divide="ignore"):
            needed = (self.log_bounds - self.tilts * epsilon - target) / np.abs(self.tilts - tilt)
        return max(float(needed[self.tilts > tilt].min()), float(needed[self.tilts < tilt].min()))


@dataclass(frozen=True)
class Integrand:
    """(Δt/π) φ^T e^{−itc}/(z(1 + z)) at the nodes of a line, the first halved, with all that encloses D at any ε.

    Guarantees: `fixed_error` bounds truncation, the growth of the transform's error under the power, and the roundings
    that know no ε.
    """

    line: Line
    values: LineValues
    chernoff: ChernoffBounds
    terms: ComplexArray
    fixed_error: float
    log_leak: float
    alone: DrawnGaussian | None

    @classmethod
    def of(cls, parts: Sequence[Part], line: Line, chernoff: ChernoffBounds, truncation: float) -> Integrand:
        """Evaluate all parts on the line (A4, The rest)."""
        most = _MOST_PRODUCTS // len(parts)
        values = joined(part.on_line(line, most) for part in parts)
        frequencies, scale = line.frequencies, line.spacing / math.pi
        z = line.tilt + 1j * frequencies
        terms = np.asarray(
            scale * np.exp(values.log_modulus + 1j * values.phase) / (z * (1.0 + z)), dtype=np.complex128
        )
        terms[0] *= 0.5
        sizes = np.abs(values.log_modulus) + np.abs(values.phase)
        relative = np.expm1(np.minimum(values.rounding + UNIT_ROUNDOFF * (4.0 * sizes + 32.0), 700.0))
        moduli, growth = np.abs(terms), values.log_growth
        largest = np.exp(np.minimum(values.log_modulus + growth, 700.0)) * scale / (frequencies**2 + line.tilt**2)
        grown = np.where(growth < 1.0, moduli * np.expm1(np.minimum(growth, 1.0)), largest)
        error = truncation + float(grown.sum()) + float(moduli @ (relative + summation_error(line.nodes)))
        leak = float(np.logaddexp.reduce([part.log_leak for part in parts]))
        alone = next((part for part in parts if isinstance(part, DrawnGaussian) and part.alone), None)
        return cls(line, values, chernoff, terms, 1.01 * error, leak, alone)

    def log_scale(self, epsilon: float) -> float:
        """Return K − l ε."""
        return self.values.cumulant - self.line.tilt * epsilon

    def _sums(self, epsilon: float) -> tuple[float, float, float]:
        """Return D in units of e^{K − lε} but for the alias, its derivative, and a bound of its error."""
        shift, frequencies = self.values.centre - epsilon, self.line.frequencies
        turned = self.terms * np.exp(1j * shift * frequencies)
        slope = -float((turned * (self.line.tilt + 1j * frequencies)).real.sum())
        rotation = 8 * UNIT_ROUNDOFF * (abs(shift) + abs(self.values.centre) + abs(epsilon))
        value, error = float(turned.real.sum()), self.fixed_error + rotation * float(np.abs(self.terms) @ frequencies)
        if self.alone is None:
            return value, slope, error
        beside = self.alone.beside(epsilon)  # what the transform leaves out (A8)
        log_unit = beside.log_scale - self.log_scale(epsilon)
        if log_unit > 600.0:
            raise ContourRefused(RefusalReason.NOT_POSITIVE, f"the tilt does not suit epsilon {epsilon:.6g}")
        middle, half = 0.5 * (beside.lower + beside.upper), 0.5 * (beside.upper - beside.lower)
        unit = math.exp(log_unit)
        return value + middle * unit, slope + beside.slope * unit, error + (half + 1e-14 * middle) * unit

    def enclosure(self, epsilon: float) -> Interval:
        """Enclose log D(ε), however far ε is from where the line was laid; far away it is wide, not wrong (A5).

        Guarantees: lower ≤ log D ≤ upper ≤ 0, never NaN; lower is −inf where the certificate is not positive.

        Raises:
            ContourRefused: the sum contradicts the Chernoff bound, so that something is wrong.
        """
        value, _, error = self._sums(epsilon)
        log_scale = self.log_scale(epsilon)
        size = abs(self.values.cumulant) + self.line.tilt * abs(epsilon) + 64.0
        scale_error = self.values.cumulant_error + 4 * UNIT_ROUNDOFF * size
        period = 2.0 * math.pi / self.line.spacing * (1.0 - 4 * UNIT_ROUNDOFF)
        excess = self.chernoff.log_excess(self.line.tilt, period, epsilon) - log_scale + scale_error
        lower = _outward(log_scale - scale_error, value - error - 1.001 * math.exp(min(excess, 600.0)), -1)
        upper = _outward(log_scale + scale_error, value + error, +1)
        chernoff = self.chernoff.upper_log_delta(epsilon)
        if lower > chernoff + scale_error:
            raise ContourRefused(RefusalReason.INCONSISTENT, f"log delta above {lower:.17g}, below {chernoff:.17g}")
        upper = min(float(np.logaddexp(min(upper, chernoff), self.log_leak)) * (1.0 - 8 * UNIT_ROUNDOFF), 0.0)
        return Interval(min(lower, upper), upper)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """Return log D(ε) and its derivative, for searches; nothing is certified.

        Raises:
            ContourRefused: the sum is not positive, or does not fall.
        """
        value, slope, _ = self._sums(epsilon)
        if not (value > 0.0 and slope < 0.0):
            raise ContourRefused(RefusalReason.NOT_POSITIVE, f"at epsilon {epsilon:.6g}")
        return self.log_scale(epsilon) + math.log(value), slope / value


def _outward(log_scale: float, value: float, side: int) -> float:
    """Return log_scale + log(value) moved outward by its rounding; −inf if value ≤ 0."""
    if value <= 0.0:
        return -math.inf
    log_value = log_scale + math.log(value)
    return log_value + side * 8 * UNIT_ROUNDOFF * (1.0 + abs(log_value) + abs(log_scale))


def laid(parts: Sequence[Part], saddle: Saddle, epsilon: float, log_delta: float) -> Integrand:
    """Lay a line for ε near that of a saddle, at which log D is about as given.

    Raises:
        ContourRefused: the integrand does not decay, or the nodes are too many, before the work is done.
    """
    tilts, chernoff = _chernoff(parts, saddle)
    at = _best_tilt(tilts, chernoff, saddle, epsilon, log_delta)
    period = chernoff.period(at.tilt, epsilon, log_delta - NATS)
    if not 0.0 < period < math.inf:
        raise ContourRefused(RefusalReason.NO_TILT, f"period {period:.3g}")
    spacing = exact_step(2.0 * math.pi / period)
    log_scale = at.cumulant - at.tilt * epsilon
    highest, truncation = _truncation(tilts, at, log_delta - log_scale, spacing * (MOST_NODES - 2))
    return Integrand.of(parts, Line(at.tilt, spacing, math.ceil(highest / spacing) + 1), chernoff, truncation)


def _chernoff(parts: Sequence[Part], saddle: Saddle) -> tuple[TiltRange, ChernoffBounds]:
    """Return bounds at tilts around the saddle's, as far beyond it as the nodes of the noise allow."""
    away = _NEAR_TILTS / saddle.width
    tilts = np.concatenate((saddle.tilt - away, [0.0, saddle.tilt], saddle.tilt + away, saddle.tilt * _FAR_TILTS))
    tilts = np.unique(tilts[tilts >= 0.0])
    try:
        reals = TiltRange.of(parts, float(tilts[-1]))
    except ContourRefused:
        reals = TiltRange.of(parts, saddle.tilt + float(away[0]))
    tilts = tilts[tilts <= reals.reach]
    return reals, ChernoffBounds(tilts, reals.upper_log_bounds(tilts))


def _best_tilt(tilts: TiltRange, chernoff: ChernoffBounds, saddle: Saddle, epsilon: float, log_delta: float) -> Saddle:
    """The share of a saddle's tilt with the shortest period, of those that lose few digits, or that which loses fewest.

    In units of δ the sum errs by what ends of the noise add and by roundings, times e^{K − lε}/δ.
    """
    shares = saddle.tilt * _SHARES
    log_unit = tilts.cumulants(shares) - shares * epsilon
    at_ends = sum(each.end_error(shares) for each in tilts.parts)
    log_error = log_unit - log_delta + np.log(at_ends + math.exp(-QUADRATURE_NATS))
    periods = [chernoff.period(tilt, epsilon, log_delta - NATS) for tilt in shares.tolist()]
    good = log_error <= -GOOD_NATS
    best = np.where(good, periods, np.inf).argmin() if good.any() else log_error.argmin()
    return tilts.saddle(float(shares[best]))


def _truncation(tilts: TiltRange, at: Saddle, log_delta: float, most: float) -> tuple[float, float]:
    """Return a last frequency and the bound on what is left out beyond it, in units of e^{K − lε} (A3).

    Σ_{k>n} (Δt/π) |g(t_k)| ≤ B(t_n) (1/π) ∫_{t_n}^∞ dt/(l² + t²); it is made e^−28 of D, or as small as can be.

    Raises:
        ContourRefused: it is not small by the last frequency that there may be.
    """
    first = min(5.0 / at.width, most)
    powers = np.arange(math.ceil(math.log(most / first) / math.log(RATIO)) + 1.0)
    frequencies = np.minimum(first * RATIO**powers, most)
    tails = np.log(np.arctan2(at.tilt, frequencies) / (math.pi * at.tilt))
    tails = tails + sum(each.log_decay(at.tilt, frequencies) for each in tilts.parts)
    enough = np.flatnonzero(tails <= log_delta - NATS)
    place = int(enough[0]) if enough.size else -1
    if not tails[place] <= log_delta - _LEAST_NATS:
        raise ContourRefused(RefusalReason.NO_DECAY, f"frequencies up to {most:.3g}")
    return float(frequencies[place]), 1.001 * math.exp(float(tails[place]))

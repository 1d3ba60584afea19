"""The integrand on a line, and the enclosure of log D(ε) that it gives.

    D(ε) = (1/π) e^{K(l) − lε} ∫₀^∞ Re[ φ(t) e^{−it(ε − c)} / (z(1 + z)) ] dt,   z = l + it        (A0)

by the trapezoidal rule. In units of e^{K − lε} the alias (A1), the frequencies left out (A3), the quadratures over the
noise and every rounding (A2, A4) are charged; A5 adds them up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.engine.contour.accuracy import MOST_NODES, NATS
from epsilond.accountants.engine.contour.chernoff import ChernoffBounds
from epsilond.accountants.engine.contour.part import Line, floor_spacing, join_parts, summation_error
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.saddle import by_epsilon, find_saddle
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.part import ComplexArray, LineValues, Part, Transform
    from epsilond.accountants.engine.contour.saddle import Saddle

WIDEST_LINE = 2e-3
"""Relative width of δ that is left to the frequencies beyond a line where no width is demanded."""
_FREQUENCIES = 48
"""Number of last frequencies that are tried, in geometric progression: a quarter more nodes than the fewest."""
_TILTS = np.geomspace(0.4, 6.0, 6)
"""Distances from the saddle, in units of 1/√F″, of the tilts on either side whose Chernoff bounds give the alias."""


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

    @classmethod
    def of(cls, parts: Sequence[Part], line: Line, chernoff: ChernoffBounds, truncation: float) -> Integrand:
        """Evaluate all parts on a line (A4, The rest).

        Args:
            parts: parts of the composition, with noise left out.
            line: frequencies and tilt.
            chernoff: bounds of D at other tilts, for the alias.
            truncation: bound on the part of the integral beyond the line's frequencies, in units of e^{K − lε}.
        """
        highest = line.nodes * line.spacing
        values = join_parts(part.resolve(line.tilt, highest).on_line(line) for part in parts)
        frequencies, scale = line.frequencies, line.spacing / math.pi
        z = line.tilt + 1j * frequencies
        power = np.exp(values.log_modulus + 1j * values.phase)
        terms = np.asarray(scale * power / (z * (1.0 + z)), dtype=np.complex128)
        terms[0] *= 0.5
        sizes = np.abs(values.log_modulus) + np.abs(values.phase)
        relative = np.expm1(np.minimum(values.rounding + UNIT_ROUNDOFF * (4.0 * sizes + 32.0), 700.0))
        moduli, growth = np.abs(terms), values.log_growth
        largest = np.exp(np.minimum(values.log_modulus + growth, 700.0)) * scale / (frequencies**2 + line.tilt**2)
        grown = np.where(growth < 1.0, moduli * np.expm1(np.minimum(growth, 1.0)), largest)
        error = truncation + float(grown.sum()) + float(moduli @ (relative + summation_error(line.nodes)))
        leak = float(np.logaddexp.reduce([part.log_leak for part in parts]))
        return cls(line, values, chernoff, terms, 1.01 * error, leak)

    def log_scale(self, epsilon: float) -> float:
        """Return K − l ε."""
        return self.values.cumulant - self.line.tilt * epsilon

    def _sums(self, epsilon: float) -> tuple[float, float, float]:
        """Return the sum for D in units of e^{K − lε}, its derivative, and a bound on its error without the alias."""
        shift, frequencies = self.values.centre - epsilon, self.line.frequencies
        turned = self.terms * np.exp(1j * shift * frequencies)
        slope = -float((turned * (self.line.tilt + 1j * frequencies)).real.sum())
        rotation = 8 * UNIT_ROUNDOFF * (abs(shift) + abs(self.values.centre) + abs(epsilon))
        error = self.fixed_error + rotation * float(np.abs(self.terms) @ frequencies)
        return float(turned.real.sum()), slope, error

    def enclosure(self, epsilon: float) -> Interval:
        """Enclose log D(ε) at any ε (A5). The enclosure is narrow only near the ε that the line was chosen for.

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
            ContourRefused: the sum is not positive.
        """
        value, slope, _ = self._sums(epsilon)
        if not value > 0.0:
            raise ContourRefused(RefusalReason.NOT_POSITIVE, f"at epsilon {epsilon:.6g}")
        return self.log_scale(epsilon) + math.log(value), slope / value


def _outward(log_scale: float, value: float, side: int) -> float:
    """Return log_scale + log(value) moved outward by its rounding; −inf if value ≤ 0."""
    if value <= 0.0:
        return -math.inf
    log_value = log_scale + math.log(value)
    return log_value + side * 8 * UNIT_ROUNDOFF * (1.0 + abs(log_value) + abs(log_scale))


def trim_parts(parts: Sequence[Part], log_delta: float, tilt: float = 0.0) -> list[Part]:
    """Cut off noise that contributes at most e^−28 of δ, and has little weight at a tilt (A2, Hard cut).

    Without the cut, rare giant losses could determine the saddle point, although they contribute nothing to δ.

    Args:
        parts: parts of a composition.
        log_delta: estimate of log δ.
        tilt: tilt of the line.
    """
    return [part.trim(log_delta - NATS - math.log(len(parts)), tilt) for part in parts]


def find_saddle_below(parts: Sequence[Part], epsilon: float) -> Saddle:
    """Return the saddle point of an ε below the largest total loss (A5, What the noise reaches).

    Args:
        parts: parts of the composition, with noise cut off.
        epsilon: ε in nats.

    Raises:
        ContourRefused: ε is above the largest total loss after the cut, so that no lower bound on δ is positive.
    """
    if math.fsum(part.largest_loss for part in parts) <= epsilon:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, f"no noise within its ends reaches {epsilon:.6g}")
    return find_saddle(parts, by_epsilon(epsilon))


def lay_integrand(
    parts: Sequence[Part], epsilon: float, log_delta: float, widest: float = WIDEST_LINE
) -> tuple[Integrand, Saddle]:
    """Evaluate the integrand of δ(ε) on the vertical line through the saddle point of ε.

    Args:
        parts: parts of the composition.
        epsilon: ε in nats, of any sign.
        log_delta: estimate of log D(ε).
        widest: largest useful relative width of the enclosure of δ.

    Returns:
        The integrand, and the saddle point.

    Raises:
        ContourRefused: the integrand does not decay, or needs too many nodes. Both are found before it is evaluated.
    """
    saddle = find_saddle_below(trim_parts(parts, log_delta), epsilon)
    return lay_near(trim_parts(parts, log_delta, saddle.tilt), saddle, epsilon, log_delta, widest), saddle


def lay_near(
    parts: Sequence[Part], saddle: Saddle, epsilon: float, log_delta: float, widest: float = WIDEST_LINE
) -> Integrand:
    """Evaluate the integrand of δ(ε) on the vertical line through a given saddle point.

    Args:
        parts: parts of the composition, with noise cut off.
        saddle: any saddle point. The line needs few nodes if it is near that of ε.
        epsilon: ε in nats, of any sign.
        log_delta: estimate of log D(ε).
        widest: largest useful relative width of the enclosure of δ.

    Raises:
        ContourRefused: the integrand does not decay, or needs too many nodes. Both are found before it is evaluated.
    """
    away = _TILTS / saddle.width
    tilts = np.concatenate((saddle.tilt - away, [0.0, saddle.tilt], saddle.tilt + away))
    tilts = np.unique(tilts[tilts >= 0.0])
    transforms = [part.resolve(float(tilts[-1]), 0.0) for part in parts]
    chernoff = ChernoffBounds.at(transforms, tilts)
    log_delta = min(log_delta, chernoff.upper_log_delta(epsilon))
    period = chernoff.shortest_period(saddle.tilt, epsilon, log_delta - NATS)
    if not 0.0 < period < math.inf:
        raise ContourRefused(RefusalReason.NO_TILT, f"period {period:.3g}")
    spacing = floor_spacing(2.0 * math.pi / period)
    log_unit = saddle.cumulant - saddle.tilt * epsilon
    highest, truncation = _truncate(transforms, saddle, log_delta - log_unit, spacing * (MOST_NODES - 2), widest)
    return Integrand.of(parts, Line(saddle.tilt, spacing, math.ceil(highest / spacing) + 1), chernoff, truncation)


def _truncate(
    transforms: Sequence[Transform], at: Saddle, log_delta: float, most: float, widest: float
) -> tuple[float, float]:
    """Choose the last frequency t_n of the integral, and bound the part beyond it in units of e^{K − lε} (A3).

    The part is at most B(t_n) (1/π) ∫_{t_n}^∞ dt/(l² + t²), with B the product of the decay bounds. The first
    frequency is chosen at which this is below e^−28 of D, or the largest frequency if there is none.

    Args:
        transforms: transforms of the parts.
        at: the saddle point, with tilt l.
        log_delta: estimate of log D, in the same units.
        most: largest frequency.
        widest: largest useful relative width of the enclosure of δ.

    Raises:
        ContourRefused: the part beyond the largest frequency is not small.
    """
    first = min(5.0 / at.width, most)
    frequencies = np.geomspace(first, most, _FREQUENCIES)
    tails = np.log(np.arctan2(at.tilt, frequencies) / (math.pi * at.tilt))
    tails = tails + sum(transform.log_decay(at.tilt, frequencies) for transform in transforms)
    enough = np.flatnonzero(tails <= log_delta - NATS)
    place = int(enough[0]) if enough.size else -1
    if not tails[place] <= log_delta + max(math.log(0.5 * widest), -NATS):  # it widens both bounds
        raise ContourRefused(RefusalReason.NO_DECAY, f"frequencies up to {most:.3g}")
    return float(frequencies[place]), 1.001 * math.exp(float(tails[place]))

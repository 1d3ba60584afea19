"""The integrand on a line, and the enclosure of log D(ε) that it gives.

    D(ε) = (1/π) e^{K(l) − lε} ∫₀^∞ Re[ φ(t) e^{−it(ε − c)} / (z(1 + z)) ] dt,   z = l + it        (A0)

by the trapezoidal rule. In units of e^{K − lε} the alias (A1), the frequencies left out (A3), the quadratures over the
noise and every rounding (A2, A4) are charged, and added up (A5). A0 to A5 are sections of docs/engine-certificate.md.
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
from epsilond.accountants.engine.contour.saddle import epsilon_target, find_saddle
from epsilond.accountants.engine.contour.trapezoidal_rule import transform_errors, trapezoidal_terms
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.part import ComplexArray, LineValues, Part, Transform
    from epsilond.accountants.engine.contour.saddle import Saddle
    from epsilond.accountants.numerics.special import FloatArray

WIDEST_LINE = 2e-3
"""Relative width of δ that the frequencies beyond the line may cause if no width is requested."""
_FREQUENCIES = 48
"""Number of last frequencies that are tried, in geometric progression: at most a quarter more nodes than needed."""
_TILTS = np.geomspace(0.4, 6.0, 6)
"""Distances from the saddle, in units of 1/√F″, of the tilts on either side whose Chernoff bounds give the alias."""


@dataclass(frozen=True)
class Integrand:
    """The integrand of δ(ε) at equally spaced points of a vertical line in the complex plane, with all error bounds.

    The finite part of δ is D(ε) = E_P[(1 − e^{ε−S})₊] for the total loss S. It is approximated by the trapezoidal rule
    at the nodes z_k = l + it_k with t_k = k Δt:

        D(ε) ≈ e^{K(l) − lε} Re Σ_k a_k e^{it_k(c − ε)},   a_k = (Δt/π) φ(t_k)^T e^{−it_k c}/(z_k(1 + z_k)),

    with a_0 halved. K is the log moment of S, and φ^T the characteristic function of S after tilting by l. The same
    terms serve every ε near the one that the line was chosen for.

    Attributes:
        line: tilt l and frequencies t_k.
        values: the characteristic function φ^T, centred at c, with its errors.
        chernoff: bounds on D at other tilts, for the alias, the error of the rule by its period.
        terms: a_k.
        fixed_error: bound on the truncation, the errors of φ^T, and the roundings that do not depend on ε, in units of
            e^{K − lε}.
        log_leak: log of the probability of losses that were left out as improbable.
    """

    line: Line
    values: LineValues
    chernoff: ChernoffBounds
    terms: ComplexArray
    fixed_error: float
    log_leak: float

    @classmethod
    def of(cls, parts: Sequence[Part], line: Line, chernoff: ChernoffBounds, truncation: float) -> Integrand:
        """Evaluate the integrand of δ(ε) for a composition on a vertical line, with all errors that do not depend on ε.

        Args:
            parts: parts of the composition, from which improbable noise is left out (`trim_parts`).
            line: tilt l and frequencies t of the points z = l + it.
            chernoff: Chernoff bounds on δ(ε), from which the aliasing error of the trapezoidal rule is bounded.
            truncation: bound on the part of the integral beyond the line's frequencies, divided by e^{K(l) − lε}. K(l)
                is log E[e^{lS}] of the total privacy loss S.

        Returns:
            The terms of the trapezoidal rule, and the error bounds, from which δ is enclosed at any ε.

        Source: docs/engine-certificate.md, A4, The rest.
        """
        last_frequency = line.nodes * line.spacing
        values = join_parts(part.resolve(line.tilt, last_frequency).on_line(line) for part in parts)
        terms = trapezoidal_terms(line, values)
        moduli = np.abs(terms)

        # The rounding of each term and of their sum.
        exponent_size = np.abs(values.log_modulus) + np.abs(values.phase)
        exponent_error = values.rounding + UNIT_ROUNDOFF * (4.0 * exponent_size + 32.0)  # with that of the exponential
        term_rounding = np.expm1(np.minimum(exponent_error, 700.0))  # e^700 is still a double
        rounding_error = float(moduli @ (term_rounding + summation_error(line.nodes)))

        transform_error = float(transform_errors(line, values, moduli).sum())
        error = truncation + transform_error + rounding_error
        log_leak = float(np.logaddexp.reduce([part.log_leak for part in parts]))
        # The factor 1.01 covers the roundings of the error itself.
        return cls(line, values, chernoff, terms, 1.01 * error, log_leak)

    def log_scale(self, epsilon: float) -> float:
        """Return the logarithm K(l) − lε of the unit in which the trapezoidal sum gives δ(ε).

        K is the cumulant of the total loss, and l the tilt of the line.

        Args:
            epsilon: ε in nats, of any sign.
        """
        return self.values.cumulant - self.line.tilt * epsilon

    def _trapezoidal_sums(self, epsilon: float) -> tuple[float, float, float]:
        """Return δ(ε) and dδ/dε by the trapezoidal rule, and a bound on the error of δ(ε) without the aliasing error.

        All three are divided by e^{K(l) − lε}, where l is the real part of the nodes of the rule, and K(l) is
        log E[e^{lS}] of the total loss S.

        Args:
            epsilon: ε in nats, of any sign.

        Returns:
            δ(ε), its derivative in ε, and the bound on the error of δ(ε).
        """
        # The terms a_k are for a loss that is centred at c, so they are rotated by the angle t_k (c − ε).
        offset, frequencies = self.values.centre - epsilon, self.line.frequencies
        rotated_terms = self.terms * np.exp(1j * offset * frequencies)
        value = float(rotated_terms.real.sum())
        points = self.line.tilt + 1j * frequencies
        slope = -float((rotated_terms * points).real.sum())

        # The angle t (c − ε) has an error proportional to the frequency t.
        angle_error = 8 * UNIT_ROUNDOFF * (abs(offset) + abs(self.values.centre) + abs(epsilon))
        rotation_error = angle_error * float(np.abs(self.terms) @ frequencies)
        return value, slope, self.fixed_error + rotation_error

    def enclosure(self, epsilon: float) -> Interval:
        """Enclose log δ(ε) of the composition at any ε. The bounds are close only near the ε that it was made for.

        δ(ε) is an integral, computed by the trapezoidal rule. The aliasing error of the rule is never negative, so it
        is subtracted from the lower bound only. Improbable noise was left out of the integral, so its probability is
        added to the upper bound.

        Args:
            epsilon: ε in nats, of any sign.

        Returns:
            The lower and the upper bound on log δ(ε).

        Guarantees: lower ≤ log δ ≤ upper ≤ 0, never NaN; lower is −inf if no positive lower bound is certified.

        Raises:
            ContourRefused: the lower bound exceeds the Chernoff bound on δ(ε), which indicates a fault.

        Source: docs/engine-certificate.md, A5.
        """
        # The sum and its errors have the unit e^{log_scale}, and this exponent has an error itself.
        value, _, error = self._trapezoidal_sums(epsilon)
        log_scale = self.log_scale(epsilon)
        scale_error = self._scale_error(epsilon)
        alias = self._alias(epsilon)
        lower = _rounded_log(log_scale - scale_error, value - error - alias, -1)
        upper = _rounded_log(log_scale + scale_error, value + error, +1)

        chernoff = self.chernoff.upper_log_delta(epsilon)
        if lower > chernoff + scale_error:
            raise ContourRefused(RefusalReason.INCONSISTENT, f"log delta above {lower:.17g}, below {chernoff:.17g}")

        log_total = float(np.logaddexp(min(upper, chernoff), self.log_leak))
        upper = min(log_total * (1.0 - 8 * UNIT_ROUNDOFF), 0.0)  # rounded up: it is negative
        return Interval(min(lower, upper), upper)

    def _scale_error(self, epsilon: float) -> float:
        """Return a bound on the error of the computed `log_scale`, for ε in nats of any sign."""
        size = abs(self.values.cumulant) + self.line.tilt * abs(epsilon) + 64.0  # with a margin
        return self.values.cumulant_error + 4 * UNIT_ROUNDOFF * size  # with the rounding of the difference

    def _alias(self, epsilon: float) -> float:
        """Bound the aliasing error of the trapezoidal rule for δ(ε) from above.

        The rule has nodes l + it with a spacing Δt of the t. Its error is the series Σ_{m≠0} e^{lmA} D(ε + mA) over the
        integers m, for the period A = 2π/Δt. D is δ without the improbable losses that were left out. Chernoff bounds
        on D bound this series.

        Args:
            epsilon: ε in nats, of any sign.

        Returns:
            The upper bound divided by e^{K(l) − lε}, at least 0, where K(l) is log E[e^{lS}] of the total loss S.
        """
        period = 2.0 * math.pi / self.line.spacing * (1.0 - 4 * UNIT_ROUNDOFF)  # rounded down: safe
        log_alias_bound = self.chernoff.log_alias_bound(self.line.tilt, period, epsilon)
        log_alias = log_alias_bound - self.log_scale(epsilon) + self._scale_error(epsilon)
        # The factor covers roundings, and the limit prevents an overflow.
        return 1.001 * math.exp(min(log_alias, 600.0))

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """Return estimates of log δ(ε) and of its derivative in ε, for searches; nothing is certified.

        Args:
            epsilon: ε in nats, near the one that the line was chosen for.

        Returns:
            log δ(ε), and its derivative per nat of ε.

        Raises:
            ContourRefused: the trapezoidal sum is not positive.
        """
        value, slope, _ = self._trapezoidal_sums(epsilon)
        if not value > 0.0:
            raise ContourRefused(RefusalReason.NOT_POSITIVE, f"at epsilon {epsilon:.6g}")
        return self.log_scale(epsilon) + math.log(value), slope / value


def _rounded_log(log_unit: float, value: float, sign: int) -> float:
    """Return the logarithm of a number that is given in some unit, rounded up or down.

    Args:
        log_unit: log of the unit of `value`.
        value: a number of any sign.
        sign: −1 to round down, 1 to round up.

    Returns:
        log_unit + log(value) after rounding; −inf if value ≤ 0.
    """
    if value <= 0.0:
        return -math.inf
    log_value = log_unit + math.log(value)
    return log_value + sign * 8 * UNIT_ROUNDOFF * (1.0 + abs(log_value) + abs(log_unit))


def trim_parts(parts: Sequence[Part], log_delta: float, tilt: float = 0.0) -> list[Part]:
    """Leave out improbable noise from the parts of a composition: at most e^−28 of the estimated δ.

    Otherwise very large losses of tiny probability could determine the saddle point of the integral, although they add
    almost nothing to δ.

    Args:
        parts: parts of a composition. Each is the total loss of some of its steps.
        log_delta: estimate of log δ.
        tilt: exponent l of the weight e^{lL} of a loss L. Improbable noise is kept if its weight matters at this tilt.

    Returns:
        The parts without that noise, in the same order. Each states the probability that it leaves out (`log_leak`).

    Source: docs/engine-certificate.md, A2, Hard cut.
    """
    log_share = log_delta - NATS - math.log(len(parts))
    return [part.trim(log_share, tilt) for part in parts]


def find_saddle_below(parts: Sequence[Part], epsilon: float) -> Saddle:
    """Return the saddle point at which the integral for δ(ε) is best evaluated.

    Args:
        parts: parts of the composition, with improbable noise left out.
        epsilon: ε in nats.

    Returns:
        The saddle point: the exponent l of weights e^{lS}, near the minimum of the integrand on the real axis.

    Raises:
        ContourRefused: ε is at or above the largest total loss that is left, so that no lower bound on δ is positive.

    Source: docs/engine-certificate.md, A5, What the noise reaches.
    """
    largest_total_loss = math.fsum(part.largest_loss for part in parts)
    if largest_total_loss <= epsilon:
        raise ContourRefused(RefusalReason.NOT_POSITIVE, f"no noise within its ends reaches {epsilon:.6g}")
    return find_saddle(parts, epsilon_target(epsilon))


def build_integrand(
    parts: Sequence[Part], epsilon: float, log_delta: float, widest: float = WIDEST_LINE
) -> tuple[Integrand, Saddle]:
    """Evaluate the integrand of δ(ε) on the vertical line through the saddle point of ε.

    Improbable noise is left out before the saddle point is sought, which it could determine otherwise. It is then
    chosen again, because its weight may matter at the tilt of the saddle point.

    Args:
        parts: parts of the composition. Each is the total loss of some of its steps.
        epsilon: ε in nats, of any sign.
        log_delta: estimate of log δ(ε), without infinite losses.
        widest: largest useful relative width of the enclosure of δ.

    Returns:
        The integrand, and the saddle point.

    Raises:
        ContourRefused: the integrand does not decay, or needs too many nodes. Both are noticed before it is evaluated.
    """
    saddle = find_saddle_below(trim_parts(parts, log_delta), epsilon)
    probable_parts = trim_parts(parts, log_delta, saddle.tilt)
    return build_integrand_at(probable_parts, saddle, epsilon, log_delta, widest), saddle


def build_integrand_at(
    parts: Sequence[Part], saddle: Saddle, epsilon: float, log_delta: float, widest: float = WIDEST_LINE
) -> Integrand:
    """Evaluate the integrand of δ(ε) on the vertical line through a given saddle point.

    The integral is computed by the trapezoidal rule. The spacing of its frequencies follows from the aliasing error
    that is allowed, and their number from the decay of the integrand.

    Args:
        parts: parts of the composition, with improbable noise left out.
        saddle: saddle point, where the integrand has its minimum on the real axis. It may be that of another ε, but the
            line needs fewest nodes if it is near that of ε.
        epsilon: ε in nats, of any sign.
        log_delta: estimate of log D(ε), for the finite part D of δ.
        widest: largest useful relative width of the enclosure of δ.

    Returns:
        The values of the integrand on the line, from which δ is enclosed at ε and near it.

    Raises:
        ContourRefused: the integrand does not decay, or needs too many nodes. Both are known before it is evaluated.
    """
    # Chernoff bounds at exponents around the saddle, and the period for which they prove the aliasing error small.
    tilts = _chernoff_tilts(saddle)
    largest_tilt = float(tilts[-1])
    transforms = [part.resolve(largest_tilt, 0.0) for part in parts]
    chernoff = ChernoffBounds.at(transforms, tilts)
    log_delta = min(log_delta, chernoff.upper_log_delta(epsilon))
    period = chernoff.shortest_period(saddle.tilt, epsilon, log_delta - NATS)
    if not 0.0 < period < math.inf:
        raise ContourRefused(RefusalReason.NO_TILT, f"period {period:.3g}")

    # The spacing for this period, and the last frequency that matters.
    spacing = floor_spacing(2.0 * math.pi / period)
    log_unit = saddle.cumulant - saddle.tilt * epsilon  # the unit e^{K(l) − lε} of the truncation
    largest_frequency = spacing * (MOST_NODES - 2)
    last_frequency, truncation = _truncate(transforms, saddle, log_delta - log_unit, largest_frequency, widest)
    nodes = math.ceil(last_frequency / spacing) + 1
    return Integrand.of(parts, Line(saddle.tilt, spacing, nodes), chernoff, truncation)


def _chernoff_tilts(saddle: Saddle) -> FloatArray:
    """Return the tilts at which Chernoff bounds on δ are evaluated, increasing and not negative.

    The tilts are 0, the tilt of the saddle point, and several on either side of it at distances in units of 1/√F″.

    Args:
        saddle: the saddle point, with the curvature F″ of the exponent of the integrand.

    Returns:
        The exponents λ of the bounds e^{λS}, increasing and without repetition.
    """
    distances = _TILTS / saddle.width
    tilts = np.concatenate((saddle.tilt - distances, [0.0, saddle.tilt], saddle.tilt + distances))
    return np.unique(tilts[tilts >= 0.0])


def _truncate(
    transforms: Sequence[Transform], saddle: Saddle, log_delta: float, largest_frequency: float, widest: float
) -> tuple[float, float]:
    """Choose the last frequency t_n of the integral for δ(ε), and bound the part of the integral beyond it.

    In units of e^{K − lε}, with the real part l and the log moment K of the saddle point, the part is at most:

        B(t_n) (1/π) ∫_{t_n}^∞ dt/(l² + t²) = B(t_n) arctan(l/t_n)/(πl).

    B(t) is the product of the parts' bounds on |φ(t′)|^T for t′ ≥ t. The first frequency is chosen at which this is
    below e^−28 of δ, or the largest frequency if there is none.

    Args:
        transforms: transforms of the parts; each bounds the modulus of its characteristic function φ^T.
        saddle: the saddle point, with tilt l and cumulant K of the total loss.
        log_delta: estimate of log δ, in that unit.
        largest_frequency: largest frequency that may be returned.
        widest: largest useful relative width of the enclosure of δ.

    Returns:
        The last frequency, and the bound in that unit.

    Raises:
        ContourRefused: the part beyond the largest frequency is not small.

    Source: docs/engine-certificate.md, A3.
    """
    first_frequency = min(5.0 / saddle.width, largest_frequency)
    frequencies = np.geomspace(first_frequency, largest_frequency, _FREQUENCIES)
    log_integrals = np.log(np.arctan2(saddle.tilt, frequencies) / (math.pi * saddle.tilt))
    log_decay = sum(transform.log_decay(saddle.tilt, frequencies) for transform in transforms)
    log_tails = log_integrals + log_decay

    negligible = np.flatnonzero(log_tails <= log_delta - NATS)
    index = int(negligible[0]) if negligible.size else -1  # −1 is the largest frequency
    # The tail widens the enclosure on both sides, so that each side may use half of the width.
    largest_log_tail = log_delta + max(math.log(0.5 * widest), -NATS)
    if not log_tails[index] <= largest_log_tail:
        raise ContourRefused(RefusalReason.NO_DECAY, f"frequencies up to {largest_frequency:.3g}")
    rounding_factor = 1.001  # far more than the errors of the logarithm and the exponential
    return float(frequencies[index]), rounding_factor * math.exp(float(log_tails[index]))

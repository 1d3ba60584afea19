"""The losses of one step as functions of its noise x ~ N(0, 1): pieces of the line, and an atom at the loss 0 (A2, A8).

The transform is M(z) = a + Σ ∫ f_z over the pieces, with

    f_z(x) = φ(x) r(x)^{c₁} r(−x)^{c₂},   (c₁, c₂) = (1 + z, 0) to remove, (−z, 0) to add, (1 + z, −z) to replace.

A batch without replacement has the first two on x ≥ s/2, and the atom a = (1 − q) erf(s/√8). A factor rises if its
exponent is positive at z = l > 0, and falls if it is negative.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.engine.contour.accuracy import LOG_SQRT_2PI
from epsilond.accountants.engine.contour.likelihood_ratio import clip_response
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.curve.facts import Direction
    from epsilond.accountants.engine.contour.likelihood_ratio import LikelihoodRatio
    from epsilond.accountants.numerics.special import FloatArray

Kind: TypeAlias = "Direction | Literal['drawn']"

FARTHEST_END = 60.0
"""Largest end of the noise, in standard deviations: the normal law has e^−1800 beyond, less than any δ of a double."""
_ENDS_PER_DEVIATION = 16.0
"""Ends of the noise are multiples of 1/16 of a standard deviation, so that nodes between them are exact (A4, Nodes)."""


class Exponents(NamedTuple):
    """Exponents of the first law's density φ(x) r(x)^density and of the loss right · log r(x) + left · log r(−x)."""

    density: int
    right: int
    left: int


REMOVE, ADD, REPLACE = Exponents(1, 1, 0), Exponents(0, -1, 0), Exponents(1, 1, -1)
EXPONENTS: dict[Kind, tuple[Exponents, ...]] = {
    "remove": (REMOVE,),
    "add": (ADD,),
    "replace": (REPLACE,),
    "drawn": (REMOVE, ADD),
}


@dataclass(frozen=True)
class Piece:
    """The integrand f_z on an interval of the noise."""

    ratio: LikelihoodRatio
    exponents: Exponents
    low: float
    high: float

    def factors(self, tilt: float) -> list[tuple[int, float]]:
        """Return the factors r(±x)^c of f_l as pairs (±1, c)."""
        density, right, left = self.exponents
        both = [(1, density + right * tilt), (-1, left * tilt)]
        return both if left else both[:1]

    def losses(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the first law's log density at nodes x, its error, the loss there, and its error (A4)."""
        density, right, left = self.exponents
        ratio = self.ratio.log_ratio(x)
        error = self.ratio.ratio_error(x, ratio)
        log_density = density * ratio - 0.5 * x * x - LOG_SQRT_2PI
        density_error = density * error + UNIT_ROUNDOFF * (8.0 * x * x + 4.0 * np.abs(ratio) + 64.0)
        if left:
            mirrored = self.ratio.log_ratio(-x)
            return log_density, density_error, ratio - mirrored, error + self.ratio.ratio_error(-x, mirrored)
        return log_density, density_error, right * ratio, error

    def turn(self, x: FloatArray, tilt: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Return θ and log G at nodes x on the contour of the decay bound (A3).

        Args:
            x: nodes on the real axis.
            tilt: real part l of z.
            height: height y of the contour.
        """
        theta, growth = np.zeros((2, x.size))
        for sign, power in self.factors(tilt):
            argument, size = self.ratio.turn(sign * x, height)
            theta, growth = theta + argument, growth + power * size
        return theta, growth

    def log_maximum(self, tilt: float, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return upper bounds of log f_l on intervals [low, high] (A2, Panels).

        A rising factor is convex in its logarithm, hence below its chord. A falling one is concave, hence below its
        tangent in the middle. A line less x²/2 exceeds its larger end by an eighth of the squared width at most.
        """
        middle = 0.5 * (low + high)
        at_low, at_high, size = -0.5 * low * low, -0.5 * high * high, np.zeros_like(low)
        for sign, power in self.factors(tilt):
            if power >= 0.0:
                left, right = power * self.ratio.log_ratio(sign * low), power * self.ratio.log_ratio(sign * high)
            else:
                value = power * self.ratio.log_ratio(sign * middle)
                rise = 0.5 * power * sign * self.ratio.shift * self.ratio.response(sign * middle) * (high - low)
                left, right = value - rise, value + rise
            at_low, at_high, size = at_low + left, at_high + right, size + np.abs(left) + np.abs(right)
        rounding = 1e-9 + 1e-13 * size
        return np.asarray(np.maximum(at_low, at_high) + 0.125 * (high - low) ** 2 - LOG_SQRT_2PI + rounding)

    def log_growth(
        self, tilt: float, frequency: float, low: FloatArray, high: FloatArray, height: FloatArray, lift: float
    ) -> FloatArray:
        """Return bounds of log |f_z(x + iy)|/f_l(x) for |y| ≤ height and x in [low, high] (A2, Off the axis).

        Args:
            tilt: real part l of z.
            frequency: largest modulus of the imaginary part of z.
            low: left ends of intervals of x.
            high: right ends of these intervals.
            height: largest |y| of each interval, with s (height + lift) < π.
            lift: height at which f_l itself is taken for the decay bound, with frequency 0 (A3).
        """
        growth = 0.5 * height * height
        for sign, power in self.factors(tilt):
            turn, spread = clip_response(self.ratio.response(high if sign > 0 else -low))
            growth = growth + (1.0 + 1e-9) * frequency * self.ratio.shift * height * turn
            if power < 0.0:
                growth = growth + 4.0 * spread * power * np.log(np.cos(0.5 * self.ratio.shift * (height + lift)))
        return np.asarray(growth)


@dataclass(frozen=True)
class NoiseLoss:
    """The loss of one step, with noise outside [low, high] left out (A2, Hard cut)."""

    ratio: LikelihoodRatio
    kind: Kind
    low: float = -FARTHEST_END
    high: float = FARTHEST_END

    @property
    def pieces(self) -> list[Piece]:
        """Intervals of the noise with their integrands; a batch without replacement has the ends s/2 and s/2 + high."""
        if self.kind == "drawn":
            edge = 0.5 * self.ratio.shift
            return [Piece(self.ratio, exponents, edge, edge + self.high) for exponents in EXPONENTS["drawn"]]
        return [Piece(self.ratio, exponents, self.low, self.high) for exponents in EXPONENTS[self.kind]]

    @property
    def cut_ends(self) -> list[tuple[FloatArray, Piece]]:
        """Ends at which noise is left out, with their pieces."""
        pieces = self.pieces
        lower = [] if self.kind == "drawn" else [(np.asarray(piece.low), piece) for piece in pieces]
        return lower + [(np.asarray(piece.high), piece) for piece in pieces]

    @property
    def atom(self) -> float:
        """Mass of the loss 0 without noise, within 16 units of roundoff."""
        return (1.0 - self.ratio.rate) * math.erf(self.ratio.shift / math.sqrt(8.0)) if self.kind == "drawn" else 0.0

    @property
    def supremum(self) -> float:
        """−log(1 − q) to add, rounded up; otherwise the loss is unbounded."""
        return -math.log1p(-self.ratio.rate) * (1.0 + 4 * UNIT_ROUNDOFF) if self.kind == "add" else math.inf

    def log_outside(self, end: FloatArray, side: int) -> FloatArray:
        """Return upper bounds of log P(side · x > end) for ends as `low` and `high` count them, P the first law."""
        rate, shift = self.ratio.rate, self.ratio.shift
        if self.kind == "drawn":
            beyond = np.asarray(log_ndtr(-end - 0.5 * shift) + math.log1p(1.0 - rate))
            value = np.logaddexp(beyond, math.log(rate) + log_ndtr(0.5 * shift - end))
            return np.asarray(np.where(side > 0, value + 1e-12 * (1.0 + np.abs(value)), -np.inf))
        mean = shift if self.kind != "add" and side > 0 else 0.0
        value = np.logaddexp(math.log1p(-rate) + log_ndtr(-end), math.log(rate) + log_ndtr(mean - end))
        return np.asarray(value + 1e-12 * (1.0 + np.abs(value)))

    @property
    def log_leak(self) -> float:
        """Upper bound of the log probability of the noise that is left out."""
        below, above = self.log_outside(np.asarray(-self.low), -1), self.log_outside(np.asarray(self.high), 1)
        return float(np.logaddexp(below, above)) + 1e-12

    def cut(self, log_leak: float, tilt: float, log_share: float) -> NoiseLoss:
        """Leave out noise beyond ends where it is improbable and has little weight in the tilted law (A2, Hard cut).

        Args:
            log_leak: log of the probability that may be left out at either side.
            tilt: real part l of z.
            log_share: log of f_l at an end over its largest value between the ends. Where f_l rises again before it is
                that small, the end is there: rare giant losses are left out.
        """
        places = np.arange(1.0, FARTHEST_END * _ENDS_PER_DEVIATION + 1.0) / _ENDS_PER_DEVIATION
        offset = 0.5 * self.ratio.shift if self.kind == "drawn" else 0.0
        logs = {}
        firsts = {}
        for side in (-1, 1):
            x = side * places + offset
            logs[side] = np.max([piece.log_maximum(tilt, x, x) for piece in self.pieces], axis=0)
            improbable = self.log_outside(places, side) <= log_leak
            firsts[side] = int(improbable.argmax()) if improbable.any() else places.size - 1
        top = max(float(logs[side][: firsts[side] + 1].max()) for side in (-1, 1))
        ends = []
        for side in (-1, 1):
            beyond = logs[side][firsts[side] :]
            last = (beyond <= top + log_share) | np.append(np.diff(beyond) >= 0.0, True)
            ends.append(float(places[firsts[side] + int(last.argmax())]))
        return dataclasses.replace(self, low=-ends[0], high=ends[1])

    def kink(self, tilt: float, frequencies: FloatArray, height: float) -> FloatArray:
        """Return bounds of what the contour of the decay bound has at the edge s/2 of a batch (A8, Decay).

        Args:
            tilt: real part l of z.
            frequencies: t > 0; each bound holds for all t′ ≥ t.
            height: height y of the contour, s y ≤ π/2.
        """
        if self.kind != "drawn":
            return np.zeros_like(frequencies)
        rate, shift = self.ratio.rate, self.ratio.shift
        _, (log_modulus,) = self.ratio.turn(np.asarray([0.5 * shift]), height)
        falling = math.exp(min(-tilt * float(log_modulus), 600.0))
        slope = rate * math.sin(shift * height) / height * (1.0 - 1e-12)
        late = np.maximum(frequencies, 1.8171 / (slope * height))  # 6^{1/3}, rounded down
        turn = shift * np.minimum(0.5 * height * height, (frequencies * slope) ** -2.0)
        curvature = rate * (1.0 - rate) * (shift * math.exp(-float(log_modulus))) ** 2
        shrinking = curvature * (1.0 + tilt + late + (tilt + late) * falling) * (late * slope) ** -3.0
        density = math.exp(0.5 * height * height - 0.125 * shift * shift - LOG_SQRT_2PI)
        return np.asarray((1.0 + 1e-9) * density * (turn + shrinking))

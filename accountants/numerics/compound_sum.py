"""Certified bounds on E[(Y₁ + … + Y_n)₊] for independent copies of one variable, at the same cost for any n.

The privacy blanket of a shuffled mechanism needs this expectation. For any tilt λ > 0, with M(z) = E e^{zY},
K = n log M and S the sum,

    E[S₊] = (1/π) e^{K(λ)} ∫₀^∞ Re[φ(t)ⁿ/(λ + it)²] dt,   φ(t) = M(λ + it)/M(λ).

The trapezoid sum of step 2π/A exceeds it by Σ_{k≠0} e^{λkA} E[(S − kA)₊]. These terms are bounded by
(y)₊ ≤ e^{μy}/(eμ) at other tilts μ. Y is a distribution of atoms and of uniform pieces. The pieces bound |φ| beyond the
last node, where atoms give no bound. For a piece of length ℓ, with a = λℓ/2 and y = tℓ/2,

    |φ_piece(t)|² = (a/sinh a)² (sinh²a + sin²y)/(a² + y²).

It decreases on 0 ≤ y ≤ π and stays below (a coth a)²/(a² + y²). If this bound is not enough, as with atoms only, an
independent Gaussian ξ is added to S. Since (·)₊ is convex, E[(S + ξ)₊] is an upper bound, and
E[(S + ξ − c)₊] − E[(ξ − c)₊] a lower bound. The errors of the trapezoid rule, of the truncation and of every rounding
are bounded by running sums and charged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

_PIECE_NODES = 40
_PIECE_X, _PIECE_W = np.polynomial.legendre.leggauss(_PIECE_NODES)
_PIECE_REACH = 30.0
"""Largest |z|ℓ/2 at which 40 nodes integrate e^{zx} over a piece within e^−46 of its value at t = 0."""
_MOST_EXPONENT = 600.0
_MOST_NODES = 6000
_CACHED = 1 << 15
_UNWEIGHTY = 1e-12
_LARGEST_PLACE = 1e100
"""Limit on places whose squares, multiplied by any count, are doubles."""
NEGLIGIBLE = 30.0
_SMOOTHEST = 1.0 / 160.0
_FACTORS = (1.03, 1.1, 1.3, 1.7, 2.5)


class LogEnds(NamedTuple):
    """Bounds on the logarithm of a number. The lower bound may be −inf."""

    lower: float
    upper: float

    def widen(self, accuracy: float) -> LogEnds:
        """Return both bounds moved outward by `accuracy` per unit of 1 + |bound|. A bound at −inf does not change."""
        low, high = (0.0 if math.isinf(end) else accuracy * (1.0 + abs(end)) for end in self)
        return LogEnds(self.lower - low, self.upper + high)


class Pieces(NamedTuple):
    """Uniform distributions on [low, high] with their masses."""

    low: FloatArray
    high: FloatArray
    mass: FloatArray


class WeightedPlaces(NamedTuple):
    """A distribution of finitely many places and weights, with bounds on their errors."""

    places: FloatArray
    weights: FloatArray
    place_errors: FloatArray
    weight_errors: FloatArray


NO_PIECES = Pieces(np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class StepLaw:
    """A distribution of atoms and uniform pieces, known within the atoms' errors.

    The mass missing to one is at zero.
    """

    atoms: WeightedPlaces
    pieces: Pieces = NO_PIECES

    @cached_property
    def nodes(self) -> WeightedPlaces:
        """Atoms, and the pieces as Gauss–Legendre sums."""
        low, high, mass = self.pieces
        middle, half = 0.5 * (high + low)[:, None], 0.5 * (high - low)[:, None]
        places = (middle + half * _PIECE_X).ravel()
        weights = (0.5 * mass[:, None] * _PIECE_W).ravel()
        added = WeightedPlaces(places, weights, 4 * UNIT_ROUNDOFF * np.abs(places), 64 * UNIT_ROUNDOFF * weights)
        return WeightedPlaces(*(np.concatenate(pair) for pair in zip(self.atoms, added, strict=True)))

    @cached_property
    def most(self) -> float:
        """Largest place, or 0 if no place is positive."""
        return max(0.0, float(self.nodes.places.max(initial=0.0)), float(self.pieces.high.max(initial=0.0)))

    @property
    def widest(self) -> float:
        """Largest absolute value of a place."""
        return max(float(np.abs(values).max(initial=0.0)) for values in (self.nodes.places, *self.pieces[:2]))

    def halve(self, times: int) -> StepLaw:
        """Return the distribution of the variable divided by 2^times.

        It is exact except for underflow, which is charged.
        """
        scale = math.ldexp(1.0, -times)
        errors = scale * self.atoms.place_errors + math.ulp(0.0)
        atoms = self.atoms._replace(places=scale * self.atoms.places, place_errors=errors)
        low, high, mass = self.pieces
        return StepLaw(atoms, Pieces(scale * low, scale * high, mass))


@dataclass(frozen=True)
class _TiltedSum:
    """S at one tilt λ: K(λ) with a bound on its error, and the tilted mean and variance."""

    tilt: float
    log_transform: float
    error: float
    mean: float
    variance: float

    @property
    def deviation(self) -> float:
        """Width of the integrand."""
        return math.sqrt(self.variance + 2.0 / self.tilt**2)


@dataclass(frozen=True, eq=False)
class CompoundSum:
    """The sum S of `count` independent copies of a variable with distribution `law`.

    Attributes:
        start: a tilt near the best one, if it is known from a similar sum. It affects only where the search starts.
    """

    law: StepLaw
    count: int
    start: float | None = None

    def at(self, tilt: float) -> _TiltedSum:
        """Return K(λ) = n log M(λ) at λ = `tilt` with a bound on its error, and its first two derivatives."""
        places, weights, place_errors, weight_errors = self.law.nodes
        change = np.expm1(tilt * places)
        size = np.abs(change)
        excess = float(weights @ change)
        tilted = (weights + weights * change) / (1.0 + excess)
        mean = float(tilted @ places)
        variance = float(tilted @ (places * places)) - mean * mean
        rounding = UNIT_ROUNDOFF * (math.sqrt(places.size) + 16.0) * float(weights @ size)
        wrong = (float(weight_errors @ size) + rounding) / (1.0 + excess) + tilt * float(tilted @ place_errors)
        log_transform = self.count * math.log1p(excess)
        error = 2.0 * self.count * wrong + 8 * UNIT_ROUNDOFF * (1.0 + abs(log_transform))
        return _TiltedSum(tilt, log_transform, error, self.count * mean, self.count * max(variance, 0.0))

    def _log_transforms(self, tilts: Sequence[float]) -> list[float]:
        """Return upper bounds on K(λ) at several tilts, with the errors of `at`."""
        places, weights, place_errors, weight_errors = self.law.nodes
        bounds: list[float] = []
        rows = max(_CACHED // max(places.size, 1), 1)
        for start in range(0, len(tilts), rows):
            tilt = np.asarray(tilts[start : start + rows])[:, None]
            change = np.expm1(tilt * places)
            size = np.abs(change)
            excess = change @ weights
            rounding = UNIT_ROUNDOFF * (math.sqrt(places.size) + 16.0) * (size @ weights)
            wrong = (size @ weight_errors + rounding) / (1.0 + excess)
            if place_errors.any():
                wrong = wrong + tilt[:, 0] * ((weights + weights * change) @ place_errors) / (1.0 + excess)
            log_transform = self.count * np.log1p(excess)
            error = 2.0 * self.count * wrong + 8 * UNIT_ROUNDOFF * (1.0 + np.abs(log_transform))
            bounds.extend((log_transform + error).tolist())
        return bounds

    @cached_property
    def _largest_tilt(self) -> float:
        return _MOST_EXPONENT / max(self.law.most, 1e-290)

    @cached_property
    def _saddle(self) -> _TiltedSum:
        """Approximate minimum of K(λ) − 2 log λ. Every tilt is valid, and this one is close to the best."""
        places, weights, _, _ = self.law.nodes
        start = self.start or 1.0 / math.sqrt(self.count * float(weights @ (places * places)))
        tilt = min(start, 0.5 * self._largest_tilt)
        low, high = 0.0, self._largest_tilt
        for _ in range(60):
            here = self.at(tilt)
            slope, curvature = here.mean - 2.0 / tilt, here.variance + 2.0 / tilt**2
            low, high = (low, tilt) if slope > 0 else (tilt, high)
            following = tilt - slope / curvature
            if abs(following - tilt) * math.sqrt(curvature) < 0.02:
                break
            following = following if low < following < high else 0.5 * (low + high)
            tilt = min(following, 3.0 * tilt)
        return here

    @property
    def tilt(self) -> float:
        """Tilt λ of the saddle, which the integral uses."""
        return self._saddle.tilt

    @cached_property
    def log_estimate(self) -> float:
        """Estimate of log E[S₊] by the saddle point, without a bound on its error."""
        return self._saddle.log_transform + self._log_guess

    @cached_property
    def _log_guess(self) -> float:
        here = self._saddle
        return -2.0 * math.log(here.tilt) - 0.5 * math.log(2.0 * math.pi) - math.log(here.deviation)

    def log_positive_part(self, negligible: float = NEGLIGIBLE) -> LogEnds:
        """Return bounds on log E[S₊].

        Guarantees: lower ≤ truth ≤ upper, for any width. The upper bound is finite or −inf.

        Args:
            negligible: distance in nats below the estimate that the alias and the truncated part should have. 30 gives
                bounds that agree to thirteen digits; less is quicker. Their actual size is charged.
        """
        if self.law.most == 0.0:
            return LogEnds(-math.inf, -math.inf)
        if (widest := self.law.widest) > _LARGEST_PLACE:
            exponent = math.frexp(widest)[1]
            scaled = CompoundSum(self.law.halve(exponent), self.count)
            bounds = scaled.log_positive_part(negligible)
            return LogEnds(*(end + exponent * math.log(2.0) for end in bounds)).widen(8 * UNIT_ROUNDOFF)
        here = self._saddle
        chernoff = here.log_transform + here.error - 1.0 - math.log(here.tilt)
        period, log_alias, steepest = self._period(negligible)
        smooth, last, beyond = self._truncation(2.0 * math.pi / period, negligible)
        if last > _MOST_NODES:
            return LogEnds(-math.inf, chernoff)
        slack = here.error + 32 * UNIT_ROUNDOFF
        shift = self._shift(smooth)
        value, shifted, error = self._trapezoid(2.0 * math.pi / period, last, smooth, shift)
        upper = min(here.log_transform + math.log(value + error + beyond) + slack, chernoff)
        alias = math.exp(min(log_alias + 0.5 * (smooth * steepest) ** 2, 700.0))
        left = shifted - error - beyond - alias
        if smooth > 0.0 and left > 0.0:
            # E[(ξ − c)₊] ≤ τ φ(c/τ) ≤ τ Φ(−c/τ) (c/τ + 1)
            added = math.log(smooth) + float(log_ndtr(-shift / smooth)) + math.log1p(shift / smooth)
            left -= math.exp(min(added - here.log_transform + slack, 700.0))
        return LogEnds(here.log_transform + math.log(left) - slack if left > 0.0 else -math.inf, upper)

    def _shift(self, smooth: float) -> float:
        """Return the decrease of the sum for the lower bound, if a Gaussian of deviation `smooth` is added."""
        if smooth == 0.0:
            return 0.0
        gap = max(math.log(smooth) - self.log_estimate, 0.0)
        return smooth * math.sqrt(2.0 * gap + 8.0)

    def _period(self, negligible: float) -> tuple[float, float, float]:
        """Return the period A of the trapezoid sum, the log of a bound on its alias, and the bound's largest tilt.

        The alias bound is in units of e^{K(λ)}. It is about `negligible` nats below the estimate of E[S₊].
        """
        here, period, log_alias = self._saddle, 0.0, -math.inf
        sides = (
            [t for f in _FACTORS for t in (here.tilt * f, here.tilt + 8.0 * (f - 1.0) / here.deviation)],
            [t for f in _FACTORS for t in (here.tilt / f, here.tilt - 8.0 * (f - 1.0) / here.deviation)],
        )
        valid_tilts = [[t for t in side if 0.0 < t <= self._largest_tilt and t != here.tilt] for side in sides]
        bounds = iter(self._log_transforms([t for side in valid_tilts for t in side]))
        levels: list[list[tuple[float, float]]] = []
        for side in valid_tilts:
            side_levels = [(abs(t - here.tilt), next(bounds) - here.log_transform - 1.0 - math.log(t)) for t in side]
            levels.append(side_levels)
            needs = [(max(level - self._log_guess, -20.0) + negligible) / gap for gap, level in side_levels]
            period = max(period, min(needs, default=40.0 * here.deviation))
        for side_levels in levels:
            aliases = [level - math.log(math.expm1(min(gap * period, 700.0))) for gap, level in side_levels]
            log_alias = float(np.logaddexp(log_alias, min(aliases, default=math.inf)))
        return period, log_alias, max(sides[0])

    @cached_property
    def _shares(self) -> tuple[FloatArray, FloatArray]:
        """Tilted masses of the pieces, and λℓ/2 of each."""
        low, high, mass = self.law.pieces
        tilt = self._saddle.tilt
        half = np.maximum(0.5 * tilt * (high - low), 1e-8)
        # sinh(a)/a = e^a (1 − e^{−2a})/(2a), in logarithms as λ may be large.
        log_share = 0.5 * tilt * (high + low) + half + np.log(-np.expm1(-2.0 * half) / (2.0 * half))
        return mass * np.exp(log_share - self._saddle.log_transform / self.count) * (1.0 - 1e-9), half

    def _log_modulus(self, t: float, smooth: float) -> float:
        """Return an upper bound on n log |φ(t)|, if a Gaussian of deviation `smooth` is added. It decreases in t."""
        share, a = self._shares
        if share.size == 0:
            return 0.5 * smooth * smooth * (self._saddle.tilt**2 - t * t)
        low, high, _ = self.law.pieces
        y = 0.5 * t * (high - low)
        beyond = a / np.tanh(a) / np.hypot(a, np.maximum(y, math.pi))
        swing = np.sin(np.minimum(y, math.pi)) / np.sinh(np.minimum(a, 300.0))
        inside = a * np.sqrt((1.0 + swing * swing) / (a * a + y * y))
        modulus = np.where(y < math.pi, np.maximum(inside, beyond), beyond) * (1.0 + 1e-12)
        held = min(float(share @ (1.0 - np.minimum(modulus, 1.0))), 1.0 - 1e-15)
        return self.count * math.log1p(-held) + 0.5 * smooth * smooth * (self._saddle.tilt**2 - t * t)

    def _truncation(self, spacing: float, negligible: float) -> tuple[float, int, float]:
        """Return the deviation of the added Gaussian, the index of the last node, and a bound on the part beyond it.

        The deviation is 0 if the transform decays fast enough by itself. An index above `_MOST_NODES` is a failure.
        """

        def beyond(last: int, smooth: float) -> float:
            return self._log_modulus(last * spacing, smooth) - math.log(math.pi * last * spacing)

        # The pieces' quadrature is accurate up to this frequency.
        widest = float((self.law.pieces.high - self.law.pieces.low).max(initial=0.0))
        reach = 2.0 * _PIECE_REACH / widest if widest > 0.0 else math.inf
        furthest = math.sqrt(max(reach**2 - self._saddle.tilt**2, 0.0))
        for smooth in (0.0, _SMOOTHEST * self._saddle.deviation):
            most = math.floor(min(furthest / spacing, _MOST_NODES))
            low, high = 0, 8
            while high < most and beyond(high, smooth) > self._log_guess - negligible:
                low, high = high, 2 * high
            while high - low > max(1, high // 16):
                middle = (low + high) // 2
                low, high = (middle, high) if beyond(middle, smooth) > self._log_guess - negligible else (low, middle)
            if high <= most:
                return smooth, high, math.exp(min(beyond(high, smooth), 700.0))
        return 0.0, _MOST_NODES + 1, 0.0

    def _trapezoid(self, spacing: float, last: int, smooth: float, shift: float) -> tuple[float, float, float]:
        """Return (dt/π) Re[g(0)/2 + Σ g(k dt)] for S and for S − shift, and their rounding error.

        All three are in units of e^{K(λ)}.
        """
        tilt = self._saddle.tilt
        places, weights, place_errors, weight_errors = self.law.nodes
        grown = np.exp(tilt * places)
        total = 1.0 + float(weights @ np.expm1(tilt * places))
        share, error_share = weights * grown / total, weight_errors * grown / total
        # Places of negligible weight are left out. Twice their weight is charged to every value of the transform.
        heavy = share > _UNWEIGHTY / (self.count * places.size)
        left_out = 2.0 * float(share[~heavy].sum() + error_share[~heavy].sum())
        places, place_errors, share, error_share = (part[heavy] for part in (places, place_errors, share, error_share))
        steps = math.isqrt(last) + 1
        # e^{i(a + b)} − 1 = (e^{ia} − 1)(e^{ib} − 1) + (e^{ia} − 1) + (e^{ib} − 1), over places that fit into a cache.
        table = np.zeros((last // steps + 1, steps), dtype=np.complex128)
        width = max(_CACHED // steps, 16)
        for start in range(0, places.size, width):
            part = slice(start, start + width)
            small = _turns(places[part], spacing, steps)
            lead = _turns(places[part], spacing * steps, last // steps + 1) * share[part]
            table += lead @ small.T + lead.sum(axis=1)[:, None] + (small @ share[part])[None, :]
        change = table.ravel()[: last + 1]
        t = spacing * np.arange(last + 1)
        x, y = change.real, change.imag
        log_modulus = 0.5 * np.log1p(np.maximum(2.0 * x + x * x + y * y, -1.0 + 1e-15))
        z = tilt + 1j * t
        values = np.exp(self.count * (log_modulus + 1j * np.arctan2(y, 1.0 + x)) + 0.5 * (smooth * z) ** 2) / z**2
        values[0] *= 0.5
        moved = np.minimum(float(share @ np.abs(places)) * t, 2.0)
        eta = (
            left_out
            + moved * UNIT_ROUNDOFF * (4.0 * math.sqrt(places.size) + 64.0)
            + np.minimum(2.0 * float(error_share.sum()), 2.0 * float(error_share @ np.abs(places)) * t)
            + t * float(share @ (place_errors + 4 * UNIT_ROUNDOFF * np.abs(places)))
        )
        with np.errstate(over="ignore"):
            slip = np.expm1(np.minimum(self.count * np.log1p(eta * np.exp(-log_modulus)), 700.0))
        error = spacing / math.pi * float((np.abs(values) * (slip + 64 * UNIT_ROUNDOFF * (1.0 + t * abs(shift)))).sum())
        value = spacing / math.pi * float(values.real.sum())
        shifted = spacing / math.pi * float((values * np.exp(-z * shift)).real.sum()) if shift else value
        return value, shifted, error


def _turns(places: FloatArray, step: float, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
    """Return e^{ikty} − 1 for k = 0, 1, … (rows) and places y, with t = `step`, by doubling.

    The recurrence is z_{j+k} = z_j z_k + z_j + z_k.
    """
    half = 0.5 * step * places
    first = 2.0 * np.sin(half) * (-np.sin(half) + 1j * np.cos(half))
    turns = np.zeros((count, places.size), dtype=np.complex128)
    computed = 1
    if count > 1:
        turns[1], computed = first, 2
    while computed < count:
        more = min(computed, count - computed)
        # The row `computed` is the previous row, turned once more.
        lead = turns[computed - 1] * first + turns[computed - 1] + first
        turns[computed : computed + more] = turns[:more] * lead + turns[:more] + lead
        computed += more
    return turns

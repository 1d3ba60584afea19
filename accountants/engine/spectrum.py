"""The transform of a composed lattice law on one tilted line, and δ from it, with every error charged.

For laws on multiples of h, N frequencies t_k = 2πk/(Nh), z_k = λ + i t_k and M the composed transform,

    (1/N) Σ_{k mod N} M(z_k) G(z_k) = Σ_m e^{λ m A} D(ε + mA),  A = Nh,  G(z) = Σ_{lattice s > ε} e^{−zs} (1 − e^{ε−s}),

exactly (docs/engine-certificate.md B3; the node k = N/2 of an even N counts once). All terms on the right are ≥ 0, so
the sum exceeds D(ε) by the alias of `tilted.Chernoff` only. G continues to −1 < λ < 0, where the same sum is
−E[min(1, e^{ε−S})] plus an alias of the same sign.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from accountants.engine.tilted import IntArray, Place
from accountants.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from accountants.engine.chernoff import Chernoff
    from accountants.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"
_TINY = 1e-300


class Ends(NamedTuple):
    """log of a positive number: an upper bound, and a lower bound that may be −inf."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Spectrum:
    """φ^T on the frequencies that matter, from one tilt. Serves every ε near the one it was made for.

    `values` are φ(t_k)^T with φ centred at `centre` units in all; `charges` bound their errors; `skipped` bounds
    Σ |φ^T| over all other frequencies of the N.
    """

    place: Place
    unit: float
    size: int
    centre: int
    log_prefactor: float
    rounding: float
    frequencies: IntArray
    values: ComplexArray
    charges: FloatArray
    skipped: float
    chernoff: Chernoff
    alias_slack: float

    def log_integral(self, epsilon: float) -> Ends:
        """Enclosure of log D(ε), or of log(1 − δ) = log E[min(1, e^{ε−S})] if the tilt is negative.

        Guarantees: both ends hold for the lattice laws this was made of, whatever the tilt.
        """
        lam = self.place.tilt
        first = math.floor(epsilon / self.unit) + 1
        gap = min(max(first * self.unit - epsilon, 0.0), self.unit)
        kernel, bound = self._kernel(gap)
        turn = self._turns((first - self.centre) % self.size)
        terms = self.values * np.exp((-2j * np.pi / self.size) * turn) * kernel
        fold = np.where((self.frequencies == 0) | (2 * self.frequencies == self.size), 1.0, 2.0) / self.size
        total = math.copysign(1.0, lam) * float(fold @ terms.real)
        sizes = fold * bound
        charge = float(sizes @ (self.charges + 64 * UNIT_ROUNDOFF * np.abs(self.values)))
        charge += self.terms_rounding * float(sizes @ np.abs(self.values)) + self.skipped * self.largest_kernel(gap)
        # An error of 4u ε in the gap moves the sum by at most that share of a Chernoff bound with C = 1.
        charge += 4 * UNIT_ROUNDOFF * abs(epsilon)
        log_scale = self.log_prefactor - lam * epsilon
        slack = self.rounding + 8 * UNIT_ROUNDOFF * (abs(self.log_prefactor) + abs(lam * epsilon) + 8.0)
        log_alias = self.chernoff.log_alias(epsilon, self.size * self.unit, log_scale) + self.alias_slack
        alias = math.exp(min(log_alias, 700.0))
        upper = log_scale + math.log(max(total + charge, _TINY)) + slack
        rest = total - charge - alias
        return Ends(log_scale + math.log(rest) - slack if rest > 0 else -math.inf, upper)

    def _turns(self, offset: int) -> FloatArray:
        """frequencies · offset mod size, exactly."""
        if self.size < 2**31:
            return ((self.frequencies * offset) % self.size).astype(np.float64)
        return np.asarray([int(k) * offset % self.size for k in self.frequencies], dtype=np.float64)

    @property
    def terms_rounding(self) -> float:
        """γ_n of the final sum."""
        return (self.frequencies.size + 8) * UNIT_ROUNDOFF

    def largest_kernel(self, gap: float) -> float:
        """|G| at t = 0, which bounds it everywhere, over N, for the two halves of the line."""
        lam = self.place.tilt
        below, above = abs(math.expm1(-lam * self.unit)), -math.expm1(-self.place_above * self.unit)
        top = -math.expm1(-gap) + math.exp(-lam * self.unit - gap) * -math.expm1(gap - self.unit)
        return 2.0 * math.exp(-lam * gap) * top / (below * above) / self.size * (1 + 1e-12)

    def _kernel(self, gap: float) -> tuple[ComplexArray, FloatArray]:
        """G(z_k) e^{λε} without the phase of the first lattice point above ε, and a bound of the size of its terms.

        e^{−λ gap} [(1 − e^{−gap}) + e^{−zh} (e^{−gap} − e^{−h})] / ((1 − e^{−zh}) (1 − e^{−(1+z)h})).
        """
        lam, h = self.place.tilt, self.unit
        turn = (-2j * np.pi / self.size) * self.frequencies
        other = -self.place_above * h
        first = -math.expm1(-gap)
        second = math.exp(-lam * h - gap) * -math.expm1(gap - h)
        below, above = -np.expm1(turn - lam * h), -np.expm1(turn + other)
        scale = math.exp(-lam * gap)
        kernel = scale * (first + second * np.exp(turn)) / (below * above)
        return kernel, scale * (first + second) / np.abs(below * above)

    @property
    def place_above(self) -> float:
        """1 + λ without cancellation."""
        return 1.0 + self.place.tilt if self.place.direct else 1.0 / (1.0 + math.exp(-self.place.y))

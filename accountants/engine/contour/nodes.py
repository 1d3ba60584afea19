"""The integrand on its nodes, and the enclosure of log D(ε) that they give.

    D(ε) = (1/π) e^{K(λ) − λε} ∫₀^∞ Re[ φ(t) e^{−it(ε − c)} / (z(1 + z)) ] dt,   z = λ + it        (A0)

by the trapezoidal rule. Errors charged, in units of e^{K − λε}: the alias (A1), the frequencies left out (A3), the
quadratures over the noise and every rounding (A2, A4); their sum is formed in A5 of docs/engine-certificate.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.parts import resolve_all
from epsilond.accountants.engine.contour.saddle import TiltSurvey, log_chernoff_factor
from epsilond.accountants.engine.contour.transforms.laplace import LaplaceSteps
from epsilond.accountants.engine.contour.transforms.transform import (
    ContourRefused,
    Joined,
    Line,
    RefusalReason,
    exact_step,
    summation_error,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from epsilond.accountants.engine.contour.saddle import Saddle
    from epsilond.accountants.engine.contour.transforms.transform import LineValues, NodeBudget, Part
    from epsilond.accountants.numerics.special import FloatArray


NATS = 28.0
"""Alias and truncation are made to err by e^−28 of D, about a part in 10^12."""
REACH = 1.2
"""Half-width of the range of ε, in units of the integrand's bulk, over which the alias stays that small."""
_LADDER = 1.28 ** np.arange(9.0)
_SLOW_NATS, _LEAST_NATS = 16.5, 7.5
"""Where a transform falls slowly, truncation may err by e^−16 of D, or by e^−7 with as many nodes as there may be."""
_RUNGS = 8
"""Frequencies that are tried for such a truncation, to each factor of e."""
_QUICK_SHARE = 1.0 / 16.0
"""Of the most nodes, with which a truncation that falls that slowly is made as small as any other."""
_MOST_VALUES = 1 << 20
"""Values of transforms in closed form, nodes times kinds."""
_MANY_KINDS, _ENOUGH = 48, 5e-4
"""More kinds have as many nodes as there may be wherever they are laid; a relative width of δ that is then enough."""


class Sums(NamedTuple):
    """Trapezoidal sums at one ε in units of e^{K − λε}: value, derivative in ε, and the error but for the alias."""

    value: float
    slope: float
    error: float


@dataclass(frozen=True)
class Nodes:
    """φ^T/(z(1 + z)) at the nodes, with all that an enclosure at any ε needs.

    Attributes:
        place: λ and estimates of K, K′, F″ there.
        chernoff: the bounds that give the alias.
        line: the frequencies.
        truncation: bound on what the frequencies left out add to the sum.
        values: φ^T of all parts together.
        size: Σ |K| over the parts.
    """

    place: Saddle
    chernoff: ChernoffBounds
    line: Line
    truncation: float
    values: LineValues
    size: float

    @cached_property
    def _frequencies(self) -> FloatArray:
        return self.line.frequencies

    @cached_property
    def _z(self) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
        z = np.empty(self.line.nodes, dtype=np.complex128)
        z.real, z.imag = self.line.tilt, self._frequencies
        return z

    @cached_property
    def period(self) -> float:
        """A = 2π/Δt, rounded down."""
        return 2.0 * math.pi / self.line.spacing * (1.0 - 4 * UNIT_ROUNDOFF)

    @property
    def centre(self) -> float:
        """Σ of the parts' centres."""
        return self.values.centre

    @property
    def cumulant(self) -> float:
        """K(λ)."""
        return self.values.cumulant

    @cached_property
    def _series(self) -> Series:
        return self.chernoff.series(self.period)

    def log_excess(self, epsilon: float) -> float:
        """log of the bound on the alias at ε, in units of δ."""
        return self._series.log_excess(epsilon)

    @cached_property
    def _terms(self) -> np.ndarray[tuple[int, ...], np.dtype[np.complex128]]:
        """(Δt/π) φ^T/(z(1 + z)), the first halved."""
        terms = np.exp(self.values.log_modulus + 1j * self.values.phase) / (self._z * (1.0 + self._z))
        terms *= self.line.spacing / math.pi
        terms[0] *= 0.5
        return terms

    @cached_property
    def _moduli(self) -> FloatArray:
        return np.abs(self._terms)

    @cached_property
    def _fixed_error(self) -> float:
        """Truncation, growth of the transform's error under the power (A4), and the roundings that know no ε."""
        log_modulus, phase, growth = self.values[:3]
        rounding = self.values.rounding + UNIT_ROUNDOFF * (4.0 * np.abs(log_modulus) + 4.0 * np.abs(phase) + 32.0)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            grown = self._moduli * np.where(growth < 1.0, np.expm1(np.minimum(growth, 1.0)), 0.0)
            scale = self.line.spacing / math.pi / (self._frequencies**2 + self.line.tilt**2)
            grown += np.where(growth < 1.0, 0.0, np.exp(np.minimum(log_modulus + growth, 700.0)) * scale)
        relative = np.expm1(np.minimum(rounding, 700.0)) + summation_error(self.line.nodes)
        return 1.01 * (self.truncation + float(grown.sum()) + float(self._moduli @ relative))

    @cached_property
    def _weighted_frequency(self) -> float:
        """Σ t |term|: how an error of ε − c enters."""
        return float(self._moduli @ self._frequencies)

    @cached_property
    def _last(self) -> dict[float, Sums]:
        """The last sums, for who asks for the ends where a search has just been."""
        return {}

    def sums(self, epsilon: float) -> Sums:
        """Value, slope and error at ε. Every evaluation starts from the same nodes, λ and K."""
        found = self._last.get(epsilon)
        if found is None:
            found = self._summed(epsilon)
            self._last.clear()
            self._last[epsilon] = found
        return found

    def _summed(self, epsilon: float) -> Sums:
        shifted = self._terms * np.exp((1j * (self.centre - epsilon)) * self._frequencies)
        argument = 8 * UNIT_ROUNDOFF * (abs(self.centre - epsilon) + abs(self.centre) + abs(epsilon))
        value = float(shifted.real.sum())
        slope = -float((shifted * self._z).real.sum())
        return Sums(value, slope, self._fixed_error + argument * self._weighted_frequency)

    def derivatives(self, epsilon: float) -> tuple[float, float]:
        """The first two derivatives of the sum in ε, in the units of `sums`; estimates."""
        shifted = self._terms * np.exp((1j * (self.centre - epsilon)) * self._frequencies) * self._z
        return -float(shifted.real.sum()), float((shifted * self._z).real.sum())

    def log_scale(self, epsilon: float) -> tuple[float, float]:
        """K − λε and a bound on its error."""
        error = self.values.cumulant_error + 4 * UNIT_ROUNDOFF * (self.size + self.line.tilt * abs(epsilon) + 64.0)
        return self.cumulant - self.line.tilt * epsilon, error


def build(
    parts: Sequence[Part],
    place: Saddle,
    survey: TiltSurvey,
    epsilon: float,
    budget: NodeBudget,
    *,
    reach: float = REACH,
) -> Nodes:
    """Nodes at λ = place.tilt that serve ε and its neighbours within about `reach` of the integrand's width.

    Raises:
        ContourRefused: the integrand does not decay, or the nodes exceed the budget, before the work is done.
    """
    tilts = ChernoffBounds.tilts(place.tilt, place.width)
    survey = _reaching(parts, survey, tilts, budget)
    chernoff = ChernoffBounds.of(place.tilt, tilts[tilts <= survey.reach], survey.upper_cumulants)
    spacing = exact_step(2.0 * math.pi / _period(chernoff, place, epsilon, reach))
    cut = _slow_truncation if _decays_slowly(parts) else _truncation
    highest, truncation = cut(survey, place, epsilon, spacing * _most_frequencies(parts, budget))
    line = Line(place.tilt, spacing, math.ceil(highest / spacing) + 1)
    resolved = resolve_all(parts, (line.tilt, line.tilt), line.nodes * spacing, budget)
    work = line.nodes * sum(each.noise_nodes for each in resolved)
    if line.nodes > budget.frequencies or work > budget.products_of(len(parts)):
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{line.nodes} frequencies, {work:.3g} products")
    return Nodes(place, chernoff, line, truncation, *Joined.of([each.on_line(line) for each in resolved]))


def _reaching(parts: Sequence[Part], survey: TiltSurvey, tilts: FloatArray, budget: NodeBudget) -> TiltSurvey:
    """A survey that reaches about the last of the tilts, or as far beyond λ as the budget allows."""
    if tilts[-_SPARED - 1] <= survey.reach:
        return survey
    try:
        return TiltSurvey.of(parts, float(tilts[-1]), budget)
    except ContourRefused:
        return TiltSurvey.of(parts, float(tilts[-STEPS.size]), budget)


def _period(chernoff: ChernoffBounds, place: Saddle, epsilon: float, reach: float) -> float:
    """A period whose alias is negligible at ε and at both ends of the range around it."""
    ends = (epsilon,) if reach == 0.0 else (epsilon - reach * place.width, epsilon, epsilon + reach * place.width)
    return chernoff.period(ends, [place.log_delta_near(end) - NATS for end in ends])


def _truncation(survey: TiltSurvey, place: Saddle, epsilon: float, most: float) -> tuple[float, float]:
    """A frequency beyond which the sum is negligible, and the bound on what is left out there (A3).

    Σ_{k>n} (Δt/π) |g(t_k)| ≤ B(t_n) (1/π) ∫_{t_n}^∞ dt/(λ² + t²) in units of e^{K − λε}.

    Raises:
        ContourRefused: there is none below `most`.
    """
    target = place.log_delta_near(epsilon) - (place.cumulant - place.tilt * epsilon) - NATS
    start = 5.0 / place.width
    while start <= most:
        frequencies = start * _LADDER
        log_tail = np.log(np.arctan2(place.tilt, frequencies) / (math.pi * place.tilt))
        for each in survey.resolved:
            log_tail = log_tail + each.log_decay(place.tilt, frequencies)
        found = np.flatnonzero(log_tail <= target)
        if found.size:
            chosen = int(found[0])
            return float(frequencies[chosen]), 1.001 * math.exp(float(log_tail[chosen]))
        start = 1.28 * float(frequencies[-1])
    raise ContourRefused(RefusalReason.NO_DECAY, f"frequencies up to {most:.3g}")


def _most_frequencies(parts: Sequence[Part], budget: NodeBudget) -> int:
    """The budget's, or fewer where the parts that need no quadrature are of many kinds."""
    kinds = sum(part.kinds for part in parts if isinstance(part, LaplaceSteps))
    return min(budget.frequencies, max(_MOST_VALUES // max(kinds, 1), 1))


def good_width(parts: Sequence[Part], usual: float) -> float:
    """A width of δ with which no nodes are laid for one ε alone: of many kinds these would be dear, and hardly better.

    What is left out beyond the most nodes is nearly the same for both.
    """
    kinds = sum(part.kinds for part in parts if isinstance(part, LaplaceSteps))
    return max(usual, _ENOUGH) if kinds > _MANY_KINDS and _decays_slowly(parts) else usual


def _slow_truncation(survey: TiltSurvey, place: Saddle, epsilon: float, most: float) -> tuple[float, float]:
    """The same of a transform that falls as a power of t: with many nodes, less is asked.

    Raises:
        ContourRefused: too much is left out beyond `most`.
    """
    start = 5.0 / place.width
    if not start < most:
        raise ContourRefused(RefusalReason.NO_DECAY, f"frequencies up to {most:.3g}")
    frequencies = np.append(np.geomspace(start, most, math.ceil(_RUNGS * math.log(most / start)) + 1)[:-1], most)
    log_tail = np.log(np.arctan2(place.tilt, frequencies) / (math.pi * place.tilt))
    for each in survey.resolved:
        log_tail = log_tail + each.log_decay(place.tilt, frequencies)
    left_out = log_tail - (place.log_delta_near(epsilon) - (place.cumulant - place.tilt * epsilon))
    fine = np.flatnonzero((left_out <= -NATS) & (frequencies <= _QUICK_SHARE * most))
    enough = np.flatnonzero(left_out <= -_SLOW_NATS)
    chosen = int(fine[0]) if fine.size else int(enough[0]) if enough.size else frequencies.size - 1
    if not left_out[chosen] <= -_LEAST_NATS:
        raise ContourRefused(RefusalReason.NO_DECAY, f"frequencies up to {most:.3g}")
    return float(frequencies[chosen]), 1.001 * math.exp(float(log_tail[chosen]))


# The alias error of the trapezoidal rule on the contour, from Chernoff bounds at other tilts ------------------------
#
# With period A = 2π/Δt the rule returns Σ_k e^{λkA} D(ε + kA), every term ≥ 0, and D(e) ≤ C(μ) e^{K(μ) − μe} for μ ≥ 0
# with C(μ) = μ^μ/(1 + μ)^{1+μ}, C(0) = 1. Two geometric series bound the excess (docs/engine-certificate.md, A1). The
# bounds of K are kept and evaluated at the ε that is asked: an excess carried over from another ε is no bound.
STEPS = np.asarray([0.3, 0.6, 1.0, 1.7, 2.8, 4.2, 6.0, 8.0])
"""Distances of the other tilts from λ, in units of 1/sd of the integrand's bulk."""
_SPARED = 1
"""How many of the last ones are not worth another survey: the period is a little longer without."""


@dataclass(frozen=True)
class ChernoffBounds:
    """log D(ε) ≤ min over the tilts of log C(μ) + K(μ) − μ ε.

    Attributes:
        tilt: λ, of the line.
        above: tilts μ > λ; `log_above` holds upper bounds of log C(μ) + K(μ).
        below: tilts 0 ≤ ν < λ; `log_below` likewise.
        log_here: the same at λ itself.
    """

    tilt: float
    above: FloatArray
    log_above: FloatArray
    below: FloatArray
    log_below: FloatArray
    log_here: float

    @classmethod
    def tilts(cls, tilt: float, deviation: float) -> FloatArray:
        """The tilts at which upper bounds of K are wanted: below λ (0 included), λ, above λ, increasing."""
        below = tilt - STEPS[::-1] / deviation
        return np.concatenate(([0.0], below[below > 0.0], [tilt], tilt + STEPS / deviation))

    @classmethod
    def of(cls, tilt: float, tilts: FloatArray, upper_cumulants: Callable[[FloatArray], FloatArray]) -> ChernoffBounds:
        """From upper bounds of K at `tilts`, `tilt` being one of them."""
        values = upper_cumulants(tilts) + log_chernoff_factor(tilts)
        above, below = tilts > tilt, tilts < tilt
        here = float(values[~above & ~below][0])
        return cls(tilt, tilts[above], values[above], tilts[below], values[below], here)

    @cached_property
    def _all(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Every tilt, its bound with the part of its rounding that knows no ε, and the other part for each nat of ε."""
        tilts = np.concatenate((self.above, self.below, [self.tilt]))
        logs = np.concatenate((self.log_above, self.log_below, [self.log_here]))
        return tilts, logs + 16 * UNIT_ROUNDOFF * (1.0 + np.abs(logs)), 16 * UNIT_ROUNDOFF * tilts

    def upper_log_delta(self, epsilon: float) -> float:
        """The Chernoff bound of log D(ε) itself, the smaller of 0 and what the tilts give."""
        tilts, logs, rounding = self._all
        return min(float((logs - tilts * epsilon + rounding * abs(epsilon)).min()), 0.0)

    def series(self, period: float) -> Series:
        """Both geometric series of the alias, as far as they do not depend on ε."""
        tilts = np.concatenate((self.above, self.below))
        logs = np.concatenate((self.log_above, self.log_below))
        gap = np.abs(tilts - self.tilt) * period
        rounding = 16 * UNIT_ROUNDOFF * (np.abs(logs) + gap)
        return Series(tilts, logs + rounding - gap - np.log(-np.expm1(-gap)), self.above.size)

    def period(self, epsilons: Sequence[float], targets: Sequence[float]) -> float:
        """A period whose excess is about e^target at most at each ε with its target."""
        at, wanted = np.asarray(epsilons)[:, None], np.asarray(targets)[:, None]
        right = (self.log_above - self.above * at - wanted) / (self.above - self.tilt)
        left = (self.log_below - self.below * at - wanted) / (self.tilt - self.below)
        return float(np.maximum(right.min(axis=1), left.min(axis=1)).max())


class Series(NamedTuple):
    """log of the bounds e^{log_bound}/(e^gap − 1) at ε = 0, by tilt: those above λ first."""

    tilts: FloatArray
    logs: FloatArray
    above: int

    def log_excess(self, epsilon: float) -> float:
        """log of the bound on Σ_{k≠0} e^{λkA} D(ε + kA), with its rounding: the best tilt of each side."""
        found = self.logs - self.tilts * epsilon + (16 * UNIT_ROUNDOFF * abs(epsilon)) * self.tilts
        above, below = float(found[: self.above].min()), float(found[self.above :].min())
        larger, less = max(above, below), abs(above - below)
        return larger + math.log1p(math.exp(-less)) + 4 * UNIT_ROUNDOFF * (1.0 + abs(larger))


def _decays_slowly(parts: Sequence[Part]) -> bool:
    """Return whether no other loss makes up for transforms that fall as a power of t."""
    return all(isinstance(part, LaplaceSteps) for part in parts)

"""Compositions of sampled Gaussians less the event that every step's loss is small: few steps, or rare large losses.

Where the noise is low the loss hardly changes with it, so that φ(t) falls no faster than e^{−(log t)²} and few steps
take many thousand frequencies. But these losses matter only together with a larger one. Mark each step with the
probability w(x) = Φ((x − x_c)/τ), all independently. With M_s the transform of a step without a mark,

    D(ε) = E[(1 − e^{ε−S})₊; some mark] + D₀(ε),    0 ≤ D₀(ε) ≤ C(μ) Π M_s(μ)^T e^{−με} for every μ ≥ 0,

and the first term has the transform Π M^T − Π M_s^T, which falls like that of a Gaussian: every product in it has a
factor M − M_s, which is smooth in x (docs/engine-certificate.md, A6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.transforms.marked_step import MarkedGrid, MarkedStep
from epsilond.accountants.engine.contour.transforms.transform import LineValues, Moments, OneStep, power
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.engine.contour.transforms.marked_step import StepOnLine
    from epsilond.accountants.engine.contour.transforms.transform import ComplexArray, Line, NodeBudget
    from epsilond.accountants.numerics.special import FloatArray

_LADDER = 2.0 ** (0.5 * np.arange(-2.0, 17.0))
"""Tilts of the bound of D₀, in units of 1/ε."""
_LARGEST = 700.0


@dataclass(frozen=True)
class SomeLarge:
    """All steps of a composition, less the event that none of them is marked.

    Attributes:
        steps: the different steps with their counts and marks.
        epsilon: an ε > 0 near those that are asked: the tilts of the bound of D₀ suit it.
    """

    steps: tuple[MarkedStep, ...]
    epsilon: float

    @property
    def supremum(self) -> float:
        """A marked loss is unbounded."""
        return math.inf

    @property
    def log_leak(self) -> float:
        """Whatever ε is: D₀ is at most 1."""
        return 0.0

    def log_leak_at(self, epsilon: float) -> float:
        """Upper bound of log D₀(ε)."""
        tilts = self._tilts
        logs = self._small_bounds - tilts * epsilon
        logs += 16 * UNIT_ROUNDOFF * (1.0 + np.abs(self._small_bounds) + tilts * abs(epsilon))
        return min(float(logs.min()), 0.0)

    def cut_at(self, log_leak: float) -> SomeLarge:  # noqa: ARG002
        """Itself: noise is not cut as well."""
        return self

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> SomeLargeGrid:
        """One quadrature for each different step.

        Raises:
            ContourRefused: one exceeds the budget.
        """
        return SomeLargeGrid(tuple(step.resolve(tilts, frequency, budget) for step in self.steps))

    @cached_property
    def _tilts(self) -> FloatArray:
        return np.asarray(_LADDER / self.epsilon)

    @cached_property
    def _small_bounds(self) -> FloatArray:
        """log C(μ) + Σ T log M_s(μ), rounded up."""
        tilts = self._tilts
        log_factor = -np.log1p(tilts) - tilts * np.log1p(1.0 / tilts)
        terms = [step.count * step.log_unmarked(tilts) for step in self.steps]
        size = np.asarray([np.abs(term) for term in terms]).sum(axis=0)
        total = log_factor + np.asarray(terms).sum(axis=0)
        return np.asarray(total + 8 * UNIT_ROUNDOFF * (len(terms) * size + np.abs(log_factor)))


class _Together(NamedTuple):
    """α = Σ T log(s + l) and β = Σ T log s of bounds or values of both halves, β and α − β."""

    unmarked: FloatArray
    excess: FloatArray


def _together(counts: FloatArray, unmarked: FloatArray, marked: FloatArray) -> _Together:
    """Σ T log s and Σ T log(1 + l/s) over the first axis."""
    least = np.maximum(unmarked, 1e-300)
    return _Together(counts @ np.log(least), counts @ np.log1p(marked / least))


@dataclass(frozen=True)
class SomeLargeGrid:
    """All steps on their quadratures."""

    grids: tuple[MarkedGrid, ...]

    @property
    def terms(self) -> None:
        """A difference of products is no sum of the kind that is stacked."""
        return None

    @property
    def noise_nodes(self) -> int:
        """Of all quadratures; each is summed twice."""
        return 2 * sum(each.grid.noise_nodes for each in self.grids)

    @cached_property
    def _counts(self) -> FloatArray:
        return np.asarray([float(each.grid.count) for each in self.grids])

    def moments(self, tilts: FloatArray) -> Moments:
        """K, K′ and K″ of the difference, from those of both halves without cancellation."""
        cumulant, excess, shift, spread = (np.zeros_like(tilts) for _ in range(4))
        mean, variance = np.zeros_like(tilts), np.zeros_like(tilts)
        for each in self.grids:
            count, one = each.grid.count, each.halves(tilts)
            gap = one.marked_mean - one.mean
            cumulant += count * one.cumulant
            excess -= count * np.log1p(-one.share)
            mean += count * one.mean
            variance += count * one.variance
            shift += count * one.share * gap
            spread += count * one.share * (one.marked_variance - one.variance + (1.0 - one.share) * gap * gap)
        kept = np.maximum(-np.expm1(-excess), 1e-300)
        moved = shift / kept
        curvature = variance + (spread + shift * shift) / kept - moved * moved
        return Moments(cumulant + np.log(kept), mean + moved, np.maximum(curvature, 1e-300))

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """log(Π (s + l)^T − Π s^T) with both halves raised: a polynomial with positive coefficients rises in them."""
        halves = [each.upper_halves(tilts) for each in self.grids]
        unmarked, marked = (np.asarray([half[side] for half in halves]) for side in (1, 2))
        base = self._counts @ np.asarray([half[0] for half in halves])
        both = _together(self._counts, unmarked, marked)
        total = base + both.unmarked + _log_expm1(both.excess)
        size = np.abs(base) + np.abs(both.unmarked) + both.excess
        return np.asarray(total + 16 * UNIT_ROUNDOFF * (len(self.grids) + 1) * (1.0 + size))

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Of Π M^T − Π M_s^T by the bounds of both halves, relative to its value at the tilt."""
        bounds = [each.decay(tilt, frequencies) for each in self.grids]
        unmarked, marked = (np.asarray([bound[side] for bound in bounds]) for side in (0, 1))
        both = _together(self._counts, unmarked, marked)
        shares = np.asarray([float(each.halves(np.asarray([tilt])).share[0]) for each in self.grids])
        kept = -math.expm1(float(self._counts @ np.log1p(-shares)))
        size = np.abs(both.unmarked) + both.excess
        return np.asarray(both.unmarked + _log_expm1(both.excess) - math.log(kept) + 1e-9 + 1e-14 * size)

    def on_line(self, line: Line) -> LineValues:
        """(Π M^T − Π M_s^T)/its value at the tilt, with every error term."""
        steps = [each.on_line(line) for each in self.grids]
        counts = [each.grid.count for each in self.grids]
        excess = -math.fsum(count * math.log1p(-step.share) for count, step in zip(counts, steps, strict=True))
        kept = -math.expm1(-excess)
        value, error = _difference(counts, steps)
        # dlog(1 − e^{−E}) = dE/(e^E − 1).
        moved = math.fsum(
            count * step.share_error / (1.0 - step.share) for count, step in zip(counts, steps, strict=True)
        )
        share_error = 1.01 * (moved + 8 * UNIT_ROUNDOFF * excess) / math.expm1(min(excess, _LARGEST))
        cumulant = math.fsum(count * step.cumulant for count, step in zip(counts, steps, strict=True))
        cumulant_error = math.fsum(
            count * (step.cumulant_error + 2 * UNIT_ROUNDOFF * abs(step.cumulant))
            for count, step in zip(counts, steps, strict=True)
        )
        centre = math.fsum(count * step.mean for count, step in zip(counts, steps, strict=True))
        size = math.fsum(count * abs(step.mean) for count, step in zip(counts, steps, strict=True))
        error = error / kept + 4 * UNIT_ROUNDOFF * np.abs(value) / kept
        log_kept = math.log(kept)
        joined = cumulant + log_kept
        rounding = cumulant_error + share_error + 4 * UNIT_ROUNDOFF * (1.0 + abs(log_kept) + abs(joined))
        values = power(OneStep(value / kept - 1.0, error, centre, joined, rounding), 1, line)
        return values._replace(rounding=values.rounding + 4 * UNIT_ROUNDOFF * size * line.frequencies)


def _difference(counts: Sequence[int], steps: Sequence[StepOnLine]) -> tuple[ComplexArray, FloatArray]:
    """Π (s + l)^T − Π s^T on a line, and a bound on its error.

    The difference is a polynomial in all s and l with coefficients ≥ 0, so errors of s and l move it by no more than
    they move its value at their moduli, and that by no more than its derivatives at the raised moduli.
    """
    nodes = steps[0].unmarked.size
    base, excess, whole = (np.zeros(nodes, dtype=np.complex128) for _ in range(3))
    base_error, excess_error, whole_error = (np.zeros(nodes) for _ in range(3))
    largest = np.zeros(nodes)
    raised, top = [], _Together(np.zeros(nodes), np.zeros(nodes))
    for count, step in zip(counts, steps, strict=True):
        unmarked = step.unmarked
        safe = np.where(np.abs(unmarked) < 1e-200, 1e-200, unmarked)
        quotient = step.marked / safe
        largest = np.maximum(largest, np.abs(quotient))
        first, first_error = _log_one_plus(step.unmarked_change)
        second, second_error = _log_one_plus(np.where(np.abs(quotient) <= 1.0, quotient, 0.0))
        both, both_error = _log_one_plus(step.unmarked_change + step.marked)
        base, excess, whole = base + count * first, excess + count * second, whole + count * both
        base_error += count * first_error
        excess_error += count * (second_error + 8 * UNIT_ROUNDOFF * np.minimum(np.abs(quotient), 1.0))
        whole_error += count * (both_error + 2 * UNIT_ROUNDOFF)
        low, high = np.abs(unmarked) + step.unmarked_error + 1e-300, np.abs(step.marked) + step.marked_error
        raised.append((low, high, step, count))
        top = _Together(top.unmarked + count * np.log(low), top.excess + count * np.log1p(high / low))
    few = 8 * UNIT_ROUNDOFF * len(steps)
    base_error += few * np.abs(base)
    excess_error += few * np.abs(excess)
    whole_error += few * np.abs(whole)
    apart = largest <= 0.5
    lower = np.exp(base)
    small = _expm1(np.where(apart, excess, 0.0))
    upper = np.exp(whole)
    value = np.where(apart, lower * small, upper - lower)
    modulus = np.abs(lower)
    with np.errstate(over="ignore"):
        rounding = np.where(
            apart,
            modulus
            * (np.abs(small) * (_grown(base_error) + 16 * UNIT_ROUNDOFF) + np.abs(1.0 + small) * _grown(excess_error)),
            np.abs(upper) * (_grown(whole_error) + 8 * UNIT_ROUNDOFF)
            + modulus * (_grown(base_error) + 8 * UNIT_ROUNDOFF),
        )
        below = np.exp(np.minimum(top.unmarked, _LARGEST))
        above = np.exp(np.minimum(top.unmarked + top.excess, _LARGEST))
        gain = np.where(top.excess < 1.0, below * np.expm1(np.minimum(top.excess, 1.0)), above)
        error = rounding
        for low, high, step, count in raised:
            error = error + count * (step.marked_error * above / (low + high) + step.unmarked_error * gain / low)
    return value, 1.01 * error


def _grown(error: FloatArray) -> FloatArray:
    """e^error − 1."""
    return np.asarray(np.expm1(np.minimum(error, _LARGEST)))


def _log_one_plus(change: ComplexArray) -> tuple[ComplexArray, FloatArray]:
    """log(1 + u) without cancellation, and a bound on its rounding."""
    real, imaginary = change.real, change.imag
    square = 2.0 * real + real * real + imaginary * imaginary
    computed = np.maximum(np.hypot(1.0 + real, imaginary), 1e-300)
    log_modulus = np.where(square < -0.5, np.log(computed), 0.5 * np.log1p(np.maximum(square, -0.9)))
    phase = np.arctan2(imaginary, 1.0 + real)
    scale = 2.0 * np.abs(real) + real * real + imaginary * imaginary
    size = np.abs(log_modulus) + np.abs(phase)
    # Where 1 + u is nearly 0 its own rounding counts in full: u moves by a unit of 1.
    near = np.where(square < -0.5, 2.0 / computed, 0.0)
    return log_modulus + 1j * phase, UNIT_ROUNDOFF * (6.0 * scale + 6.0 * size + near)


def _expm1(exponent: ComplexArray) -> ComplexArray:
    """e^E − 1 without cancellation."""
    half = np.sin(0.5 * exponent.imag)
    real, imaginary = np.expm1(exponent.real), exponent.imag
    found = np.empty_like(exponent)
    found.real = real * np.cos(imaginary) - 2.0 * half * half
    found.imag = np.exp(exponent.real) * np.sin(imaginary)
    return found


def _log_expm1(value: FloatArray) -> FloatArray:
    """log(e^v − 1), v > 0."""
    small = np.minimum(value, 1.0)
    with np.errstate(divide="ignore"):
        return np.where(value < 1.0, np.log(np.expm1(small)), value + np.log1p(-np.exp(-np.maximum(value, 1.0))))

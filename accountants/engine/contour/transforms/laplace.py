"""Laplace losses in closed form: one step's transform at x = l + ½, w = x + it is e^{−s/2} (cosh ws + sinh(ws)/2w).

With s the shift over the noise's scale, the loss is s with probability ½, −s with probability e^{−s}/2, and between
them it has the density e^{−(s − v)/2}/4. What does not decay along the line are the atoms: cosh ws is periodic. A run
of one kind is therefore split by how many of its losses lie between the ends: none and one are summed in closed form,
and the transform of the others falls as t^−2 (docs/engine-certificate.md, A7).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from epsilond.accountants.engine.contour.transforms.transform import LineValues, Moments, polar
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.transforms.transform import Line, NodeBudget, OneCopy
    from epsilond.accountants.numerics.special import FloatArray

MOST_SPLIT = 1 << 14
"""Steps of one kind up to which its atoms are summed one by one."""
_ENTRIES = 1 << 15
_LOG2 = math.log(2.0)
_TINY = 1e-300


class _TiltedStep(NamedTuple):
    """One step at a real tilt, elementwise: x, tanh xs, f = tanh(xs)/2x and K."""

    x: FloatArray
    tanh: FloatArray
    inner: FloatArray
    cumulant: FloatArray

    @classmethod
    def at(cls, shift: FloatArray, tilt: FloatArray) -> _TiltedStep:
        """K = −s/2 + log cosh xs + log(1 + f)."""
        x = tilt + 0.5
        turn = x * shift
        tanh = np.tanh(turn)
        inner = tanh / (2.0 * x)
        small = np.minimum(turn, 1.0)
        log_cosh = np.where(
            turn < 1.0, 0.5 * np.log1p(np.sinh(small) ** 2), turn + np.log1p(np.exp(-2.0 * turn)) - _LOG2
        )
        return cls(x, tanh, inner, log_cosh + (np.log1p(inner) - 0.5 * shift))


def _cumulant_error(shift: FloatArray, x: FloatArray | float) -> FloatArray:
    """Bound on the error of K of one step, the rounding of x included, as K′ ≤ s."""
    return np.asarray(32 * UNIT_ROUNDOFF * shift * (1.0 + x))


@dataclass(frozen=True)
class LaplaceSteps:
    """Independent Laplace losses of several kinds: a part that is its own resolved form.

    Attributes:
        shifts: of the kinds, s > 0; the law is that of these very floats.
        counts: how often each is run.
    """

    shifts: tuple[float, ...]
    counts: tuple[int, ...]
    log_leak: float = -math.inf
    noise_nodes: int = 0

    @property
    def kinds(self) -> int:
        """How many there are."""
        return len(self.shifts)

    @property
    def terms(self) -> None:
        """A closed form has none."""
        return None

    @cached_property
    def supremum(self) -> float:
        """Σ T s, rounded up."""
        total = math.fsum(count * shift for count, shift in zip(self.counts, self.shifts, strict=True))
        return total * (1.0 + 4 * UNIT_ROUNDOFF)

    @cached_property
    def _columns(self) -> tuple[FloatArray, FloatArray]:
        """Shifts and counts, a row each."""
        return np.asarray(self.shifts)[:, None], np.asarray(self.counts, dtype=np.float64)[:, None]

    def cut_at(self, log_leak: float) -> LaplaceSteps:  # noqa: ARG002
        """Itself: no loss is rare and large."""
        return self

    def resolve(self, tilts: tuple[float, float], frequency: float, budget: NodeBudget) -> LaplaceSteps:  # noqa: ARG002
        """Itself: a closed form needs no nodes."""
        return self

    def moments(self, tilts: FloatArray) -> Moments:
        """By derivatives of the closed form."""
        shift, count = self._columns
        x, tanh, inner, cumulant = _TiltedStep.at(shift, tilts[None, :])
        rest = (1.0 - tanh) * (1.0 + tanh)
        first = shift * rest / (2.0 * x) - tanh / (2.0 * x * x)
        second = -shift * shift * tanh * rest / x - shift * rest / (x * x) + tanh / x**3
        slope = first / (1.0 + inner)
        variance = shift * shift * rest + second / (1.0 + inner) - slope * slope
        sums = (count * each for each in (cumulant, shift * tanh + slope, np.maximum(variance, 0.0)))
        return Moments(*(each.sum(axis=0) for each in sums))

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """K, raised by its error and that of the sum."""
        shift, count = self._columns
        x, _, _, cumulant = _TiltedStep.at(shift, tilts[None, :])
        raised = cumulant + _cumulant_error(shift, x)
        summed = (count * raised).sum(axis=0)
        return np.asarray(summed + UNIT_ROUNDOFF * (shift.size + 4) * (count * np.abs(raised)).sum(axis=0))

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Σ T log of `_log_decay_of_one`."""
        shift, count = self._columns
        return np.asarray((count * _log_decay_of_one(shift, tilt, frequencies[None, :])).sum(axis=0))

    def on_line(self, line: Line) -> LineValues:
        """The sum over all kinds, a block of them at a time."""
        shift, count = self._columns
        frequencies = line.frequencies
        log_modulus, phase, growth, rounding, sizes = np.zeros((5, line.nodes))
        means, cumulants = self._each(line.tilt)
        centre, together = math.fsum(count[:, 0] * means), max(_ENTRIES // line.nodes, 1)
        for first in range(0, shift.size, together):
            rows = slice(first, first + together)
            one = _polar_of_one(shift[rows], line.tilt, frequencies, means[rows, None])
            log_modulus += (count[rows] * one.log_modulus).sum(axis=0)
            turned = count[rows] * one.phase
            phase += turned.sum(axis=0)
            growth += (count[rows] * one.log_growth).sum(axis=0)
            rounding += (count[rows] * one.rounding).sum(axis=0)
            sizes += np.abs(turned).sum(axis=0)
        rounding += UNIT_ROUNDOFF * ((shift.size + 4) * (sizes + np.abs(log_modulus)) + 4.0 * abs(centre) * frequencies)
        many = 1.0 + 4 * (shift.size + 4) * UNIT_ROUNDOFF
        errors = _cumulant_error(shift[:, 0], line.tilt + 0.5) + 4 * UNIT_ROUNDOFF * np.abs(cumulants)
        return LineValues(
            log_modulus=log_modulus,
            phase=phase - centre * frequencies,
            log_growth=growth * many,
            rounding=rounding * many,
            centre=centre,
            cumulant=math.fsum(count[:, 0] * cumulants),
            cumulant_error=math.fsum(count[:, 0] * errors),
        )

    def _each(self, tilt: float) -> tuple[FloatArray, FloatArray]:
        """K′, about, and K of one step of each kind."""
        shift = self._columns[0][:, 0]
        x, tanh, inner, cumulant = _TiltedStep.at(shift, np.asarray(tilt))
        rest = (1.0 - tanh) * (1.0 + tanh)
        return shift * tanh + (shift * rest / (2.0 * x) - tanh / (2.0 * x * x)) / (1.0 + inner), cumulant


def _log_decay_of_one(shift: FloatArray, tilt: float, frequencies: FloatArray) -> FloatArray:
    """Upper bounds of log |φ(t′)| for all t′ ≥ t.

    M(z) is in proportion to cosh ws + ½ ∫₀^s cosh wv dv, and |cosh wv|² = cosh² xv − sin² tv falls with t up to π/2s;
    from any t* on |φ| is at most (1 + 1/2t*)/(1 + f).
    """
    x = tilt + 0.5
    turn = shift * x
    inner = np.tanh(turn) / (2.0 * x)
    quarter = 0.5 * math.pi / shift
    far = (1.0 + 0.5 / np.maximum(frequencies, quarter)) / (1.0 + inner)
    sine = np.sin(np.minimum(shift * frequencies, 0.5 * math.pi)) / np.cosh(np.minimum(turn, 350.0))
    fallen = sine * sine / (1.0 + np.sqrt((1.0 - sine) * (1.0 + sine)))
    near = np.where(frequencies < quarter, 1.0 - fallen / (1.0 + inner), 0.0)
    bound = np.maximum(near, far) * (1.0 + 32 * UNIT_ROUNDOFF * (1.0 + turn))
    return np.asarray(np.log(np.minimum(bound, 1.0)))


def _change_of_one(shift: FloatArray, tilt: float, frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Real and imaginary part of (φ(t) − 1)(1 + f), in terms that are small where t is."""
    x = tilt + 0.5
    tanh = np.tanh(shift * x)
    half = (0.5 * shift) * frequencies
    sine, cosine = np.sin(half), np.cos(half)
    fallen, turned = 2.0 * sine * sine, 2.0 * sine * cosine
    real, imaginary = (-x) * tanh * fallen, x * turned - tanh * frequencies
    scale = 1.0 / (2.0 * x * (x * x + frequencies * frequencies))
    return (
        (real * x + imaginary * frequencies) * scale - fallen,
        (imaginary * x - real * frequencies) * scale + tanh * turned,
    )


def _polar_of_one(shift: FloatArray, tilt: float, frequencies: FloatArray, mean: FloatArray | float) -> OneCopy:
    """φ of one step in polar form, with |φ̂ − φ| ≤ (160 + 4xs) u ts (A7)."""
    x = tilt + 0.5
    scale = 1.0 / (1.0 + np.tanh(shift * x) / (2.0 * x))
    real, imaginary = _change_of_one(shift, tilt, frequencies)
    change = np.empty(real.shape, dtype=np.complex128)
    np.multiply(real, scale, out=change.real)
    np.multiply(imaginary, scale, out=change.imag)
    error = (UNIT_ROUNDOFF * (160.0 + 4.0 * x * shift) * shift) * frequencies
    return polar(change, error, mean, frequencies)


class Beside(NamedTuple):
    """What is summed in closed form beside an integral, over e^`log_scale`: ends of it at ε, and two derivatives."""

    log_scale: float
    lower: float
    upper: float
    slope: float
    curvature: float


@dataclass(frozen=True)
class LaplaceRun(LaplaceSteps):
    """T steps of one kind, T ≤ `MOST_SPLIT`: the transform is that of what at least two losses between the ends add.

    K, its bounds and all units are those of the whole law, of which this is a part.
    """

    @property
    def _kind(self) -> tuple[float, int]:
        return self.shifts[0], self.counts[0]

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Of Σ_{n ≥ 2} C(T, n) a^{T−n} c^n, |a| ≤ 1/(1 + f) and |c| ≤ |a's bound|/2t, or of all three terms."""
        shift, count = self._kind
        x = tilt + 0.5
        log_atoms = -count * math.log1p(math.tanh(x * shift) / (2.0 * x))
        mean = count * 0.5 / frequencies
        several = log_atoms + np.minimum(2.0 * np.log(mean) - _LOG2, 0.0) + mean
        whole = super().log_decay(tilt, frequencies)
        apart = np.logaddexp(whole, log_atoms + np.log1p(mean))
        slack = 64 * UNIT_ROUNDOFF * (1.0 + count * shift * (1.0 + x) + abs(log_atoms))
        return np.asarray(np.minimum(np.minimum(several, apart) + slack, 0.0))

    def on_line(self, line: Line) -> LineValues:
        """φ^T less the terms without, and with one, loss between the ends."""
        shift, count = self._kind
        frequencies, x = line.frequencies, line.tilt + 0.5
        (mean,), (cumulant,) = (each.tolist() for each in self._each(line.tilt))
        one = _polar_of_one(np.asarray(shift), line.tilt, frequencies, mean)
        centre = count * mean
        tanh, turn = math.tanh(x * shift), shift * frequencies
        log_scale = -math.log1p(tanh / (2.0 * x))
        sine, cosine = np.sin(turn), np.cos(turn)
        atoms = cosine + 1j * (tanh * sine)
        between = (tanh * cosine + 1j * sine) / (2.0 * x + 2j * frequencies)
        argument = 4.0 * abs(centre) * frequencies
        back = np.exp(-1j * centre * frequencies)
        # Of each factor, the error relative to its modulus, at least |tanh| of what is summed.
        off = UNIT_ROUNDOFF * (32.0 + (4.0 + 4.0 * x * shift) * (1.0 + turn))
        size = np.maximum(np.abs(atoms), _TINY)
        log_atoms = np.log(size) + log_scale
        angle = np.angle(atoms)
        inner = np.exp((count - 1) * log_atoms) * np.exp(1j * (count - 1) * angle)
        edge, single = inner * atoms * math.exp(log_scale), inner * between * (count * math.exp(log_scale))
        whole = np.exp(count * (one.log_modulus + 1j * one.phase))
        value = (whole - edge - single) * back
        grown = count * (one.log_growth + one.rounding) + UNIT_ROUNDOFF * (8.0 * count * np.abs(one.phase) + 64.0)
        spread = count * (np.log1p(off / size) + off)
        spread += UNIT_ROUNDOFF * (8.0 * count * (np.abs(angle) + np.abs(log_atoms)) + 64.0)
        with np.errstate(over="ignore"):
            grown, spread = (np.expm1(np.minimum(each, 700.0)) for each in (grown, spread))
            error = np.abs(whole) * grown + (np.abs(edge) + np.abs(single)) * spread
            error += np.abs(inner) * (1.0 + spread) * (count * math.exp(log_scale)) * off
        error += UNIT_ROUNDOFF * (argument + 64.0) * (np.abs(whole) + np.abs(edge) + np.abs(single))
        modulus = np.maximum(np.abs(value), np.maximum(error, _TINY))
        clipped = np.abs(value) < modulus
        return LineValues(
            log_modulus=np.log(modulus),
            phase=np.angle(value),
            log_growth=np.log1p(np.where(clipped, 3.0, error / modulus)),
            rounding=np.zeros_like(frequencies),
            centre=centre,
            cumulant=count * cumulant,
            cumulant_error=count * float(_cumulant_error(np.asarray(shift), x) + 4 * UNIT_ROUNDOFF * abs(cumulant)),
        )

    @cached_property
    def _atoms(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Totals and log masses of T and of T − 1 atoms, the latter T-fold, from the largest on."""
        shift, count = self._kind
        found: list[FloatArray] = []
        for steps, log_fold in ((count, 0.0), (count - 1, math.log(count))):
            falls = np.arange(steps + 1.0)
            log_choices = gammaln(steps + 1.0) - gammaln(falls + 1.0) - gammaln(steps - falls + 1.0)
            found += [shift * (steps - 2.0 * falls), log_choices - steps * _LOG2 - falls * shift + log_fold]
        return found[0], found[1], found[2], found[3]

    def beside(self, epsilon: float) -> Beside:
        """What runs with at most one loss between the ends add to δ(ε).

        An atom at y adds its mass times (1 − e^{ε − y})₊. T − 1 atoms at y and one loss v between the ends add it times
        ½ (1 − e^{(g − s)/2})² for −s ≤ g < s, g = ε − y, and times ½ (1 − e^{−s})(1 − e^g) for g < −s.
        Guarantees: roundings of totals move ε, those of masses the sum.
        """
        shift, count = self._kind
        totals, log_masses, singles, log_singles = self._atoms
        relative = 32 * UNIT_ROUNDOFF * (float(gammaln(count + 1.0)) + count * (shift + 1.0) + 64.0)
        moved = 8 * UNIT_ROUNDOFF * (count * shift + abs(epsilon))
        kept, last = (
            int(np.searchsorted(-each, reach)) for each, reach in ((totals, -epsilon), (singles, shift - epsilon))
        )
        kept, last = min(kept + 1, totals.size), min(last + 1, singles.size)
        top = max(float(log_masses[:kept].max(initial=-math.inf)), float(log_singles[:last].max(initial=-math.inf)))
        if top == -math.inf:
            return Beside(0.0, 0.0, 0.0, 0.0, 0.0)
        mass, single = np.exp(log_masses[:kept] - top), np.exp(log_singles[:last] - top)
        ends = []
        for at in (epsilon + moved, epsilon - moved):
            gap, near = at - totals[:kept], at - singles[:last]
            sums = float(mass @ -np.expm1(np.minimum(gap, 0.0))) + float(single @ self._one_between(near))
            ends.append(sums)
        gap, near = epsilon - totals[:kept], epsilon - singles[:last]
        past = np.exp(np.minimum(gap, 0.0), where=gap < 0.0, out=np.zeros_like(gap))
        half = np.exp(0.5 * np.minimum(near - shift, 0.0))
        inside = near >= -shift
        first = np.where(inside, -0.5 * (1.0 - half) * half, 0.5 * math.expm1(-shift) * np.exp(np.minimum(near, 0.0)))
        second = np.where(inside, np.where(near < shift, -0.25 * half * (1.0 - 2.0 * half), 0.0), first)
        slope = -float(mass @ past)
        return Beside(
            top,
            ends[0] * (1.0 - relative),
            ends[1] * (1.0 + relative),
            slope + float(single @ first),
            slope + float(single @ second),
        )

    def _one_between(self, near: FloatArray) -> FloatArray:
        shift, _ = self._kind
        edge = np.expm1(0.5 * np.minimum(near - shift, 0.0))
        whole = 0.5 * math.expm1(-shift) * np.expm1(np.minimum(near, 0.0))
        return np.asarray(np.where(near >= -shift, 0.5 * edge * edge, whole))


def laplace_part(shifts: tuple[float, ...], counts: tuple[int, ...], *, alone: bool) -> LaplaceSteps:
    """All Laplace losses of a composition; `alone`, without others, so that a run of one kind can be split."""
    if alone and len(shifts) == 1 and counts[0] <= MOST_SPLIT:
        return LaplaceRun(shifts, counts)
    return LaplaceSteps(shifts, counts)

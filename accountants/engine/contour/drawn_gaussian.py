"""T steps of a Gaussian mechanism on batches drawn without replacement, as a part of a composition (certificate, A8).

The atom a at the loss 0 does not decay along the line. Where the steps are of one kind alone, what belongs to no loss
but 0 and to one such loss is known in closed form, and the transform is that of the rest,

    M^T − a^T − T a^{T−1} c = Σ_{n ≥ 2} C(T, n) a^{T−n} c^n,      c = M − a.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.facts import DrawnGaussianLaw
from epsilond.accountants.engine.contour.accuracy import LEAST_RATE, NEGLIGIBLE_NATS, QUADRATURE_NATS, TINY
from epsilond.accountants.engine.contour.drawn_decay import DrawnDecay
from epsilond.accountants.engine.contour.drawn_loss import DrawnLoss
from epsilond.accountants.engine.contour.drawn_nodes import DrawnNodes
from epsilond.accountants.engine.contour.drawn_rule import Tilts, drawn_rule
from epsilond.accountants.engine.contour.noise import summation_error
from epsilond.accountants.engine.contour.part import Beside, LineValues, characteristic_change, powered
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.curve.facts import Law
    from epsilond.accountants.engine.contour.part import ComplexArray, Line
    from epsilond.accountants.numerics.special import FloatArray

_SMALL = 0.5
"""T |c|/a up to which the rest is summed as a series."""
_TERMS = 24
"""Terms of that series: the next is below 2^−24/24!."""
_NARROW = 0.1
"""Scale q d of small losses below which steps whose atoms keep a share are rejected: over 10^4 frequencies each."""


def falls_enough(laws: Sequence[tuple[Law, int]]) -> bool:
    """Return whether the transform is likely to fall within some thousand frequencies (A8, What is rejected).

    It may not where all losses are drawn, their atoms keep a share, and small losses have a fine scale.
    """
    drawn = [(DrawnLoss(law.rate, law.shift), count) for law, count in laws if isinstance(law, DrawnGaussianLaw)]
    if len(drawn) < len(laws):
        return True
    kept = -math.fsum(count * math.log(max(loss.atom, TINY)) for loss, count in drawn if 0.0 < loss.rate < 1.0)
    return kept >= NEGLIGIBLE_NATS or all(loss.rate * loss.shift >= _NARROW for loss, _ in drawn if loss.rate > 0.0)


class OneStep(NamedTuple):
    """One step on a line: φ − 1 and a bound on its error per node, the mean loss, K and a bound on its error."""

    change: ComplexArray
    error: FloatArray
    mean: float
    cumulant: float
    cumulant_error: float


@dataclass(frozen=True)
class DrawnGaussian:
    """T independent steps of one drawn loss, alone in a composition or not."""

    loss: DrawnLoss
    count: int
    alone: bool

    log_leak: float = -math.inf
    supremum: float = math.inf

    def on_reals(self, reach: float) -> DrawnGaussianGrid:
        """Return all losses at tilts up to the reach.

        Raises:
            ContourRefused: too many nodes, or a transform that falls too slowly.
        """
        return self.resolve((0.0, reach), 0.0)

    def on_line(self, line: Line, most_products: int) -> LineValues:
        """Return φ^T with its errors.

        Raises:
            ContourRefused: as `on_reals`.
        """
        grid = self.resolve((line.tilt, line.tilt), line.nodes * line.spacing)
        if grid.nodes.losses.size * line.nodes > most_products:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{line.nodes} frequencies")
        return grid.on_line(line)

    def resolve(self, tilts: tuple[float, float], frequency: float) -> DrawnGaussianGrid:
        """Return the widest rule that is good enough.

        Raises:
            ContourRefused: it takes too many nodes.
        """
        if self.loss.rate < LEAST_RATE:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"rate {self.loss.rate:g}")
        if self.alone and not falls_enough([(DrawnGaussianLaw(self.loss.rate, self.loss.shift), self.count)]):
            raise ContourRefused(RefusalReason.NO_DECAY, f"{self.count} steps that are mostly silent")
        nodes = DrawnNodes(self.loss, drawn_rule(self.loss, self.count, Tilts(*tilts), frequency))
        return DrawnGaussianGrid(self, nodes, DrawnDecay(nodes, self.count))

    def beside(self, epsilon: float) -> Beside:
        """Bound what steps with at most one loss other than 0 add to δ(ε) (A8, Few steps)."""
        loss, count = self.loss, self.count
        log_atom = math.log(loss.atom)
        log_single = math.log(count) + (count - 1) * log_atom
        error = UNIT_ROUNDOFF * (32.0 * count + 4.0 * count * abs(log_atom) + 64.0)
        log_beyond, of_beyond = loss.log_beyond(abs(epsilon))
        exponential = math.exp(min(epsilon, 700.0))
        tail = loss.tail_beyond(abs(epsilon))
        if epsilon >= 0.0:
            error += of_beyond
            slope = -exponential * tail * math.exp(-max(log_beyond, -700.0))
            return Beside(log_single + log_beyond, math.exp(-error), math.exp(error), slope)
        # Of a symmetric pair E_γ = 1 − γ + γ E_{1/γ}; the atom has (1 − γ) a, T of them a/T to each single loss.
        mirrored, whole = exponential * math.exp(log_beyond), loss.mass + loss.atom / count
        value = whole * -math.expm1(epsilon) + mirrored
        error += of_beyond + 64 * UNIT_ROUNDOFF
        slope = tail + mirrored - exponential * whole
        return Beside(log_single, value * math.exp(-error), value * math.exp(error), slope)


@dataclass(frozen=True)
class DrawnGaussianGrid:
    """The steps on nodes that are certified for a range of tilts and frequencies."""

    part: DrawnGaussian
    nodes: DrawnNodes
    decay: DrawnDecay

    def moments(self, tilts: FloatArray) -> FloatArray:
        """Return K, K′ and K″ from all losses."""
        log_first, loss, copies = self.nodes.log_masses, self.nodes.losses, self.part.count
        exponent = log_first + tilts[:, None] * loss
        top = exponent.max(axis=1)
        weights = np.exp(exponent - top[:, None])
        total = weights.sum(axis=1)
        mean = weights @ loss / total
        variance = np.maximum(weights @ (loss * loss) / total - mean * mean, 0.0)
        return np.asarray(copies * np.stack((top + np.log(total), mean, variance)))

    def end_error(self, tilts: FloatArray) -> FloatArray:
        """Return zeros: nothing is left out."""
        return np.zeros_like(tilts)

    def upper_cumulants(self, tilts: FloatArray) -> FloatArray:
        """Return K, raised by its error."""
        found = [self.nodes.cumulant(tilt) for tilt in tilts.tolist()]
        return np.asarray([self.part.count * (value + error) * (1.0 + 4 * UNIT_ROUNDOFF) for value, error in found])

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Return upper bounds of log |φ(t′)|^T for all t′ ≥ t, or of what is left of φ^T."""
        return self.decay.log_decay(tilt, frequencies, alone=self.part.alone)

    def on_line(self, line: Line) -> LineValues:
        """Return φ^T, or the rest of it if there are no other losses."""
        at = self.nodes.tilted(line.tilt)
        count, frequencies = self.part.count, line.frequencies
        mean = float(at.weight @ at.loss)
        deviation = at.loss - mean
        least = math.exp(-QUADRATURE_NATS) / (count * at.weight.size)
        kept = np.abs(at.weight) > least
        change = characteristic_change(at.weight[kept], deviation[kept], line)
        slope = float((np.abs(at.weight) * summation_error(at.weight.size + 32) + at.weight_error) @ np.abs(deviation))
        slope += float(np.abs(at.weight) @ at.loss_error) + 32 * UNIT_ROUNDOFF * abs(mean)
        dropped = float(np.abs(at.weight[~kept]).sum())
        half = 0.5 * mean * frequencies
        turn = np.sin(half)
        rotation = -2.0 * turn * turn + 2j * turn * np.cos(half)
        changed = at.share * (change * (1.0 + rotation) + rotation)
        size = at.share * (np.abs(change) + np.abs(rotation))
        error = at.share * (1.01 * slope * frequencies + 2.02 * dropped) + 2.02 * self.nodes.rule.error
        error += size * (16 * UNIT_ROUNDOFF + 2.0 * at.cumulant_error)
        error[0] = 0.0
        step = OneStep(changed, error, at.share * mean, at.cumulant, at.cumulant_error)
        return self._rest(step, line, at.share) if self.part.alone else self._power(step, line)

    def _power(self, step: OneStep, line: Line) -> LineValues:
        """Return φ^T in polar form."""
        count, frequencies = self.part.count, line.frequencies
        modulus, phase, growth, rounding = powered(step.change, step.error, step.mean, frequencies, count)
        centre = count * step.mean
        return LineValues(
            log_modulus=modulus,
            phase=phase - centre * frequencies,
            log_growth=growth * (1.0 + 2 * UNIT_ROUNDOFF),
            rounding=rounding + UNIT_ROUNDOFF * 4.0 * (abs(centre) * frequencies + np.abs(phase)),
            centre=centre,
            cumulant=count * step.cumulant,
            cumulant_error=count * (step.cumulant_error + 4 * UNIT_ROUNDOFF * abs(step.cumulant)),
        )

    def _rest(self, step: OneStep, line: Line, share: float) -> LineValues:
        """Return (φ^T − α^T − T α^{T−1} χ) e^{−itc}, α = a/M(l) and χ = c(l + it)/M(l)."""
        whole = self._power(step, line)
        count, frequencies = self.part.count, line.frequencies
        log_alpha = math.log(self.part.loss.atom) - step.cumulant
        of_alpha = 32 * UNIT_ROUNDOFF + step.cumulant_error + 8 * UNIT_ROUNDOFF * abs(log_alpha)
        chi = share + step.change
        of_chi = step.error + (4 * UNIT_ROUNDOFF + 2.0 * step.cumulant_error) * share
        ratio = chi * math.exp(-log_alpha)
        of_ratio = 1.01 * (of_chi + np.abs(chi) * of_alpha) * math.exp(-log_alpha)
        if count * float((np.abs(ratio) + of_ratio).max()) <= _SMALL:
            value, error = _series(ratio, of_ratio, count)
            scale = math.exp(count * log_alpha)
            value, error = value * scale, scale * (error + np.abs(value) * 1.01 * count * of_alpha)
            value = value * np.exp(-1j * whole.centre * frequencies)
        else:
            fewer = 1.0 + count * ratio
            of_fewer = count * of_ratio + np.abs(fewer) * 1.01 * math.expm1(count * of_alpha)
            value, error = _difference(whole, math.exp(count * log_alpha), fewer, of_fewer, frequencies)
        error = error + np.abs(value) * UNIT_ROUNDOFF * (4.0 * abs(whole.centre) * frequencies + 64.0)
        modulus = np.maximum(np.abs(value), np.maximum(error, TINY))
        clipped = np.abs(value) < modulus
        return whole._replace(
            log_modulus=np.log(modulus),
            phase=np.angle(value),
            log_growth=np.log1p(np.where(clipped, 3.0, error / modulus)),
            rounding=np.zeros_like(frequencies),
        )


def _difference(
    whole: LineValues, scale: float, fewer: ComplexArray, of_fewer: FloatArray, frequencies: FloatArray
) -> tuple[ComplexArray, FloatArray]:
    """Return φ^T less `scale` times `fewer`, times e^{−itc}, and a bound on its error."""
    power = np.exp(whole.log_modulus + 1j * whole.phase)
    apart = scale * fewer * np.exp(-1j * whole.centre * frequencies)
    with np.errstate(over="ignore"):
        error = np.exp(whole.log_modulus) * np.expm1(np.minimum(whole.log_growth + whole.rounding, 700.0))
    error = error + scale * of_fewer
    error += UNIT_ROUNDOFF * (4.0 * abs(whole.centre) * frequencies + 64.0) * (np.abs(power) + np.abs(apart))
    return power - apart, error


def _series(ratio: ComplexArray, error: FloatArray, count: int) -> tuple[ComplexArray, FloatArray]:
    """Return (1 + w)^T − 1 − Tw for T|w| ≤ ½, and a bound on its error."""
    term, total = ratio * count, np.zeros_like(ratio)
    size = np.zeros(ratio.size)
    for n in range(2, min(_TERMS, count) + 1):
        term = term * ratio * ((count - n + 1) / n)
        total += term
        size += np.abs(term)
    most = count * (np.abs(ratio) + error)
    moved = 1.01 * count * error * np.expm1(most)
    rest = most**_TERMS * 1e-23
    return total, moved + rest + 256 * UNIT_ROUNDOFF * size

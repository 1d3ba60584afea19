"""How fast the transform of drawn losses falls along the line (certificate, A8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.accuracy import HEIGHTS, LOG_SQRT_2PI, MOST_NODES, NEGLIGIBLE_NATS, RATIO
from epsilond.accountants.engine.contour.drawn_nodes import DrawnNodes
from epsilond.accountants.engine.contour.drawn_rule import Tilts, drawn_rule
from epsilond.accountants.engine.contour.noise import exact_step, summation_error
from epsilond.accountants.engine.contour.part import Line, characteristic_change
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_HIGHEST = 3.0
"""Largest height y of the shifted contour, in standard deviations of the noise: e^{y²/2} is then 90."""
_STRIDE = 0.5
"""Largest distance of frequencies, in units of 1/σ: (σΔ)²/4 is then 1/16. A quarter of it bounds that over the last."""
_LAST = np.geomspace(2.0, 400.0, 25)
"""Where the last of them may be, in units of 1/(q d), the scale of small losses."""


class Rungs(NamedTuple):
    """Increasing frequencies, and log of a bound of |φ| from each of them on."""

    frequencies: FloatArray
    log_bounds: FloatArray


@dataclass(frozen=True)
class DrawnDecay:
    """Bounds of |φ(t)| of one step from nodes for real tilts.

    Attributes:
        nodes: that are certified for the tilts that are asked.
        count: T.
    """

    nodes: DrawnNodes
    count: int

    @cached_property
    def _edge(self) -> tuple[FloatArray, ...]:
        """For each height y: y, β, b(y), and what the verticals have over (tβ)² and (tβ)³."""
        rate, shift = self.nodes.loss.rate, self.nodes.loss.shift
        heights = np.minimum(_HIGHEST, HEIGHTS / shift)
        fall = rate * np.sin(shift * heights) / heights * (1.0 - 1e-12)
        moduli = np.asarray([self.nodes.loss.log_modulus_at_edge(height) for height in heights.tolist()])
        common = np.exp(0.5 * heights * heights - 0.125 * shift * shift - LOG_SQRT_2PI)
        turned = common * shift * ((1.0 - rate) if rate > 0.5 else 1.0)
        shrunk = common * rate * (1.0 - rate) * shift * shift * np.exp(2.0 * moduli)
        return heights, fall, moduli, turned, shrunk

    def upper_mass(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Upper bounds of |c(l + it′)| for all t′ ≥ t: the contour is moved off the axis and returns at x = d/2."""
        heights, fall, moduli, turned, shrunk = (each[:, None] for each in self._edge)
        t = frequencies[None, :]
        falling = np.exp(tilt * moduli)
        below = 0.5 * math.erfc(self.nodes.loss.shift / math.sqrt(8.0)) * falling
        across = np.exp(0.5 * heights * heights - t * fall * heights) * (self.nodes.most_mass(tilt) + below)
        verticals = turned / (t * fall) ** 2 + shrunk * (1.0 + tilt + t + (tilt + t) * falling) / (t * fall) ** 3
        return np.asarray((across + verticals).min(axis=0) * (1.0 + 1e-9))

    def log_decay(self, tilt: float, frequencies: FloatArray, *, alone: bool) -> FloatArray:
        """Return T log of bounds of |φ(t′)| for all t′ ≥ t; of the rest of φ^T where there are no other losses."""
        loss, count = self.nodes.loss, self.count
        cumulant, error = self.nodes.cumulant(tilt)
        slack = count * (error + 64 * UNIT_ROUNDOFF)
        mass = self.upper_mass(tilt, frequencies)
        log_most = np.log(loss.atom + mass) - cumulant
        whole = count * np.minimum(np.minimum(log_most, self._from_rungs(tilt, frequencies)), 0.0) + slack
        if not alone:
            return np.asarray(np.minimum(whole, 0.0))
        # The rest is a sum over n ≥ 2 of the law of how many losses are not 0, or what is left of three terms.
        share = count * mass / (loss.atom + mass)
        several = count * log_most + np.minimum(2.0 * np.log(share) - math.log(2.0), 0.0) + slack
        log_atom = math.log(loss.atom) - cumulant
        fewer = (count - 1) * log_atom + np.log(loss.atom + count * mass) - cumulant + slack
        return np.asarray(np.minimum(several, np.logaddexp(whole, fewer)))

    def _from_rungs(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Bound log |φ(t′)| for all t′ ≥ t, by |φ̂| at rungs and a + |c| beyond; 0 where there are none."""
        try:
            known = self._laid(tilt, float(frequencies[0]))
        except ContourRefused:
            return np.zeros_like(frequencies)
        return known.log_bounds[np.searchsorted(known.frequencies, frequencies, side="right") - 1]

    def _laid(self, tilt: float, first: float) -> Rungs:
        """Return rungs from the first frequency to where a + |c| is small enough.

        Raises:
            ContourRefused: it nowhere is, or there are too many rungs.
        """
        loss = self.nodes.loss
        candidates = _LAST / (loss.rate * loss.shift)
        masses = self.upper_mass(tilt, candidates)
        small = np.flatnonzero(masses <= 0.5 * self.nodes.most_mass(tilt))
        last = float(candidates[small[0]]) if small.size else 0.0
        beyond = math.log(loss.atom + float(masses[small[0]])) - self.nodes.cumulant(tilt)[0] if small.size else 0.0
        if not (first < last and self.count * beyond <= -NEGLIGIBLE_NATS):
            raise ContourRefused(RefusalReason.NO_DECAY, "no rungs")
        rule = drawn_rule(loss, self.count, Tilts(tilt, tilt), 1.5 * last)
        found = rungs(DrawnNodes(loss, rule), tilt, first, last)
        bounds = np.maximum.accumulate(np.append(found.log_bounds, beyond)[::-1])[::-1]
        return Rungs(found.frequencies, bounds)


def rungs(nodes: DrawnNodes, tilt: float, first: float, last: float) -> Rungs:
    """Return frequencies from the first to at least the last, and log of a bound of |φ| between each and the next.

    As |φ̂|² is the transform of a symmetric law of variance 2σ², it exceeds the larger of its values at the ends of an
    interval of length Δ by (σΔ)²/4 at most.

    Raises:
        ContourRefused: there are too many.
    """
    exponent = nodes.log_masses + tilt * nodes.losses
    weights = np.exp(exponent - exponent.max())
    weights /= weights.sum()
    deviation = nodes.losses - float(weights @ nodes.losses)
    variance = float(weights @ (deviation * deviation)) * (1.0 + 1e-9)
    stride = exact_step(min(_STRIDE / math.sqrt(variance), 0.25 * _STRIDE * last))
    far = Line(tilt, stride, math.ceil(last / stride) + 2)
    if far.nodes > MOST_NODES:
        raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{far.nodes} rungs")
    # Where a ratio of 1.25 is less than a stride, frequencies of their own: (σΔ)²/4 is 1.6 % of (σt)², about 1 − |φ|².
    closer = math.ceil(math.log(stride / ((RATIO - 1.0) * first)) / math.log(RATIO))
    near = first * RATIO ** np.arange(float(max(closer, 1)))
    turned = near[:, None] * deviation
    kept = far.frequencies > near[-1]
    moduli = np.hypot(np.cos(turned) @ weights, np.sin(turned) @ weights)
    moduli = np.append(moduli, np.abs(1.0 + characteristic_change(weights, deviation, far))[kept])
    t = np.append(near, far.frequencies[kept])
    of_weights = float(weights[:-1] @ (np.tile(nodes.density_error, 2) + (1.0 + tilt) * np.tile(nodes.ratio_error, 2)))
    of_losses = float(weights[:-1] @ np.tile(nodes.ratio_error, 2))
    of_losses += 64 * UNIT_ROUNDOFF * float(weights @ np.abs(deviation))
    error = 2.0 * (summation_error(weights.size + 32) + of_weights + t[1:] * of_losses) + 2.02 * nodes.rule.error
    most = np.maximum(moduli[:-1], moduli[1:]) ** 2 + 0.25 * variance * np.diff(t) ** 2
    return Rungs(t, np.log(np.sqrt(most) + error))

"""T steps with a loss that is a function of Gaussian noise, as a part of a composition (certificate, A2 and A8)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.engine.contour.accuracy import MOST_NODES, QUADRATURE_NATS
from epsilond.accountants.engine.contour.noise_sums import NEGLIGIBLE_NATS, NoiseSums
from epsilond.accountants.engine.contour.panels import Panels
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.engine.contour.truncated_steps import FARTHEST_END, TruncatedSteps

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.panels import BoolArray
    from epsilond.accountants.numerics.special import FloatArray

_LEAST_RATE = 1e-100
"""Smallest rate that is accepted: the product of three smaller ones underflows."""
_ENDS_PER_DEVIATION = 16.0
"""Ends of the noise are multiples of 1/16 of a standard deviation, so that nodes between them are exact (A4, Nodes)."""


@dataclass(frozen=True)
class NoiseSteps(TruncatedSteps):
    """T independent subsampled Gaussian steps as a part of a composition, with a choice of quadrature nodes.

    The moment M(z) = E[e^{zL}] of one step's privacy loss L is an integral over the Gaussian noise. `trim` chooses the
    range of the noise, and `resolve` the nodes of a Gauss rule on it.
    """

    def trim(self, log_leak: float, tilt: float) -> NoiseSteps:
        """Leave out the noise on both sides where it is improbable and has little weight at a tilt.

        Let f_l(x) be the density of the noise x times e^{lL} for the loss L. On either side, the new bound is the first
        multiple of 1/16 that meets two conditions. The noise beyond it is improbable. f_l is negligible there, or rises
        outwards because improbable noise has very large losses. For batches without replacement, only noise above is
        left out.

        Args:
            log_leak: log of the largest probability, in all steps together, of the noise that is left out.
            tilt: exponent l of the moment E_P[e^{lL}] of the loss L, of which f_l is the integrand.

        Returns:
            The same steps with new bounds `low` and `high` of the noise, in standard deviations.

        Source: docs/engine-certificate.md, A2, Hard cut.
        """
        # Possible bounds on both sides, with the log of the integrand there and the probability of the noise beyond.
        distances = np.arange(1.0, FARTHEST_END * _ENDS_PER_DEVIATION + 1.0) / _ENDS_PER_DEVIATION
        log_count = math.log(2.0 * self.count)  # T steps with two sides each
        log_density_below = self._log_density(distances, -1, tilt)
        log_density_above = self._log_density(distances, 1, tilt)
        improbable_below = self.log_outside(distances, -1) <= log_leak - log_count
        improbable_above = self.log_outside(distances, 1) <= log_leak - log_count

        # The integrand is negligible if it is far below its largest value at noise that is not improbable.
        largest_below = float(log_density_below[~improbable_below].max(initial=-np.inf))
        largest_above = float(log_density_above[~improbable_above].max(initial=-np.inf))
        negligible = max(largest_below, largest_above) - NEGLIGIBLE_NATS - log_count
        return dataclasses.replace(
            self,
            low=-_first_end(distances, improbable_below, log_density_below, negligible),
            high=_first_end(distances, improbable_above, log_density_above, negligible),
        )

    def _log_density(self, distances: FloatArray, side: int, tilt: float) -> FloatArray:
        """Bound the logarithm of the integrand of a step's moment E[e^{lL}] at points where the noise may be cut off.

        The integrand is the density of the noise times e^{lL} for the loss L. A batch drawn without replacement has one
        integrand for each direction, of which the largest is returned.

        Args:
            distances: distances of the points from 0; for such a batch, from s/2 with the shift s.
            side: 1 for points above, −1 for points below.
            tilt: exponent l of the moment E[e^{lL}] of the loss L.

        Returns:
            One logarithm for each distance.
        """
        # s/2 is the middle of the two means of a batch drawn without replacement.
        start = 0.5 * self.ratio.shift if self.kind == "drawn" else 0.0
        x = side * distances + start
        # Bounds on intervals of length 0 are bounds at the points x.
        log_densities = [piece.log_maximum(tilt, x, x) for piece in self.pieces]
        return np.asarray(np.max(log_densities, axis=0))

    def resolve(self, tilt: float, frequency: float) -> NoiseSums:
        """Choose quadrature nodes of the noise for an accurate moment of one step's loss.

        The moment is M(z) = E[e^{zL}] for the loss L, an integral over the Gaussian noise. Panels, the intervals of the
        quadrature, are halved until the error bound of each is below its share of the allowed error.

        Args:
            tilt: real part l of z. For a frequency of 0, the nodes are accurate at lower tilts too.
            frequency: largest modulus of the imaginary part of z.

        Returns:
            The loss and the weight at each node, from which M(z) is a finite sum.

        Raises:
            ContourRefused: too many nodes, or a rate below 1e−100.
        """
        if self.ratio.rate < _LEAST_RATE:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"rate {self.ratio.rate:g}")
        # A relative error of the moment counts once for each of the T steps.
        nats, tilts = QUADRATURE_NATS + math.log(self.count), [tilt]
        if frequency == 0.0:
            # The nodes serve the decay bound too, and lower tilts.
            nats += NEGLIGIBLE_NATS / self.count
            tilts = [0.0, 0.5 * tilt, tilt]
        panels = [Panels.widest(piece) for piece in self.pieces]
        while True:
            sums = NoiseSums(self, panels)
            if sums.losses.size > 2 * MOST_NODES:
                raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{sums.losses.size} nodes of the noise")
            too_wide = _too_wide_panels(sums, tilts, frequency, nats)
            if not any(chosen.any() for chosen in too_wide):
                return sums
            panels = [panel.halve(chosen) for panel, chosen in zip(panels, too_wide, strict=True)]


def _too_wide_panels(sums: NoiseSums, tilts: list[float], frequency: float, nats: float) -> list[BoolArray]:
    """Return masks of the quadrature panels with an error above an equal share of the allowed error.

    The quadrature computes M(z) = E[e^{zL}] of one step's loss L as an integral over the noise.

    Args:
        sums: the panels, which are intervals of the noise, for each piece of the noise.
        tilts: real parts l of z at which M is to be accurate.
        frequency: largest modulus of the imaginary part of z.
        nats: the log of the total error is to be below log M(l) by this number.

    Returns:
        One mask for each piece; true for the panels with too large an error.
    """
    number_of_panels = sum(panels.widths.size for panels in sums.panels)
    log_share = -nats - math.log(number_of_panels)
    log_allowed = {tilt: sums.log_moment(tilt) + log_share for tilt in tilts}
    masks = []
    for panels in sums.panels:
        exceeds_share = [panels.log_errors(tilt, frequency) > log_allowed[tilt] for tilt in tilts]
        masks.append(np.any(exceeds_share, axis=0))
    return masks


def _first_end(distances: FloatArray, improbable: BoolArray, log_density: FloatArray, negligible: float) -> float:
    """Return the smallest distance beyond which noise may be left out, or `FARTHEST_END` if there is none.

    The noise beyond must be improbable. Its weighted density at the distance must be negligible, or rise outwards.

    Args:
        distances: candidates, increasing, in standard deviations of the noise.
        improbable: whether the noise beyond each is improbable.
        log_density: log of the density at each, weighted with e^{lL} for the loss L and a tilt l.
        negligible: log density at or below which the noise has too little weight to matter.

    Returns:
        The distance, in standard deviations of the noise.
    """
    is_rising = np.append(np.diff(log_density) >= 0.0, True)
    usable = improbable & ((log_density <= negligible) | is_rising)
    return float(min(distances[usable], default=FARTHEST_END))

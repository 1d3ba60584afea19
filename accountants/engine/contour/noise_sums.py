"""The transform of T noise steps as sums over nodes of the noise, with all errors (certificate, A2 to A4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.engine.contour.accuracy import TINY
from epsilond.accountants.engine.contour.edge_bound import edge_bound
from epsilond.accountants.engine.contour.part import LineValues, characteristic_change, raise_to_power, summation_error
from epsilond.accountants.engine.contour.refusal import ContourRefused, RefusalReason
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from epsilond.accountants.engine.contour.panels import Panels
    from epsilond.accountants.engine.contour.part import Line
    from epsilond.accountants.engine.contour.truncated_steps import TruncatedSteps
    from epsilond.accountants.numerics.special import FloatArray

_LARGEST_ANGLE = 1.4  # largest angle s y of the contour of the decay bound, in radians; the lemma allows π/2 (A3)
_HIGHEST = 12.0  # largest height y of that contour, in standard deviations of the noise; e^{y²/2} is e^72
_HEIGHTS = 5  # number of heights y for the decay bound, from the best for the first to that for the last frequency
_MOST_PRODUCTS = 1 << 28  # largest number of nodes of the noise times frequencies: a second
NEGLIGIBLE_NATS = 40.0
"""Nats of a share that is negligible next to the error of T quadratures: weight at the ends of the noise, and, over T,
the error of one step's quadrature for the decay bound, which itself is small for few steps (A3)."""


class _NoiseNodes(NamedTuple):
    """Nodes j of a quadrature over the Gaussian noise of one step, with their masses and privacy losses.

    A last node is the atom at the loss 0, if there is one.

    Attributes:
        log_masses: log p_j, the log of the quadrature weight times the density of the first distribution.
        mass_errors: bounds on the errors of `log_masses`.
        losses: privacy losses L_j, in nats.
        loss_errors: bounds on the errors of `losses`.
    """

    log_masses: FloatArray
    mass_errors: FloatArray
    losses: FloatArray
    loss_errors: FloatArray


@dataclass(frozen=True)
class NoiseSums:
    """The transform M(z) = E_P[e^{zL}] of one of T steps as a sum Σ_j p_j e^{zL_j} over quadrature nodes of the noise.

    Attributes:
        steps: the steps, with their number T.
        panels: the panels of each piece of the noise. Their nodes are those of the sum.
    """

    steps: TruncatedSteps
    panels: list[Panels]

    @cached_property
    def _nodes(self) -> _NoiseNodes:
        """Nodes of all panels, and the atom at the loss 0, with their masses and losses."""
        columns = []
        for panels in self.panels:
            log_density, density_error, loss, loss_error = panels.piece.losses(panels.nodes)
            columns.append(np.stack((panels.log_weights + log_density, density_error, loss, loss_error)))
        if self.steps.atom > 0.0:
            atom_column = [[math.log(self.steps.atom)], [32 * UNIT_ROUNDOFF], [0.0], [0.0]]
            columns.append(np.asarray(atom_column))
        return _NoiseNodes(*np.concatenate(columns, axis=1))

    @property
    def losses(self) -> FloatArray:
        """Privacy losses at all nodes, in nats."""
        return self._nodes.losses

    def _log_weights(self, tilt: float) -> FloatArray:
        """Return the log mass log(p_j e^{lL_j}) of each node after weighting by e^{lL}, for a tilt l."""
        return np.asarray(self._nodes.log_masses + tilt * self.losses)

    def log_error(self, tilt: float, frequency: float, lift: float = 0.0) -> float:
        """Return the log of a bound on the quadrature error of the moment M(z) = E[e^{zL}] of one step's loss L.

        The bounds of all panels, the intervals of the quadrature, are added. Rounding errors are not included.

        Args:
            tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
            frequency: largest modulus of the imaginary part of z.
            lift: imaginary part of the noise for the integral of the decay bound, at frequency 0. It is 0 for M(z).

        Source: docs/engine-certificate.md, A2, Panels; A3.
        """
        errors = np.concatenate([panel.log_errors(tilt, frequency, lift) for panel in self.panels])
        return float(np.logaddexp.reduce(errors))

    @cached_property
    def _total_mass_error(self) -> float:
        """Bound on the quadrature error of M(0), without rounding."""
        return math.exp(min(self.log_error(0.0, 0.0), 50.0))

    def log_moment(self, tilt: float) -> float:
        """Return an estimate of log M(l), for the moment M(l) = E[e^{lL}] of one step's loss L at a tilt l ≥ 0."""
        return float(np.logaddexp.reduce(self._log_weights(tilt)))

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return estimates of the cumulant K(l) = T log M(l) of all T steps, and of its derivatives K′(l) and K″(l).

        M(l) = E[e^{lL}] is the moment of one step's loss L. The derivatives are the mean and the variance of the total
        loss after its probabilities are weighted by e^{lS}.

        Args:
            tilt: exponent l ≥ 0.

        Returns:
            K(l), K′(l) and K″(l), without error bounds.
        """
        log_moment, count = self.log_moment(tilt), self.steps.count
        tilted_masses = np.exp(self._log_weights(tilt) - log_moment)
        mean = float(tilted_masses @ self.losses)
        variance = float(tilted_masses @ (self.losses - mean) ** 2)
        return count * log_moment, count * mean, count * variance

    def _weight_errors(self, tilt: float) -> FloatArray:
        """Return bounds on the relative errors of the terms p_j e^{lL_j} of a moment, at all quadrature nodes j.

        p_j is the probability mass of node j, and L_j its privacy loss. The bounds include the rounding of the sum.

        Args:
            tilt: exponent l ≥ 0 of the moment E[e^{lL}] of the loss L.

        Returns:
            One bound on the relative error for each node.

        Source: docs/engine-certificate.md, A4, What η is.
        """
        log_masses, mass_errors, losses, loss_errors = self._nodes
        rounding = UNIT_ROUNDOFF * (4.0 * np.abs(log_masses) + 8.0 * tilt * np.abs(losses) + 32.0)  # of the exponents
        return np.asarray(mass_errors + tilt * loss_errors + rounding + summation_error(losses.size))

    def cumulant(self, tilt: float) -> tuple[float, float]:
        """Return log M(l) for the moment M(l) = E[e^{lL}] of one step's privacy loss L, and a bound on its error.

        log M(l) is computed as log(1 + c) with the change c = M(l) − 1, which is small for small losses.

        Args:
            tilt: exponent l ≥ 0 of the moment E[e^{lL}] of the loss L.

        Returns:
            log M(l), and a bound on its absolute error. The bound includes the quadrature error.

        Source: docs/engine-certificate.md, A4.
        """
        # All sums are in units of e^{log_unit}, so that they do not overflow.
        log_unit = max(float(self._log_weights(tilt).max()), 0.0)
        scaled_one = math.exp(-log_unit)
        change, change_error = self._moment_change(tilt, log_unit)
        moment = scaled_one + change
        value = log_unit + math.log(moment) if log_unit > 0.0 else math.log1p(change)

        # The factor 1.01 covers roundings of the error, which is at most e^50 so that nothing overflows.
        quadrature_error = math.exp(min(self.log_error(tilt, 0.0) - value, 50.0))
        error = 1.01 * change_error / moment + 1.01 * quadrature_error
        return value, error + 4 * UNIT_ROUNDOFF * (abs(value) + log_unit)  # with the rounding of the logarithm

    def _moment_change(self, tilt: float, log_unit: float) -> tuple[float, float]:
        """Return M(l) − 1 for the moment M(l) = E[e^{lL}] of one step's privacy loss L, with a bound on its error.

        M(l) − 1 is Σ_j p_j (e^{lL_j} − 1) over the quadrature nodes j of the noise, with masses p_j. The bound covers
        roundings, the mass of the noise that is left out, and the error of Σ_j p_j. It does not cover the quadrature
        error of M(l), which the caller adds.

        Args:
            tilt: exponent l ≥ 0 of the moment E[e^{lL}] of the loss L.
            log_unit: log of the unit of both results.

        Returns:
            M(l) − 1 and the bound, both in units of e^`log_unit`.
        """
        log_masses, _, losses, loss_errors = self._nodes
        exponents, log_weights = tilt * losses, self._log_weights(tilt)

        # |p (e^{lL} − 1)| = max(p, p e^{lL}) (1 − e^{−|lL|}).
        larger_masses = np.exp(np.maximum(log_masses, log_weights) - log_unit)
        term_sizes = larger_masses * -np.expm1(-np.abs(exponents))
        change = float(np.sign(losses) @ term_sizes)

        exponent_errors = tilt * loss_errors + 4 * UNIT_ROUNDOFF * np.abs(exponents)
        weight_error = float(term_sizes @ self._weight_errors(tilt))
        exponent_error = float(np.exp(log_weights - log_unit) @ exponent_errors)

        scaled_one = math.exp(-log_unit)
        omitted_mass = scaled_one * math.exp(self.steps.log_leak - math.log(self.steps.count))
        mass_error = 1.01 * scaled_one * self._total_mass_error  # 1.01 covers its own rounding
        return change, weight_error + exponent_error + omitted_mass + mass_error

    def upper_cumulant(self, tilt: float) -> float:
        """Return an upper bound on K(l) = T log M(l), the log moment of the total loss of T steps.

        Args:
            tilt: exponent l ≥ 0 of the moment M(l) = E[e^{lL}] of one step's loss L.
        """
        if tilt == 0.0:  # M(0) ≤ 1
            return 0.0
        value, error = self.cumulant(tilt)
        return self.steps.count * (value + error) * (1.0 + 4 * UNIT_ROUNDOFF)  # rounded up

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Bound how fast the characteristic function of the total loss of T steps decays with its frequency.

        At each frequency t, the bound holds for log |φ(t′)|^T at all t′ ≥ t. φ(t) is M(l + it)/M(l) for the moment M(z)
        = E[e^{zL}] of the loss L of one step. M is an integral over the noise, whose path can be moved to any imaginary
        part y. Each y gives a bound B_y(t) on |φ| (`_decay_bound`). The result is T log B_y(t) for the best of a few y.

        Args:
            tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
            frequencies: t > 0, increasing.

        Returns:
            One bound for each frequency, at most 0.

        Source: docs/engine-certificate.md, A3.
        """
        log_moment, moment_error = self.cumulant(tilt)
        log_masses = self._log_weights(tilt) - log_moment
        heights = self._heights(tilt, frequencies, log_masses)
        bounds = [self._decay_bound(tilt, frequencies, height, log_masses, log_moment) for height in heights]
        # Relative errors of B: of the masses, of their divisor M(l), and a margin for the few sums and exponentials.
        rounding = float(self._weight_errors(tilt).max()) + 1.01 * moment_error + 6000 * UNIT_ROUNDOFF
        least_bound = np.min(bounds, axis=0) * (1.0 + rounding)
        return np.asarray(self.steps.count * np.log(np.clip(least_bound, TINY, 1.0)))

    def _heights(self, tilt: float, frequencies: FloatArray, log_masses: FloatArray) -> list[float]:
        """Choose imaginary parts y of the noise at which to bound the decay of the characteristic function of one step.

        At the height y, the integrand at the noise x decays as e^{y²/2 − tθ(x)} with the frequency t (`_decay_bound`).
        Every y gives a valid bound. As the mean of θ is about proportional to y, the best y for t is about t times the
        derivative of this mean. The heights are in geometric progression, from below the best one for the first
        frequency to that for the last one. None of these choices affects validity.

        Args:
            tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
            frequencies: t > 0, increasing.
            log_masses: log masses of the noise at all quadrature nodes, after multiplication by e^{lL}.

        Returns:
            `_HEIGHTS` positive numbers, in standard deviations of the noise.
        """
        highest = min(_LARGEST_ANGLE / self.steps.ratio.shift, _HIGHEST)

        # The derivative of the mean of θ at the height 0, by a finite difference.
        small_height = 1e-3 * highest
        theta, _ = self._contour(tilt, small_height)
        mean_theta = float(theta @ np.exp(log_masses[: theta.size]))
        slope = mean_theta / small_height

        first = max(min(0.4 * slope * float(frequencies[0]), 0.2 * highest), TINY)
        last = max(min(slope * float(frequencies[-1]), highest), 1.001 * first)  # above the first one
        heights: list[float] = np.geomspace(first, last, _HEIGHTS).tolist()
        return heights

    def _contour(self, tilt: float, height: float) -> tuple[FloatArray, FloatArray]:
        """Return θ and log G of a bound on the integrand at complex noise x + iy, for all quadrature nodes x.

        The integrand decays at least as fast as G e^{−tθ} in the frequency t (`Piece.turn`).

        Args:
            tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
            height: y > 0, in standard deviations of the noise.

        Source: docs/engine-certificate.md, A3.
        """
        turns = [panel.piece.turn(panel.nodes, tilt, height) for panel in self.panels]
        thetas = [theta for theta, _ in turns]
        log_growths = [log_growth for _, log_growth in turns]
        return np.concatenate(thetas), np.concatenate(log_growths)

    def _decay_bound(
        self, tilt: float, frequencies: FloatArray, height: float, log_masses: FloatArray, log_moment: float
    ) -> FloatArray:
        """Bound the characteristic function φ of one step for all frequencies t′ ≥ t, without rounding errors.

        The integral over the noise x is moved to x + iy, where the integrand decays as e^{−tθ(x)}. |φ(t′)| is at most:

            B_y(t) = e^{y²/2} E_l[G e^{−tθ}] + P_l(atom) + side paths,

        with the mean E_l over tilted noise, θ and G of `Piece.turn`, and the atom at the loss 0 of a batch. The side
        paths lead from the ends of the noise to the height y (`_side_paths`, `edge_bound`).

        Args:
            tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
            frequencies: frequencies t > 0, per nat of loss.
            height: imaginary part y > 0 of the noise.
            log_masses: log masses of the tilted distribution at all nodes, that of the atom last.
            log_moment: log M(l), for the moment M(l) = E[e^{lL}] of one step's loss L.

        Returns:
            B_y(t) for each frequency t. It may exceed 1, which bounds nothing.

        Source: docs/engine-certificate.md, A3, Cut law.
        """
        theta, log_growth = self._contour(tilt, height)
        noise_nodes = theta.size

        # Exponents are limited so that nothing overflows. The factor 1.01 covers roundings of the error.
        exponents = log_masses[:noise_nodes] + log_growth - frequencies[:, None] * theta
        expectation = np.exp(np.minimum(exponents, 700.0)).sum(axis=1)
        error = math.exp(min(self.log_error(tilt, 0.0, height) - log_moment, 50.0))
        atom = np.exp(log_masses[noise_nodes:]).sum()
        bound = math.exp(0.5 * height * height) * (expectation + 1.01 * error) + atom

        for side_path in self._side_paths(tilt, height, log_moment):
            bound = bound + side_path
        if self.steps.kind == "drawn":
            edge = edge_bound(self.steps.ratio, tilt, frequencies, height)
            bound = bound + edge * math.exp(-log_moment)
        return np.asarray(bound)

    def _side_paths(self, tilt: float, height: float, log_moment: float) -> list[float]:
        """Bound the contour integrals along the vertical paths at the ends of each interval of the noise.

        The contour is moved to the height y off the real axis, and the paths join it to the ends. There is one bound
        for each piece: y times a bound on the integrand, summed over the ends and divided by the moment M(l). The lower
        end of a batch is left to `edge_bound`.

        Args:
            tilt: real part l of the exponent z in the moment E[e^{zL}] of the loss L.
            height: imaginary part y > 0 of the noise.
            log_moment: log M(l), for M(l) = E[e^{lL}] of one step's loss L.

        Returns:
            One bound for each piece, an interval of the noise.
        """
        is_batch = self.steps.kind == "drawn"
        bounds = []
        for piece in self.steps.pieces:
            ends = np.asarray([piece.high] if is_batch else [piece.low, piece.high])
            log_integrand = piece.log_maximum(tilt, ends, ends) - log_moment
            log_integrand += piece.log_growth(tilt, 0.0, ends, ends, np.asarray(height), 0.0)
            integrand = np.exp(np.minimum(log_integrand, 300.0))  # e^300 does not overflow
            bounds.append(height * float(integrand.sum()))
        return bounds

    def on_line(self, line: Line) -> LineValues:
        """Return the characteristic function of the total loss of T steps at equally spaced frequencies t.

        The distribution of the loss L of one step is multiplied by e^{lL} and normalised (tilted by l). Its
        characteristic function φ is a sum over the quadrature nodes of the noise. The result is φ(t)^T.

        Args:
            line: points l + it of the complex plane, with one l and frequencies t ≥ 0.

        Returns:
            Log modulus and phase at each frequency, and log E[e^{lS}] of the total loss S, with bounds on their errors.

        Raises:
            ContourRefused: too many pairs of a quadrature node and a frequency, or too large an error.

        Source: docs/engine-certificate.md, A4.
        """
        if self.losses.size * line.nodes > _MOST_PRODUCTS:
            raise ContourRefused(RefusalReason.BEYOND_BUDGET, f"{self.losses.size} times {line.nodes} nodes")
        count, frequencies = self.steps.count, line.frequencies

        log_moment, moment_error = self.cumulant(line.tilt)
        tilted_masses = np.exp(self._log_weights(line.tilt) - log_moment)
        mean = float(tilted_masses @ self.losses)
        deviations = self.losses - mean

        # The error of φ is proportional to t, except for that of the quadrature. The factors 1.01 and 2.02 cover the
        # roundings of the errors; the quadrature errs in M(l + it) and in M(l). e^50 stands for any useless error.
        mass_errors = self._weight_errors(line.tilt) + moment_error + 32 * UNIT_ROUNDOFF
        loss_errors = self._nodes.loss_errors + 4 * UNIT_ROUNDOFF * np.abs(self.losses)
        error_per_frequency = float((tilted_masses * np.abs(deviations)) @ mass_errors)
        error_per_frequency += float(tilted_masses @ loss_errors)
        quadrature_error = math.exp(min(self.log_error(line.tilt, line.nodes * line.spacing) - log_moment, 50.0))
        error = 1.01 * error_per_frequency * frequencies + 2.02 * quadrature_error
        error[0] = 0.0  # φ(0) = 1 exactly

        change = characteristic_change(tilted_masses, deviations, line)
        log_modulus, phase, log_growth, rounding = raise_to_power(change, error, mean, frequencies, count)
        return LineValues(
            log_modulus=log_modulus,
            phase=phase,
            log_growth=log_growth,
            rounding=rounding,
            centre=count * mean,
            cumulant=count * log_moment,
            cumulant_error=count * (moment_error + 2 * UNIT_ROUNDOFF * abs(log_moment)),
        )

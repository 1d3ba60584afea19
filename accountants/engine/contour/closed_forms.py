"""Gaussian and Laplace losses in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from epsilond.accountants.engine.contour.part import LineValues, raise_to_power
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF

if TYPE_CHECKING:
    from typing import Self

    from epsilond.accountants.engine.contour.part import ComplexArray, Line
    from epsilond.accountants.numerics.special import FloatArray

_ACCURACY = 32 * UNIT_ROUNDOFF
"""Relative error of μ², of a square root that it may come from, and of products with it."""


class ClosedForm:
    """Base class of steps of a composition whose total privacy loss S has K(z) = log E[e^{zS}] in closed form.

    No loss is left out as improbable, and no numerical integration over the noise is needed. So `trim` and `resolve` of
    the interfaces `Part` and `Transform` have nothing to do.

    Attributes:
        log_leak: log of the probability of losses that are left out, which is −∞.
    """

    log_leak: ClassVar[float] = -math.inf

    @property
    def supremum(self) -> float:
        """Supremum of the total loss in nats, rounded up; math.inf if the loss is unbounded."""
        return math.inf

    @property
    def largest_loss(self) -> float:
        """Largest loss that is not left out, in nats; here the supremum of the total loss."""
        return self.supremum

    def trim(self, log_leak: float, tilt: float) -> Self:  # noqa: ARG002
        """Return the part itself, because no losses are left out."""
        return self

    def resolve(self, tilt: float, frequency: float) -> Self:  # noqa: ARG002
        """Return the part itself, because it is exact at every tilt and frequency."""
        return self


@dataclass(frozen=True)
class GaussianSteps(ClosedForm):
    """The sum of all Gaussian losses of a composition.

    The losses N(μ_j²/2, μ_j²), each T_j times, sum to a Gaussian loss with K(z) = μ² z(z + 1)/2 and μ² = Σ T_j μ_j².

    Attributes:
        mu_squared: μ² > 0.
    """

    mu_squared: float

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant K(l) = log E[e^{lS}] of the total Gaussian loss S, and its first two derivatives.

        Args:
            tilt: exponent l.

        Returns:
            The cumulant K(l) = μ² l(l + 1)/2, the mean K′(l) = μ² (l + ½) in nats, and the variance K″(l) = μ² in
            nats².
        """
        return self.mu_squared * 0.5 * tilt * (tilt + 1.0), self.mu_squared * (tilt + 0.5), self.mu_squared

    def upper_cumulant(self, tilt: float) -> float:
        """Return an upper bound on the cumulant K(l): its value, raised by the rounding."""
        cumulant, _, _ = self.moments(tilt)
        return cumulant * (1.0 + _ACCURACY)

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:  # noqa: ARG002
        """Bound the log modulus −μ² t²/2 of the characteristic function of the total Gaussian loss from above.

        Args:
            tilt: not used; weighting the loss by e^{lL} does not change the modulus.
            frequencies: frequencies t ≥ 0, per nat of loss.

        Returns:
            One bound for each frequency, at most 0.
        """
        return np.asarray(-0.5 * self.mu_squared * frequencies * frequencies * (1.0 - _ACCURACY))

    def on_line(self, line: Line) -> LineValues:
        """Return the characteristic function of the total Gaussian loss S at equally spaced frequencies t.

        The density of the loss is multiplied by e^{lS} and normalised (tilted by l). It is then normal with the mean
        c = μ² (l + ½) and the variance μ². Minus its mean, it has the characteristic function e^{−μ²t²/2}.

        Args:
            line: points l + it of the complex plane, with one l and frequencies t ≥ 0.

        Returns:
            Log modulus and phase at each frequency, and K(l) = log E[e^{lS}], with bounds on their errors.
        """
        frequencies = line.frequencies
        cumulant, centre, _ = self.moments(line.tilt)
        zeros = np.zeros_like(frequencies)  # the phase is 0, because the loss is centred at its mean
        log_modulus = -0.5 * self.mu_squared * frequencies * frequencies
        # A relative error of μ² changes the modulus, and through c the phase.
        return LineValues(
            log_modulus=log_modulus,
            phase=zeros,
            log_growth=zeros,  # no error is raised to a power
            rounding=_ACCURACY * (np.abs(log_modulus) + centre * frequencies),
            centre=centre,
            cumulant=cumulant,
            cumulant_error=_ACCURACY * cumulant,
        )


@dataclass(frozen=True)
class LaplaceSteps(ClosedForm):
    """T independent Laplace losses with the transform M(z) = E_P[e^{zL}] (docs/engine-certificate.md, A7).

    The loss is s with probability ½ and −s with probability ½e^{−s}. Between them it has the density ¼e^{−(s − v)/2} at
    v. With w = z + ½ = x + it:

        M(z) = e^{−s/2} (cosh ws + sinh(ws)/2w).

    Attributes:
        shift: distance s > 0 of the locations, in units of the noise scale.
        count: T.
    """

    shift: float
    count: int

    @property
    def supremum(self) -> float:
        """T s, rounded up, in nats."""
        return self.count * self.shift * (1.0 + 4 * UNIT_ROUNDOFF)  # the products are rounded

    def moments(self, tilt: float) -> tuple[float, float, float]:
        """Return the cumulant of the total loss of T Laplace steps, and its first two derivatives.

        The cumulant is K(l) = T log M(l), with the moment M(l) = E[e^{lL}] of one loss L. With the shift s, x = l + ½
        and f(x) = tanh(xs)/(2x):

            K  = T (−s/2 + log cosh xs + log(1 + f)),
            K′ = T (s tanh xs + f′/(1 + f)),
            K″ = T (s²(1 − tanh² xs) + f″/(1 + f) − (f′/(1 + f))²).

        Args:
            tilt: exponent l ≥ 0.

        Returns:
            K(l) and its derivatives: the mean K′(l) and the variance K″(l) ≥ 0 of the total loss S after weighting by
            e^{lS}.
        """
        s, x = self.shift, tilt + 0.5
        tanh = math.tanh(x * s)
        sech_squared = (1.0 - tanh) * (1.0 + tanh)  # 1 − tanh² xs

        # f and its first two derivatives.
        f = tanh / (2.0 * x)
        f_first = s * sech_squared / (2.0 * x) - tanh / (2.0 * x * x)
        f_second = -s * s * tanh * sech_squared / x - s * sech_squared / (x * x) + tanh / x**3

        # The cumulant of one step and its derivatives. Rounding may make a tiny variance negative.
        log_derivative = f_first / (1.0 + f)
        cumulant = _log_cosh(x * s) + (math.log1p(f) - 0.5 * s)
        mean = s * tanh + log_derivative
        variance = max(s * s * sech_squared + f_second / (1.0 + f) - log_derivative * log_derivative, 0.0)
        return self.count * cumulant, self.count * mean, self.count * variance

    def _cumulant_error(self, tilt: float, cumulant: float) -> float:
        """Bound the rounding error of the computed cumulant K(l) = T log E[e^{lL}] of T Laplace steps.

        Args:
            tilt: exponent l ≥ 0.
            cumulant: the computed K.

        Returns:
            A bound on the absolute error of K.
        """
        # The first term covers the roundings of the summands of K, each at most about T s (1.5 + l) for the shift s. It
        # also covers the rounding of l + ½, because K changes by at most T s per unit of l. The second term covers the
        # roundings of K itself.
        return UNIT_ROUNDOFF * (32.0 * self.count * self.shift * (1.5 + tilt) + 4.0 * abs(cumulant))

    def upper_cumulant(self, tilt: float) -> float:
        """Return an upper bound on the cumulant K(l): its value, raised by its error."""
        cumulant, _, _ = self.moments(tilt)
        return cumulant + self._cumulant_error(tilt, cumulant)

    def log_decay(self, tilt: float, frequencies: FloatArray) -> FloatArray:
        """Bound how fast the characteristic function of the total loss of T Laplace steps decays with its frequency.

        At each frequency t, the bound holds for T log |φ(t′)| at all t′ ≥ t. φ is the characteristic function of one
        loss after weighting by e^{lL}, and s the shift over the noise's scale. With x = l + ½ and f = tanh(xs)/2x there
        are two bounds:

            |φ(t)| ≤ (1 + 1/2t)/(1 + f)          for every t,
            |φ(t)| ≤ 1 − (1 − ρ)/(1 + f)         for t ≤ π/2s, with ρ² = 1 − sin²(ts)/cosh²(xs).

        Both decrease in t. For t < π/2s the second bound holds up to π/2s, and the first one beyond. The larger of both
        is therefore used.

        Args:
            tilt: real part l of the line.
            frequencies: frequencies t > 0, per nat of loss.

        Returns:
            One bound for each frequency, at most 0.

        Source: docs/engine-certificate.md, A7, Decay.
        """
        s, x = self.shift, tilt + 0.5
        f = math.tanh(s * x) / (2.0 * x)

        # The first bound, at t or at π/2s if that is larger.
        quarter_turn = 0.5 * math.pi / s
        far_bound = (1.0 + 0.5 / np.maximum(frequencies, quarter_turn)) / (1.0 + f)

        # The second bound, with 1 − ρ = (1 − ρ²)/(1 + ρ), which does not cancel. `sine_ratio` is sin(ts)/cosh(xs). From
        # xs = 350 on it is so small that the bound is 1 after rounding, and a larger cosh could overflow.
        sine_ratio = np.sin(np.minimum(s * frequencies, 0.5 * math.pi)) / math.cosh(min(s * x, 350.0))
        rho = np.sqrt((1.0 - sine_ratio) * (1.0 + sine_ratio))
        one_minus_rho = sine_ratio * sine_ratio / (1.0 + rho)
        near_bound = np.where(frequencies < quarter_turn, 1.0 - one_minus_rho / (1.0 + f), 0.0)

        rounding = 32 * UNIT_ROUNDOFF * (1.0 + s * x)  # relative error of both bounds
        # No modulus exceeds 1.
        bound = np.maximum(near_bound, far_bound) * (1.0 + rounding)
        return np.asarray(self.count * np.log(np.minimum(bound, 1.0)))

    def on_line(self, line: Line) -> LineValues:
        """Return the characteristic function of the total loss of T Laplace steps at equally spaced frequencies t.

        The density of the loss L of one step is multiplied by e^{lL} and normalised (tilted by l). φ(t) is its
        characteristic function, and c is T times its mean. The result is φ(t)^T e^{−itc}.

        Args:
            line: points l + it of the complex plane, with one l and frequencies t ≥ 0.

        Returns:
            Log modulus and phase at each frequency, and the log moment K(l) of the total loss, with bounds on their
            errors.

        Source: docs/engine-certificate.md, A7, The change.
        """
        s, x, frequencies = self.shift, line.tilt + 0.5, line.frequencies
        cumulant, centre, _ = self.moments(line.tilt)

        # φ(t) − 1 of one step, which keeps its digits for small t, and the power T of φ(t).
        tanh = math.tanh(s * x)
        f = tanh / (2.0 * x)
        change = self._transform_change(x, tanh, frequencies) / (1.0 + f)
        # The error of φ(t) − 1 is at most (160 + 4xs) u ts, with the unit of roundoff u.
        error = (UNIT_ROUNDOFF * (160.0 + 4.0 * x * s) * s) * frequencies
        mean_of_step = centre / self.count
        log_modulus, phase, log_growth, rounding = raise_to_power(change, error, mean_of_step, frequencies, self.count)

        return LineValues(
            log_modulus=log_modulus,
            phase=phase - centre * frequencies,
            log_growth=log_growth,
            rounding=rounding + 4 * UNIT_ROUNDOFF * abs(centre) * frequencies,  # of the shift by c
            centre=centre,
            cumulant=cumulant,
            cumulant_error=self._cumulant_error(line.tilt, cumulant),
        )

    def _transform_change(self, x: float, tanh: float, frequencies: FloatArray) -> ComplexArray:
        """Return (1 + f)(φ(t) − 1) for the characteristic function φ of a Laplace loss, without cancellation.

        For small frequencies t, φ(t) is near 1, and the plain difference would lose its digits. φ belongs to one
        Laplace loss L with shift s after weighting by e^{lL}. The factor has f = tanh(xs)/2x for x = l + ½.

        With τ = tanh xs and w = x + it the result is:

            −(1 − cos ts) + iτ sin ts + N/(2wx),   N = −xτ(1 − cos ts) + i(x sin ts − τt).

        Args:
            x: the number l + ½, for the exponent l of the weights e^{lL}.
            tanh: the number τ = tanh xs.
            frequencies: frequencies t ≥ 0, per nat of loss.

        Returns:
            One complex number for each frequency.
        """
        # 1 − cos ts and sin ts from the half angle.
        half_angle = (0.5 * self.shift) * frequencies
        one_minus_cosine = 2.0 * np.sin(half_angle) ** 2
        sine = 2.0 * np.sin(half_angle) * np.cos(half_angle)

        # N/(2wx) = N (x − it)/(2x (x² + t²)).
        numerator_real = (-x) * tanh * one_minus_cosine
        numerator_imaginary = x * sine - tanh * frequencies
        scale = 1.0 / (2.0 * x * (x * x + frequencies * frequencies))
        quotient_real = (numerator_real * x + numerator_imaginary * frequencies) * scale
        quotient_imaginary = (numerator_imaginary * x - numerator_real * frequencies) * scale

        change = np.zeros(frequencies.size, dtype=np.complex128)
        change.real = quotient_real - one_minus_cosine
        change.imag = quotient_imaginary + tanh * sine
        return change


def _log_cosh(y: float) -> float:
    """Return log cosh y for y ≥ 0, with relative accuracy for small y, and without overflow for large y.

    Args:
        y: a number ≥ 0.

    Returns:
        The logarithm log cosh y, at least 0.
    """
    # cosh² y = 1 + sinh² y for small y, and cosh y = e^y (1 + e^{−2y})/2 for large y.
    if y < 1.0:
        return 0.5 * math.log1p(math.sinh(y) ** 2)
    return y + math.log1p(math.exp(-2.0 * y)) - math.log(2.0)

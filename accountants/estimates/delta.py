"""Estimates of δ for many rounds on batches of fixed size, under replace-one. None is certified or decides an answer.

A round that draws K of n records has δ(ε) = q δ₀(log(1 + (e^ε − 1)/q)) in both directions. Here q = K/n, and δ₀ is that
of N(μ, 1) against N(0, 1). The loss L of this profile, and its moment generating function M(z) = E[e^{zL}], are in
`tilted_losses`. For T rounds:

    δ(ε) = (1/2πi) ∫ M(z)^T e^{−zε}/(z(1 + z)) dz

along a line Re z = λ > 0. It is computed by the trapezoidal rule on the line through the saddle point.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from epsilond.accountants.estimates.noise import central_log_delta
from epsilond.accountants.estimates.tilted_losses import TiltedLoss, tilt_loss

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"

_STEPS, _CONVERGED = 60, 1e-3
"""Limit on the steps of the search for the saddle, and the step in log λ at which it ends."""
_LONGEST_STEP = 1.5
"""Longest step of the search for the saddle, in log λ."""
_LEAST, _MOST = math.log(1e-6), math.log(1e6)
"""Smallest and largest tilt, as logarithms."""
_OMITTED_NATS, _OMITTED_DEVIATIONS = 18.0, 7.0
"""Nats by which omitted terms are below δ, and standard deviations beyond which losses are omitted."""
_BLOCK, _MOST_BLOCKS = 64, 96
"""Number of frequencies in a block, and limit on the blocks."""
_ENOUGH = 1e-9
"""Relative size of a block of frequencies after which the sum ends."""
_UNRESOLVED = 1.5
"""Largest frequency at which a node is used, as a multiple of the largest one that it resolves."""
_RARE = 5e-3
"""Expected number of draws below which δ is nearly the sum of the δ of the rounds."""
_MOST_EXPONENT = 700.0
"""Largest ε of which the exponential is formed, in nats; it is still a double."""
_BLUR = 3e-3
"""Standard deviation, in units of 1/λ, of normal noise that is added to the loss.

With it, few frequencies matter if large losses are rare. It adds nearly half its square to log δ.
"""


def likely_log_delta_of_batches(
    epsilon: float, *, mu: float, rate: float, rounds: int, start: float = 1.0
) -> tuple[float, float]:
    """Estimate log δ(ε) of a number of rounds with batches of fixed size, under replace-one.

    δ(ε) is an inverse Laplace transform of the moment generating function of the privacy loss. The integral is computed
    by the trapezoidal rule on a vertical line Re z = λ through the saddle point of the integrand.

    If batches hardly ever include the record, a simpler estimate is used for T rounds: T q δ₀(log(1 + (e^ε − 1)/q)).
    Here δ₀ is the δ of one round that includes the record.

    Args:
        epsilon: ε, in nats, at least 0.
        mu: distance μ of the two means if the contribution is drawn, in standard deviations of the noise.
        rate: inclusion probability q, 0 < q < 1.
        rounds: number T of rounds, at least 1.
        start: initial estimate of λ, above 0.

    Returns:
        The natural logarithm of δ(ε), and λ, from which a further call may start.

    Raises:
        ArithmeticError, ValueError: the computation fails.
    """
    if rate * rounds < _RARE:
        epsilon_if_drawn = math.log1p(math.expm1(min(epsilon, _MOST_EXPONENT)) / rate)
        return math.log(rounds * rate) + central_log_delta(epsilon_if_drawn, mu), start

    # The trapezoidal rule with the spacing 2π/A, for a period A that makes its error negligible.
    saddle = _find_saddle(epsilon, mu, rate, rounds, start)
    log_scale = rounds * saddle.law.log_moment - saddle.tilt * epsilon
    spacing = 2.0 * math.pi / _period(saddle, epsilon, mu, log_scale)
    total = _sum_frequencies(saddle, epsilon, rounds, spacing)
    # The added noise increases log δ by half the square of its deviation, which is undone.
    log_integral = log_scale + math.log(total * spacing / math.pi)
    return log_integral - 0.5 * _BLUR * _BLUR, saddle.tilt


# The saddle point of the integrand ----------------------------------------------------------------------------------
class _Saddle(NamedTuple):
    """The saddle point of the integral that gives δ(ε), by which the path of integration is chosen.

    The integral is an inverse Laplace transform of the moment generating function of the privacy loss, along a vertical
    line in the complex plane. The line crosses the positive real axis where the integrand is least there, at λ.

    Attributes:
        tilt: the point λ > 0, the real part of the path of integration.
        law: distribution of the privacy loss L of one step, weighted by e^{λL}.
        curvature: second derivative of the logarithm of the integrand at λ, in squared nats.
    """

    tilt: float
    law: TiltedLoss
    curvature: float


def _find_saddle(epsilon: float, mu: float, rate: float, rounds: int, start: float) -> _Saddle:
    """Find the saddle point of an integral for δ(ε), a minimum over λ > 0.

    The minimum is that of M(λ)^T e^{−λε}/(λ(1 + λ)), where M(λ) = E[e^{λL}] for the loss L of one step. It is found by
    Newton's method for log λ, within a bracket that shrinks in every step.

    Args:
        epsilon: ε, in nats.
        mu: distance μ of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        rounds: number T of rounds.
        start: initial estimate of λ, above 0.

    Returns:
        The tilt λ with the tilted distribution; if the search leaves the range of doubles, the last tilt within it.

    Raises:
        ArithmeticError: the distribution leaves the doubles at every tilt that is tried.
    """
    saddle: _Saddle | None = None
    low, high = _LEAST, _MOST
    log_tilt = min(max(math.log(start), _LEAST), _MOST)
    for _ in range(_STEPS):
        # A tilt that overflows is too large.
        try:
            saddle, derivative = _measure_tilt(math.exp(log_tilt), epsilon, mu, rate, rounds)
        except ArithmeticError:
            high, log_tilt = log_tilt, 0.5 * (low + log_tilt)
            continue

        # The derivative increases in λ.
        if derivative > 0.0:
            high = log_tilt
        else:
            low = log_tilt
        newton_step = -derivative / (saddle.curvature * saddle.tilt)  # in log λ, because dλ = λ d log λ
        if abs(newton_step) < _CONVERGED or high - low < _CONVERGED:
            return saddle

        # A step that leaves the bracket is replaced by a bisection.
        log_tilt += min(max(newton_step, -_LONGEST_STEP), _LONGEST_STEP)
        if not low < log_tilt < high:
            log_tilt = 0.5 * (low + high)
    if saddle is None:
        raise ArithmeticError("the loss of one round leaves the range of doubles at every tilt")
    return saddle


def _measure_tilt(tilt: float, epsilon: float, mu: float, rate: float, rounds: int) -> tuple[_Saddle, float]:
    """Compute the first two derivatives, at a real point λ, of the log of the integrand of an integral for δ(ε).

    The log of the integrand is T log M(λ) − λε − log λ − log(1 + λ), where M(λ) = E[e^{λL}] for the loss L of one step.
    The first derivative is zero at the saddle point.

    Args:
        tilt: λ, above 0.
        epsilon: ε, in nats.
        mu: distance μ of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        rounds: number T of rounds.

    Returns:
        The point λ with the second derivative and with the loss weighted by e^{λL}; then the first derivative.

    Raises:
        ArithmeticError: the tilted distribution leaves the doubles.
    """
    law = tilt_loss(mu, rate, tilt)
    derivative = rounds * law.mean - epsilon - 1.0 / tilt - 1.0 / (1.0 + tilt)
    curvature = rounds * law.variance + tilt**-2.0 + (1.0 + tilt) ** -2.0
    return _Saddle(tilt, law, curvature), derivative


# The trapezoidal sum through the saddle point -----------------------------------------------------------------------
def _period(saddle: _Saddle, epsilon: float, mu: float, log_scale: float) -> float:
    """Return a number A so that the trapezoidal rule with frequencies 2π/A apart has a negligible error.

    The rule integrates along the line Re z = λ. By Poisson summation, its error is the sum of e^{λkA} δ(ε + kA) over
    all integers k ≠ 0.

    Args:
        saddle: the saddle point, with the tilt λ.
        epsilon: ε, in nats.
        mu: distance μ of the two means if the contribution is drawn, in standard deviations.
        log_scale: log of M(λ)^T e^{−λε}, with the moment M(λ) = E[e^{λL}] of one of T steps.

    Returns:
        A, in nats of the total loss.
    """
    # For k > 0: A exceeds the width of the total loss, weighted by e^{λL}, and the largest loss of one step.
    tilt, law, curvature = saddle
    sum_width = _OMITTED_DEVIATIONS * math.sqrt(curvature)
    largest_loss = float(law.loss[-1]) + _OMITTED_DEVIATIONS * mu - epsilon
    # The error for k < 0 has the factor e^{−λA}, which must be far below the estimate of δ by the saddle point.
    log_delta = log_scale - math.log(tilt) - math.log1p(tilt) - 0.5 * math.log(2.0 * math.pi * curvature)
    decay_length = (_OMITTED_NATS - min(log_delta, 0.0)) / tilt
    return max(sum_width, largest_loss, decay_length)


def _sum_frequencies(saddle: _Saddle, epsilon: float, rounds: int, spacing: float) -> float:
    """Return the trapezoidal sum, over frequencies, of an integral for δ.

    The terms are Re φ(t)^T e^{−itε}/(z(1 + z)) at t = 0, h, 2h, …, and the first one is halved. Here z = λ + it, and
    φ(t) = M(z)/M(λ), where M(z) = E[e^{zL}] is a sum over quadrature nodes of the loss L. A node represents all losses
    up to the next one. At high frequencies, for which the phase changes much between nodes, it is damped and then left
    out. The event that all rounds have the loss 0 is subtracted, because it adds nothing to δ.

    Args:
        saddle: λ, and the tilted loss of one step.
        epsilon: ε, in nats.
        rounds: number T of rounds.
        spacing: distance h of the frequencies, in radians per nat.

    Returns:
        The sum, which is δ(ε) π/h over M(λ)^T e^{−λε}.
    """
    nodes = _Nodes.of(saddle.law)
    # Phases e^{itL} of one block of frequencies. Those of the next block are the same, rotated.
    phases = np.exp(1j * spacing * np.arange(_BLOCK)[:, None] * nodes.loss)
    rotation_to_next_block = np.exp(1j * spacing * _BLOCK * nodes.loss)
    all_zero = (nodes.zero_mass / nodes.moment) ** rounds
    total = 0.0
    for block in range(_MOST_BLOCKS):
        frequencies: FloatArray = np.asarray(spacing * (block * _BLOCK + np.arange(_BLOCK)), dtype=np.float64)
        used = nodes.count_used(float(frequencies[0]))
        phases = phases[:, :used]

        powers = (nodes.moments(frequencies, phases) / nodes.moment) ** rounds
        z = saddle.tilt + 1j * frequencies
        terms = (powers - all_zero) * _kernel(frequencies, saddle.tilt, epsilon)
        terms /= z * (1.0 + z)
        if block == 0:
            terms[0] *= 0.5
        total += float(terms.real.sum())

        # End if a further block with terms as large as the last one would not matter.
        is_negligible = abs(complex(terms[-1])) * _BLOCK < _ENOUGH * abs(total)
        if is_negligible:
            break
        phases = phases * rotation_to_next_block[:used]
    return total


def _kernel(frequencies: FloatArray, tilt: float, epsilon: float) -> ComplexArray:
    """Return the factors e^{−itε} of an inverse Laplace transform at frequencies t, times a smoothing factor.

    The smoothing factor is the characteristic function of a little normal noise that is added to the loss.

    Args:
        frequencies: frequencies t, in radians per nat.
        tilt: λ. The noise has the standard deviation `_BLUR` / λ.
        epsilon: ε, in nats.

    Returns:
        The product at each frequency.
    """
    noise_std = _BLUR / tilt
    values: ComplexArray = np.exp(-1j * frequencies * epsilon - 0.5 * (noise_std * frequencies) ** 2)
    return values


class _Nodes(NamedTuple):
    """Quadrature nodes of the privacy loss L of one step, with weights, sorted by their spacing.

    The weights are e^{λL} times probabilities. The nodes that are used at a frequency come first.

    Attributes:
        loss: loss at each node, in nats, above 0.
        above: weights of these losses.
        below: weights of the losses with the opposite sign.
        spacing: reciprocal of the largest frequency that a node resolves, increasing.
        zero_mass: weight of the loss 0.
        moment: M(λ) = E[e^{λL}].
    """

    loss: FloatArray
    above: FloatArray
    below: FloatArray
    spacing: FloatArray
    zero_mass: float
    moment: float

    @classmethod
    def of(cls, law: TiltedLoss) -> _Nodes:
        """Sort the quadrature nodes of a tilted loss by their spacing, so that those used at a frequency come first.

        Args:
            law: the loss of one step, weighted by e^{λL}, at the nodes of a quadrature over the noise.

        Returns:
            The sorted nodes. A weight of the loss 0 that rounding made negative is 0.
        """
        order = np.argsort(law.spacing)
        return cls(
            loss=law.loss[order],
            above=law.above[order],
            below=law.below[order],
            spacing=law.spacing[order],
            zero_mass=max(law.rest, 0.0),
            moment=math.exp(law.log_moment),
        )

    def count_used(self, frequency: float) -> int:
        """Return the number of nodes, from the first one, that are used at a frequency. It falls with the frequency."""
        least_frequency = 1e-300  # avoids a division by zero
        largest_spacing = _UNRESOLVED / max(frequency, least_frequency)
        return int(np.searchsorted(self.spacing, largest_spacing))

    def moments(self, frequencies: FloatArray, phases: ComplexArray) -> ComplexArray:
        """Compute the moment generating function M(λ + it) = E[e^{(λ + it)L}] at several frequencies t.

        It is a sum over the first nodes. A node represents all losses up to the next one. At high frequencies, at which
        the phases of these losses cancel, it is damped.

        Args:
            frequencies: t, one for each row of `phases`.
            phases: e^{itL} with the losses L of the first nodes, one column each.

        Returns:
            One complex number for each frequency.
        """
        used = phases.shape[1]
        # The high power leaves lower frequencies unchanged, and makes the cut at 1/spacing smooth.
        damping = np.exp(-((frequencies[:, None] * self.spacing[:used]) ** 8))
        positive_losses = (phases * damping) @ self.above[:used]
        negative_losses = (phases.conj() * damping) @ self.below[:used]
        moments: ComplexArray = positive_losses + negative_losses + self.zero_mass
        return moments

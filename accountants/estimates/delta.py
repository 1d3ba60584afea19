"""Estimates of δ for many rounds on batches of fixed size, under replace-one. None is certified or decides an answer.

Drawing K of n gives a contribution δ(ε) = q δ₀(log(1 + (e^ε − 1)/q)) in both directions. Here q = K/n, and δ₀ is that
of N(μ, 1) against N(0, 1). Let r(x) = 1 − q + q e^{μx − μ²/2}. The symmetric pair of this profile has the loss log r(x)
with density φ(x) r(x), and −log r(x) with density φ(x), both on x > μ/2. The remaining probability has the loss 0.
Therefore

    M(z) = E[e^{zL}] = 1 + ∫_{μ/2}^∞ φ (r^{1+z} − r + r^{−z} − 1) dx,   δ(ε) = (1/2πi) ∫ M(z)^T e^{−zε}/(z(1 + z)) dz.

The first integral is computed by Gauss–Legendre quadrature, and the second by the trapezoidal rule through the saddle.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from epsilond.accountants.estimates.noise import central_log_delta

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"

_STEPS, _CONVERGED = 60, 1e-3
"""Limit on the steps of the search for the saddle, and the step in log λ at which it ends."""
_LEAST, _MOST = math.log(1e-6), math.log(1e6)
"""Smallest and largest tilt, as logarithms."""
_OMITTED_NATS, _OMITTED_DEVIATIONS = 18.0, 7.0
"""Size of the omitted part: in nats, and in standard deviations of one loss or of the sum."""
_BLOCK, _MOST_BLOCKS = 64, 96
"""Number of frequencies in a block, and limit on the blocks."""
_ENOUGH = 1e-9
"""Relative size of a block of frequencies after which the sum ends."""
_UNRESOLVED = 1.5
"""Largest frequency at which a node is used, as a multiple of the largest one that it resolves."""
_RARE = 5e-3
"""Expected number of draws below which δ is nearly the sum of the δ of the rounds."""
_BLUR = 3e-3
"""Standard deviation, in units of 1/λ, of normal noise that is added to the loss.

With it few frequencies matter if large losses are rare. It adds nearly half its square to log δ.
"""
_POINTS, _PANEL, _MOST_PANELS = 10, 1.2, 256
"""Number of points of a panel, its width in standard deviations of the noise, and the limit on the panels."""
_BEYOND = 7.5
"""Standard deviations beyond the mean of a tilted distribution at which the quadrature ends."""
_RESOLVED = 2.0
"""Number of radians between neighbouring nodes up to which the sum over nodes resolves a frequency."""


class _TiltedLoss(NamedTuple):
    """The distribution of the privacy loss L of one step, weighted by e^{λL}, on quadrature nodes.

    Attributes:
        loss: loss at each node, above 0.
        above: tilted weights of these losses, e^{λL} times their probabilities.
        below: tilted weights of the losses with the opposite sign.
        rest: tilted weight of the loss 0, which is its probability.
        spacing: reciprocal of the largest frequency that the node resolves. It is about the distance of neighbouring
            losses over `_RESOLVED`.
        log_moment: log M(λ), the logarithm of the moment generating function E[e^{λL}].
        mean: mean of the tilted loss.
        variance: variance of the tilted loss.
    """

    loss: FloatArray
    above: FloatArray
    below: FloatArray
    rest: float
    spacing: FloatArray
    log_moment: float
    mean: float
    variance: float


@functools.lru_cache(maxsize=1)
def _rule() -> tuple[FloatArray, FloatArray]:
    """Return the points and weights of a Gauss–Legendre rule on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    return 0.5 * (points + 1.0), 0.5 * weights


def _tilt_loss(mu: float, rate: float, tilt: float) -> _TiltedLoss:
    """Tilt the distribution of the loss of one step on a batch of fixed size, by weights e^{λL}.

    The loss is log r(x) with density φ(x) r(x), and −log r(x) with density φ(x), both on x > μ/2, where
    r(x) = 1 − q + q e^{μx − μ²/2}. It is 0 otherwise.

    Args:
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        tilt: λ, real.

    Returns:
        The losses at the nodes of a quadrature with their tilted weights, and log moment, mean and variance.

    Raises:
        ArithmeticError: its numbers leave the range of doubles, or it needs too many panels.
    """
    x, masses, width = _normal_nodes(0.5 * mu, (1.0 + tilt) * mu + _BEYOND)
    loss = _log_ratio(x, mu, rate)
    with np.errstate(over="raise", under="ignore"):
        above, below = masses * np.exp((1.0 + tilt) * loss), masses * np.exp(-tilt * loss)
    # M(λ) − 1 = ∫ φ (r^{1+λ} − r + r^{−λ} − 1) dx, which may be far below 1.
    change_above = masses * (np.expm1(np.minimum((1.0 + tilt) * loss, 700.0)) - np.expm1(np.minimum(loss, 700.0)))
    change_below = masses * np.expm1(-tilt * loss)
    moment_minus_one = float(change_above.sum() + change_below.sum())
    moment = 1.0 + moment_minus_one
    mean = float((above - below) @ loss) / moment
    square = float((above + below) @ (loss * loss)) / moment
    weight_of_zero = moment - float(above.sum() + below.sum())
    # dL/dx = μ (1 − (1 − q)/r(x)), so that this is the distance of the losses of neighbouring nodes over `_RESOLVED`.
    spacing = mu * (width / _POINTS / _RESOLVED) * -np.expm1(math.log1p(-rate) - loss)
    return _TiltedLoss(
        loss=loss,
        above=above,
        below=below,
        rest=weight_of_zero,
        spacing=spacing,
        log_moment=math.log1p(moment_minus_one),
        mean=mean,
        variance=square - mean * mean,
    )


def _normal_nodes(low: float, high: float) -> tuple[FloatArray, FloatArray, float]:
    """Return a quadrature rule for integrals against the standard normal density.

    The interval is divided into panels of equal width, each with a Gauss–Legendre rule of `_POINTS` points.

    Args:
        low: lower bound of the interval.
        high: upper bound of the interval.

    Returns:
        The nodes x, the weights times φ(x), and the width of a panel.

    Raises:
        OverflowError: the interval needs more than `_MOST_PANELS` panels.
    """
    panels = math.ceil((high - low) / _PANEL)
    if panels > _MOST_PANELS:
        raise OverflowError(f"{panels} panels")
    width = (high - low) / panels
    points, weights = _rule()
    x = (low + width * (np.arange(panels)[:, None] + points)).ravel()
    return x, np.tile(width * weights, panels) * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi), width


def _log_ratio(x: FloatArray, mu: float, rate: float) -> FloatArray:
    """Return the log likelihood ratio log r(x) of a subsampled Gaussian step, where r(x) = 1 − q + q e^{μx − μ²/2}.

    Args:
        x: outputs of the mechanism, increasing, in standard deviations of the noise.
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
    """
    exponent = mu * x - 0.5 * mu * mu
    if exponent[-1] > 600.0:
        return np.logaddexp(math.log1p(-rate), math.log(rate) + exponent)
    return np.log1p(rate * np.expm1(exponent))


class _Saddle(NamedTuple):
    """The saddle point of the integrand of δ, an inverse Laplace transform.

    Attributes:
        tilt: real part λ of the path of integration.
        law: the loss L of one step, weighted by e^{λL}.
        curvature: second derivative of the log of the integrand at λ.
    """

    tilt: float
    law: _TiltedLoss
    curvature: float


def _find_saddle(epsilon: float, mu: float, rate: float, rounds: int, start: float) -> _Saddle:
    """Find the saddle point of the integral for δ(ε): the minimum of M(λ)^T e^{−λε}/(λ(1 + λ)) over λ > 0.

    M(λ) = E[e^{λL}] is the moment generating function of the loss L of one step. The method is Newton's on log λ,
    within a bracket.

    Args:
        epsilon: ε, in nats.
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        rounds: number T of rounds.
        start: initial estimate of λ.

    Returns:
        The tilt λ with the tilted distribution; if the search leaves the range of doubles, the last tilt within it.

    Raises:
        ArithmeticError: the distribution leaves the doubles at every tilt that is tried.
    """
    saddle: _Saddle | None = None
    low, high = _LEAST, _MOST
    log_tilt = min(max(math.log(start), _LEAST), _MOST)
    for _ in range(_STEPS):
        try:
            saddle, derivative = _measure_tilt(math.exp(log_tilt), epsilon, mu, rate, rounds)
        except ArithmeticError:
            high, log_tilt = log_tilt, 0.5 * (low + log_tilt)
            continue
        low, high = (low, log_tilt) if derivative > 0.0 else (log_tilt, high)
        step = -derivative / (saddle.curvature * saddle.tilt)  # dλ = λ d log λ
        if abs(step) < _CONVERGED or high - low < _CONVERGED:
            return saddle
        log_tilt += min(max(step, -1.5), 1.5)
        if not low < log_tilt < high:
            log_tilt = 0.5 * (low + high)
    if saddle is None:
        raise ArithmeticError("the loss of one round leaves the range of doubles at every tilt")
    return saddle


def _measure_tilt(tilt: float, epsilon: float, mu: float, rate: float, rounds: int) -> tuple[_Saddle, float]:
    """Return a candidate λ for the saddle point, and the derivative of T log M(λ) − λε − log λ − log(1 + λ) there.

    M(λ) = E[e^{λL}] is the moment generating function of the loss L of one step. The derivative is zero at the saddle
    point.

    Args:
        tilt: λ.
        epsilon: ε, in nats.
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        rounds: number T of rounds.

    Raises:
        ArithmeticError: the tilted distribution leaves the doubles.
    """
    law = _tilt_loss(mu, rate, tilt)
    derivative = rounds * law.mean - epsilon - 1.0 / tilt - 1.0 / (1.0 + tilt)
    curvature = rounds * law.variance + tilt**-2.0 + (1.0 + tilt) ** -2.0
    return _Saddle(tilt, law, curvature), derivative


def likely_log_delta_of_batches(
    epsilon: float, *, mu: float, rate: float, rounds: int, start: float = 1.0
) -> tuple[float, float]:
    """Estimate log δ(ε) of a number of rounds with batches of fixed size, under replace-one.

    δ(ε) is an inverse Laplace transform, which is computed by the trapezoidal rule on Re z = λ through its saddle
    point. If batches hardly ever include the record, δ(ε) is estimated as R q δ₀(log(1 + (e^ε − 1)/q)) for R rounds,
    where δ₀ is that of one included contribution.

    Args:
        epsilon: ε, in nats.
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: inclusion probability q, 0 < q < 1.
        rounds: number of rounds.
        start: initial estimate of λ.

    Returns:
        log δ(ε), and λ for the start of a further call.

    Raises:
        ArithmeticError, ValueError: the computation fails.
    """
    if rate * rounds < _RARE:
        epsilon_if_drawn = math.log1p(math.expm1(min(epsilon, 700.0)) / rate)
        return math.log(rounds * rate) + central_log_delta(epsilon_if_drawn, mu), start
    saddle = _find_saddle(epsilon, mu, rate, rounds, start)
    log_scale = rounds * saddle.law.log_moment - saddle.tilt * epsilon
    spacing = 2.0 * math.pi / _period(saddle, epsilon, mu, log_scale)
    total = _sum_frequencies(saddle, epsilon, rounds, spacing)
    # The last term undoes the increase of log δ by the added noise.
    return log_scale + math.log(total * spacing / math.pi) - 0.5 * _BLUR * _BLUR, saddle.tilt


def _period(saddle: _Saddle, epsilon: float, mu: float, log_scale: float) -> float:
    """Return a period A of the trapezoidal rule for δ(ε) beyond which the tilted losses are negligible.

    The distance of its frequencies is 2π/A.

    Args:
        saddle: the saddle point, with the tilt λ.
        epsilon: ε, in nats.
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        log_scale: log of M(λ)^T e^{−λε}, with the moment M(λ) = E[e^{λL}] of one of T steps.
    """
    tilt, law, curvature = saddle
    deviation = math.sqrt(curvature)
    log_delta = log_scale - math.log(tilt) - math.log1p(tilt) - 0.5 * math.log(2.0 * math.pi * curvature)
    return max(
        _OMITTED_DEVIATIONS * deviation,
        float(law.loss[-1]) + _OMITTED_DEVIATIONS * mu - epsilon,
        (_OMITTED_NATS - min(log_delta, 0.0)) / tilt,
    )


def _sum_frequencies(saddle: _Saddle, epsilon: float, rounds: int, spacing: float) -> float:
    """Return the trapezoidal sum for δ(ε), over Re φ(t)^T e^{−itε}/(z(1 + z)) at t = 0, h, 2h, ….

    The first term is halved. Here z = λ + it, and φ(t) = M(z)/M(λ) with M(z) = E[e^{zL}] is a sum over quadrature nodes
    of the loss L. A node represents all losses up to the next node. It is damped and then left out at high frequencies,
    for which the phase changes much in between. The event that all rounds have the loss 0 is subtracted, because it
    adds nothing to δ.

    Args:
        saddle: λ, and the tilted loss of one step.
        epsilon: ε, in nats.
        rounds: number T of rounds.
        spacing: distance h of the frequencies.
    """
    nodes = _Nodes.of(saddle.law)
    phases = np.exp(1j * spacing * np.arange(_BLOCK)[:, None] * nodes.loss)
    rotation_to_next_block = np.exp(1j * spacing * _BLOCK * nodes.loss)
    all_zero, total = (nodes.zero_mass / nodes.moment) ** rounds, 0.0
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
        is_negligible = abs(complex(terms[-1])) * _BLOCK < _ENOUGH * abs(total)
        if is_negligible:
            break
        phases = phases * rotation_to_next_block[:used]
    return total


def _kernel(frequencies: FloatArray, tilt: float, epsilon: float) -> ComplexArray:
    """Return e^{−itε} times the characteristic function of a little normal noise, which smooths the loss.

    Args:
        frequencies: t.
        tilt: λ. The noise has the standard deviation `_BLUR` / λ.
        epsilon: ε, in nats.
    """
    blur = _BLUR / tilt
    values: ComplexArray = np.exp(-1j * frequencies * epsilon - 0.5 * (blur * frequencies) ** 2)
    return values


class _Nodes(NamedTuple):
    """Quadrature nodes of the loss of one step, tilted by λ, sorted so that those used at a frequency come first.

    Attributes:
        loss, above, below, spacing: as in `_TiltedLoss`; `spacing` increases.
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
    def of(cls, law: _TiltedLoss) -> _Nodes:
        """Sort the quadrature nodes of a tilted loss by their spacing, so that those used at a frequency come first.

        Args:
            law: the loss of one step, weighted by e^{λL}, at the nodes of a quadrature over the noise.
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
        return int(np.searchsorted(self.spacing, _UNRESOLVED / max(frequency, 1e-300)))

    def moments(self, frequencies: FloatArray, phases: ComplexArray) -> ComplexArray:
        """Return M(λ + it) from the first nodes, each damped at frequencies that it does not resolve.

        Args:
            frequencies: t, one for each row of `phases`.
            phases: e^{itL} with the losses L of the first nodes, one column each.
        """
        used = phases.shape[1]
        # The high power leaves lower frequencies unchanged, and makes the cut at 1/spacing smooth.
        damping = np.exp(-((frequencies[:, None] * self.spacing[:used]) ** 8))
        upper, lower = (phases * damping) @ self.above[:used], (phases.conj() * damping) @ self.below[:used]
        moments: ComplexArray = upper + lower + self.zero_mass
        return moments

"""Estimates of δ by the central limit theorem. No estimate here is certified or decides an answer.

R rounds at rate q and noise multiplier z are about μ-Gaussian differentially private with
μ = q√(R(e^{(sensitivity/z)²} − 1)).

Many rounds on batches of fixed size, under replace-one, have an estimate of their own. Drawing K of n gives a
contribution δ(ε) = q δ₀(log(1 + (e^ε − 1)/q)) in both directions. Here q = K/n, and δ₀ is that of N(μ, 1) against
N(0, 1). Let r(x) = 1 − q + q e^{μx − μ²/2}. The symmetric pair of this profile has the loss log r(x)
with density φ(x) r(x), and −log r(x) with density φ(x), both on x > μ/2. The remaining probability has the loss 0.
Therefore

    M(z) = E[e^{zL}] = 1 + ∫_{μ/2}^∞ φ (r^{1+z} − r + r^{−z} − 1) dx,   δ(ε) = (1/2πi) ∫ M(z)^T e^{−zε}/(z(1 + z)) dz.

The first integral is computed by Gauss–Legendre quadrature, and the second by the trapezoidal rule through the saddle.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from scipy.special import erfcx

from epsilond.accountants.estimates.tilted_loss import TiltedLoss, tilt_loss

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

ComplexArray: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.complex128]]"

_SMALL_MU = 1e-3
"""μ of one batch below which the variance of its likelihood ratio is taken from the first two terms."""
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


def central_log_delta(epsilon: float, mu: float) -> float:
    """Estimate log δ at ε of μ-Gaussian differential privacy, a number below 0 (Balle and Wang 2018, Theorem 8).

    With Q the normal upper tail, δ(ε) = Q(a) − e^ε Q(b), where a = ε/μ − μ/2 and b = a + μ. Scaled tails e^{x²/2} Q(x)
    are used, because e^ε e^{−b²/2} = e^{−a²/2}.

    Args:
        epsilon: ε, in nats.
        mu: μ > 0.
    """
    a = epsilon / mu - 0.5 * mu
    scaled_tail_at_b = 0.5 * float(erfcx((a + mu) * math.sqrt(0.5)))
    if a < 0.0:  # 1 − δ keeps its digits
        complement = 0.5 * math.erfc(-a * math.sqrt(0.5)) + scaled_tail_at_b * math.exp(-0.5 * a * a)
        return min(math.log1p(-min(complement, 1.0 - 1e-16)), -1e-300)
    difference = 0.5 * float(erfcx(a * math.sqrt(0.5))) - scaled_tail_at_b
    return math.log(max(difference, 1e-300)) - 0.5 * a * a


def is_below_delta(log_mu: float, *, epsilon: float, log_delta: float) -> bool:
    """Return whether an estimate of log δ(ε) of μ-Gaussian differential privacy is below a given log δ.

    Args:
        log_mu: log μ.
        epsilon: ε, in nats.
        log_delta: the given log δ.
    """
    return central_log_delta(epsilon, math.exp(log_mu)) < log_delta


def batch_variance(mu: float, rate: float) -> float:
    """Estimate the variance of the likelihood ratio of one round with a batch of fixed size, divided by q².

    Let w be the likelihood ratio of N(μ, 1) against N(0, 1), minus 1. The result is E[w²] at q = 1, and tends to
    2 E[w²; w > 0] as q tends to 0. In between it is linear in q.

    Args:
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
    """
    at_one = math.expm1(mu * mu)
    if mu < _SMALL_MU:  # the terms of the exact formula cancel
        at_zero = mu * mu * (1.0 + math.sqrt(2.0 / math.pi) * mu)
    else:
        second_moment = math.exp(mu * mu) * _normal_cdf(1.5 * mu)  # E[(1 + w)²; w > 0]
        at_zero = 2.0 * (second_moment - 2.0 * _normal_cdf(0.5 * mu) + _normal_cdf(-0.5 * mu))
    return at_one + (1.0 - rate) * (at_zero - at_one)


def exceeds_variance(log_noise: float, *, rate: float, distance: float, variance: float) -> bool:
    """Return whether the variance of one round's likelihood ratio at a noise is above a given one, for a bisection.

    Both are divided by q², as in `batch_variance`.

    Args:
        log_noise: logarithm of the noise multiplier.
        rate: probability q that a contribution is drawn.
        distance: sensitivity of the mechanism in clipping norms.
        variance: the variance to compare with, divided by q².
    """
    return batch_variance(distance / math.exp(log_noise), rate) > variance


def _normal_cdf(x: float) -> float:
    """Return the standard normal distribution function Φ(x)."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def is_below_square(square: float, *, fall: float) -> bool:
    """Return whether s² is so small that log μ decreases by less than `fall` for each unit of log noise.

    Here s is the sensitivity over the noise, and μ ∝ √(e^{s²} − 1) by the central limit theorem. The decrease is
    s²/(1 − e^{−s²}). A search for s² by bisection uses this comparison.

    Args:
        square: s².
        fall: −d log μ/d log noise.
    """
    return square < -math.expm1(-square) * fall


class _Saddle(NamedTuple):
    """The saddle point of the integrand of δ, an inverse Laplace transform.

    Attributes:
        tilt: real part λ of the path of integration.
        law: the loss L of one step, weighted by e^{λL}.
        curvature: second derivative of the log of the integrand at λ.
    """

    tilt: float
    law: TiltedLoss
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
    law = tilt_loss(mu, rate, tilt)
    derivative = rounds * law.mean - epsilon - 1.0 / tilt - 1.0 / (1.0 + tilt)
    curvature = rounds * law.variance + tilt**-2.0 + (1.0 + tilt) ** -2.0
    return _Saddle(tilt, law, curvature), derivative


def likely_log_delta_of_batches(
    epsilon: float, *, mu: float, rate: float, rounds: int, start: float = 1.0
) -> tuple[float, float]:
    """Estimate log δ(ε) of a number of rounds with batches of fixed size, under replace-one.

    δ(ε) is an inverse Laplace transform, which is computed by the trapezoidal rule on Re z = λ through its saddle
    point. If batches hardly ever include the record, the δ of one included contribution is used instead.

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
        loss, above, below, spacing: as in `TiltedLoss`; `spacing` increases.
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
        """Sort the quadrature nodes of a tilted loss by their spacing."""
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

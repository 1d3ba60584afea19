"""Estimates of δ by the central limit theorem for compositions, and for many batches of fixed size.

No estimate here is certified or decides an answer. Searches start with them.

*Central limit.* R rounds at rate q and noise multiplier z are about μ-Gaussian differentially private with
μ = q√(R(e^{(sensitivity/z)²} − 1)).

*Batches of fixed size*, under replace-one. Drawing K of n gives a contribution δ(ε) = q δ₀(log(1 + (e^ε − 1)/q)) in
both directions. Here q = K/n, and δ₀ is that of N(μ, 1) against N(0, 1). Let r(x) = 1 − q + q e^{μx − μ²/2}. The
symmetric pair of this profile has the loss log r(x) with density φ(x) r(x), and −log r(x) with density φ(x), both on
x > μ/2. The remaining probability has the loss 0. Therefore

    M(z) = E[e^{zL}] = 1 + ∫_{μ/2}^∞ φ (r^{1+z} − r + r^{−z} − 1) dx,   δ(ε) = (1/2πi) ∫ M(z)^T e^{−zε}/(z(1 + z)) dz.

The first integral is computed by Gauss–Legendre quadrature, and the second by the trapezoidal rule through the saddle.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import erfcx

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_SMALL_MU = 1e-3
"""μ of one batch below which the variance of its likelihood ratio is taken from the first two terms."""
_POINTS, _PANEL, _MOST_PANELS = 10, 1.2, 256
"""Number of points of a panel, its width in standard deviations of the noise, and the limit on the panels."""
_BEYOND = 7.5
"""Standard deviations beyond the mean of a tilted distribution at which the quadrature ends."""
_STEPS, _NEAR = 60, 1e-3
"""Limit on the steps of the search for the saddle, and the step in log λ at which it ends."""
_LEAST, _MOST = math.log(1e-6), math.log(1e6)
"""Smallest and largest tilt, as logarithms."""
_NATS, _SPREADS = 18.0, 7.0
"""Size of the omitted part: in nats, and in standard deviations of one loss or of the sum."""
_BLOCK, _MOST_BLOCKS = 64, 96
"""Number of frequencies in a block, and limit on the blocks."""
_ENOUGH = 1e-9
_TOLD, _GONE = 2.0, 1.5
"""Resolution of a sum over nodes.

The first is the number of radians between nodes up to which the sum resolves a frequency. The second is the multiple of
this up to which a frequency is used.
"""
_RARE = 5e-3
"""Expected number of draws below which δ is nearly the sum of the δ of the rounds."""
_BLUR = 3e-3
"""Standard deviation, in units of 1/λ, of normal noise that is added to the loss.

With it few frequencies matter if large losses are rare. It adds nearly half its square to log δ.
"""


def central_log_delta(epsilon: float, mu: float) -> float:
    """Estimate log δ at ε of μ-Gaussian differential privacy (Balle and Wang 2018, Theorem 8). It is below 0."""
    far = epsilon / mu - 0.5 * mu
    near = 0.5 * float(erfcx((far + mu) * math.sqrt(0.5)))
    if far < 0.0:  # then 1 − δ keeps its digits
        rest = 0.5 * math.erfc(-far * math.sqrt(0.5)) + near * math.exp(-0.5 * far * far)
        return min(math.log1p(-min(rest, 1.0 - 1e-16)), -1e-300)
    tails = 0.5 * float(erfcx(far * math.sqrt(0.5))) - near
    return math.log(max(tails, 1e-300)) - 0.5 * far * far


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

    Args:
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
    """
    full = math.expm1(mu * mu)
    if mu < _SMALL_MU:
        upper = mu * mu * (1.0 + math.sqrt(2.0 / math.pi) * mu)
    else:
        upper = 2.0 * (math.exp(mu * mu) * _below(1.5 * mu) - 2.0 * _below(0.5 * mu) + _below(-0.5 * mu))
    return full + (1.0 - rate) * (upper - full)


def exceeds_variance(log_noise: float, *, rate: float, distance: float, variance: float) -> bool:
    """Return whether `batch_variance` at a noise is above a variance.

    Args:
        log_noise: logarithm of the noise multiplier.
        rate: probability q that a contribution is drawn.
        distance: sensitivity factor of the relation.
        variance: the variance to compare with, divided by q².
    """
    return batch_variance(distance / math.exp(log_noise), rate) > variance


def _below(place: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * math.erfc(-place / math.sqrt(2.0))


def is_below_square(square: float, *, fall: float) -> bool:
    """Return whether s² is below the positive root of s² = (1 − e^{−s²}) · `fall`.

    s is the sensitivity over the noise. At the root, log μ decreases by `fall` for each unit of log noise.

    Args:
        square: s².
        fall: the decrease.
    """
    return square < -math.expm1(-square) * fall


class _Tilted(NamedTuple):
    """The distribution of the loss of one step, tilted by λ, on quadrature nodes.

    Attributes:
        loss: loss at each node, above 0.
        above: tilted weights of these losses.
        below: tilted weights of the opposite losses.
        rest: tilted weight of the loss 0.
        spacing: distance of neighbouring losses, approximately, divided by `_TOLD`.
        log_moment: log M, the logarithm of the moment generating function at λ.
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
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    return 0.5 * (points + 1.0), 0.5 * weights


def _tilt(mu: float, rate: float, tilt: float) -> _Tilted:
    """Tilt the distribution of the loss of one step on a batch of fixed size.

    Args:
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        tilt: λ, real.

    Raises:
        ArithmeticError: its numbers leave the range of doubles, or it needs too many panels.
    """
    low, high = 0.5 * mu, (1.0 + tilt) * mu + _BEYOND
    panels = math.ceil((high - low) / _PANEL)
    if panels > _MOST_PANELS:
        raise OverflowError(f"{panels} panels")
    width = (high - low) / panels
    points, weights = _rule()
    x = (low + width * (np.arange(panels)[:, None] + points)).ravel()
    density = np.tile(width * weights, panels) * np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    exponent = mu * x - 0.5 * mu * mu
    if exponent[-1] > 600.0:
        loss = np.logaddexp(math.log1p(-rate), math.log(rate) + exponent)
    else:
        loss = np.log1p(rate * np.expm1(exponent))
    with np.errstate(over="raise", under="ignore"):
        above, below = density * np.exp((1.0 + tilt) * loss), density * np.exp(-tilt * loss)
    # The small difference from 1 is added to 1 last.
    moved = density * (np.expm1(np.minimum((1.0 + tilt) * loss, 700.0)) - np.expm1(np.minimum(loss, 700.0)))
    change = float(moved.sum() + (density * np.expm1(-tilt * loss)).sum())
    moment = 1.0 + change
    mean = float((above - below) @ loss) / moment
    square = float((above + below) @ (loss * loss)) / moment
    rest = moment - float(above.sum() + below.sum())
    spacing = mu * (width / _POINTS / _TOLD) * -np.expm1(math.log1p(-rate) - loss)
    return _Tilted(loss, above, below, rest, spacing, math.log1p(change), mean, square - mean * mean)


class _Saddle(NamedTuple):
    tilt: float
    law: _Tilted
    curvature: float


def _saddle(epsilon: float, mu: float, rate: float, rounds: int, start: float) -> _Saddle:
    """Find the saddle point, the minimum of M^T e^{−λε}/(λ(1 + λ)) over the tilt λ > 0.

    The method is Newton's on log λ, within a bracket. M is the moment generating function of the loss of one step.

    Args:
        epsilon: ε, in nats.
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        rounds: number T of rounds.
        start: initial estimate of λ.

    Returns:
        The tilt with the tilted distribution; if the search leaves the range of doubles, the last tilt within it.

    Raises:
        ArithmeticError: the distribution leaves the doubles at every tilt that is tried.
    """
    saddle: _Saddle | None = None
    low, high, y = _LEAST, _MOST, min(max(math.log(start), _LEAST), _MOST)
    for _ in range(_STEPS):
        tilt = math.exp(y)
        try:
            law = _tilt(mu, rate, tilt)
        except ArithmeticError:
            high, y = y, 0.5 * (low + y)
            continue
        curvature = rounds * law.variance + tilt**-2.0 + (1.0 + tilt) ** -2.0
        excess = rounds * law.mean - epsilon - 1.0 / tilt - 1.0 / (1.0 + tilt)
        saddle = _Saddle(tilt, law, curvature)
        low, high = (low, y) if excess > 0.0 else (y, high)
        step = -excess / (curvature * tilt)
        if abs(step) < _NEAR or high - low < _NEAR:
            return saddle
        y += min(max(step, -1.5), 1.5)
        if not low < y < high:
            y = 0.5 * (low + high)
    if saddle is None:
        raise ArithmeticError("the law of one round leaves the doubles at every tilt")
    return saddle


def likely_log_delta_of_batches(
    epsilon: float, *, mu: float, rate: float, rounds: int, start: float = 1.0
) -> tuple[float, float]:
    """Estimate log δ(ε) of a number of rounds with batches of fixed size, and the tilt λ of its saddle.

    Args:
        epsilon: ε, in nats.
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: inclusion probability q, 0 < q < 1.
        rounds: number of rounds.
        start: initial estimate of the tilt.

    Raises:
        ArithmeticError, ValueError: the computation fails.
    """
    if rate * rounds < _RARE:
        drawn = math.log1p(math.expm1(min(epsilon, 700.0)) / rate)
        return math.log(rounds * rate) + central_log_delta(drawn, mu), start
    tilt, law, curvature = _saddle(epsilon, mu, rate, rounds, start)
    deviation = math.sqrt(curvature)
    log_scale = rounds * law.log_moment - tilt * epsilon
    depth = log_scale - math.log(tilt) - math.log1p(tilt) - 0.5 * math.log(2.0 * math.pi * curvature)
    period = max(_SPREADS * deviation, float(law.loss[-1]) + _SPREADS * mu - epsilon, (_NATS - min(depth, 0.0)) / tilt)
    spacing = 2.0 * math.pi / period
    blur = _BLUR / tilt
    # A node represents the losses up to the next node. Above a frequency it has no information, and is left out.
    moment, rest = math.exp(law.log_moment), max(law.rest, 0.0)
    order = np.argsort(law.spacing)
    loss, above, below, spacings = (part[order] for part in (law.loss, law.above, law.below, law.spacing))
    turned = np.exp(1j * spacing * np.arange(_BLOCK)[:, None] * loss)
    stride = np.exp(1j * spacing * _BLOCK * loss)
    none, total = (rest / moment) ** rounds, 0.0
    for block in range(_MOST_BLOCKS):
        frequencies = spacing * (block * _BLOCK + np.arange(_BLOCK))
        resolved = int(np.searchsorted(spacings, _GONE / max(float(frequencies[0]), 1e-300)))
        loss, above, below, spacings, stride = (part[:resolved] for part in (loss, above, below, spacings, stride))
        turned = turned[:, :resolved]
        damping = np.exp(-((frequencies[:, None] * spacings) ** 8))
        sum_ = (turned * damping) @ above + (turned.conj() * damping) @ below + rest
        z = tilt + 1j * frequencies
        terms = ((sum_ / moment) ** rounds - none) * np.exp(
            -1j * frequencies * epsilon - 0.5 * (blur * frequencies) ** 2
        )
        terms /= z * (1.0 + z)
        if block == 0:
            terms[0] *= 0.5
        total += float(terms.real.sum())
        if abs(complex(terms[-1])) * _BLOCK < _ENOUGH * abs(total):
            break
        turned = turned * stride
    return log_scale + math.log(total * spacing / math.pi) - 0.5 * _BLUR * _BLUR, tilt

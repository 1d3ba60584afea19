"""The loss of one step on a batch of fixed size, tilted by weights e^{λL}, on quadrature nodes.

The distribution of the loss is that of the docstring of `epsilond.accountants.estimates.delta`.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray

_POINTS, _PANEL, _MOST_PANELS = 10, 1.2, 256
"""Number of points of a panel, its width in standard deviations of the noise, and the limit on the panels."""
_BEYOND = 7.5
"""Standard deviations beyond the mean of a tilted distribution at which the quadrature ends."""
_RESOLVED = 2.0
"""Number of radians between neighbouring nodes up to which the sum over nodes resolves a frequency."""


class TiltedLoss(NamedTuple):
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


def tilt_loss(mu: float, rate: float, tilt: float) -> TiltedLoss:
    """Tilt the distribution of the loss of one step on a batch of fixed size, by weights e^{λL}.

    The loss is log r(x) with density φ(x) r(x), and −log r(x) with density φ(x), both on x > μ/2, where
    r(x) = 1 − q + q e^{μx − μ²/2}. It is 0 otherwise.

    Args:
        mu: distance of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn.
        tilt: λ, real.

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
    return TiltedLoss(
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

"""The privacy loss of one step on a batch of fixed size under replace-one, weighted by e^{λL}, on quadrature nodes.

Drawing K of n records includes a given record with probability q = K/n. Let r(x) = 1 − q + q e^{μx − μ²/2}, where μ is
the distance of the means of an included contribution in standard deviations of the noise. The loss is log r(x) with
density φ(x) r(x), and −log r(x) with density φ(x), both on x > μ/2. The remaining probability has the loss 0. Therefore

    M(z) = E[e^{zL}] = 1 + ∫_{μ/2}^∞ φ (r^{1+z} − r + r^{−z} − 1) dx.

The integral is computed by Gauss–Legendre quadrature. Results are estimates without error bounds.
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
_MOST_EXPONENT = 700.0
"""Largest exponent of an exponential that is formed; its exponential is still a double."""
_LARGE_EXPONENT = 600.0
"""Exponent above which the likelihood ratio is formed from logarithms, because its exponential may overflow."""


class TiltedLoss(NamedTuple):
    """The distribution of the privacy loss L of one step, weighted by e^{λL}, on quadrature nodes.

    The loss is symmetric: each node x represents the loss log r(x) and its negative, with different probabilities.
    Weights are not normalised: they sum to M(λ) = E[e^{λL}].

    Attributes:
        loss: loss at each node, in nats, above 0.
        above: tilted weights of these losses, e^{λL} times their probabilities.
        below: tilted weights of the losses with the opposite sign.
        rest: tilted weight of the loss 0, which is its probability.
        spacing: reciprocal of the largest frequency that each node resolves, about the distance of neighbouring losses
            divided by `_RESOLVED`.
        log_moment: log M(λ), the logarithm of the moment generating function.
        mean: mean of the tilted loss, in nats.
        variance: variance of the tilted loss, in squared nats.
    """

    loss: FloatArray
    above: FloatArray
    below: FloatArray
    rest: float
    spacing: FloatArray
    log_moment: float
    mean: float
    variance: float


class _NormalQuadrature(NamedTuple):
    """A quadrature rule for integrals of functions against the standard normal density φ over an interval.

    Attributes:
        nodes: points x of the rule, increasing.
        weights: weight of each point times φ(x).
        panel_width: width of the equal panels into which the interval is divided.
    """

    nodes: FloatArray
    weights: FloatArray
    panel_width: float


def tilt_loss(mu: float, rate: float, tilt: float) -> TiltedLoss:
    """Compute the distribution of the loss of one step on a batch of fixed size, weighted by e^{λL}.

    Let r(x) = 1 − q + q e^{μx − μ²/2}, and φ the normal density. The loss is log r(x) with density φ(x) r(x), and
    −log r(x) with density φ(x), both on x > μ/2. It is 0 otherwise. Tilting multiplies the density of a loss L by
    e^{λL}.

    Args:
        mu: distance μ of the two means if the contribution is drawn, in standard deviations of the noise.
        rate: probability q that the contribution is drawn, in (0, 1).
        tilt: λ, real.

    Returns:
        The losses at the nodes of a quadrature with their tilted weights, and log moment, mean and variance.

    Raises:
        ArithmeticError: the weights leave the range of doubles, or the quadrature needs too many panels.
    """
    # The largest tilted density has its mean at (1 + λ) μ.
    quadrature = _normal_quadrature(0.5 * mu, (1.0 + tilt) * mu + _BEYOND)
    masses = quadrature.weights
    loss = _log_ratio(quadrature.nodes, mu, rate)
    with np.errstate(over="raise", under="ignore"):
        above = masses * np.exp((1.0 + tilt) * loss)
        below = masses * np.exp(-tilt * loss)

    # M(λ) − 1 = ∫ φ (r^{1+λ} − r + r^{−λ} − 1) dx may be far below 1, so it is summed without the 1.
    tilted_minus_one = np.expm1(np.minimum((1.0 + tilt) * loss, _MOST_EXPONENT))
    untilted_minus_one = np.expm1(np.minimum(loss, _MOST_EXPONENT))
    change_above = masses * (tilted_minus_one - untilted_minus_one)
    change_below = masses * np.expm1(-tilt * loss)
    moment_minus_one = float(change_above.sum() + change_below.sum())
    moment = 1.0 + moment_minus_one

    mean = float((above - below) @ loss) / moment
    second_moment = float((above + below) @ (loss * loss)) / moment
    weight_of_zero = moment - float(above.sum() + below.sum())

    # The distance of the losses of neighbouring nodes follows from dL/dx = μ (1 − (1 − q)/r(x)).
    slope_over_mu = -np.expm1(math.log1p(-rate) - loss)
    spacing = mu * (quadrature.panel_width / _POINTS / _RESOLVED) * slope_over_mu
    return TiltedLoss(
        loss=loss,
        above=above,
        below=below,
        rest=weight_of_zero,
        spacing=spacing,
        log_moment=math.log1p(moment_minus_one),
        mean=mean,
        variance=second_moment - mean * mean,
    )


def _normal_quadrature(low: float, high: float) -> _NormalQuadrature:
    """Return a quadrature rule for integrals against the standard normal density over an interval.

    The interval is divided into panels of equal width, each with a Gauss–Legendre rule of `_POINTS` points.

    Args:
        low: lower bound of the interval.
        high: upper bound of the interval, above `low`.

    Returns:
        The nodes, their weights times the density, and the width of a panel.

    Raises:
        OverflowError: the interval needs more than `_MOST_PANELS` panels.
    """
    panels = math.ceil((high - low) / _PANEL)
    if panels > _MOST_PANELS:
        raise OverflowError(f"{panels} panels")
    width = (high - low) / panels
    points, weights = _unit_rule()
    panel_numbers = np.arange(panels)[:, None]
    nodes = (low + width * (panel_numbers + points)).ravel()
    weights_times_density = np.tile(width * weights, panels) * np.exp(-0.5 * nodes * nodes) / math.sqrt(2.0 * math.pi)
    return _NormalQuadrature(nodes, weights_times_density, width)


@functools.lru_cache(maxsize=1)
def _unit_rule() -> tuple[FloatArray, FloatArray]:
    """Return the Gauss–Legendre rule with `_POINTS` points on the unit interval [0, 1].

    Returns:
        The points in increasing order, and their weights, which sum to 1.
    """
    points, weights = np.polynomial.legendre.leggauss(_POINTS)
    return 0.5 * (points + 1.0), 0.5 * weights


def _log_ratio(x: FloatArray, mu: float, rate: float) -> FloatArray:
    """Return the log likelihood ratio of a subsampled Gaussian step at several outputs.

    It is log r(x) with r(x) = 1 − q + q e^{μx − μ²/2}.

    Args:
        x: outputs of the mechanism, increasing, in standard deviations of the noise.
        mu: distance μ of the two means if the contribution is drawn, in standard deviations.
        rate: probability q that the contribution is drawn, in (0, 1).

    Returns:
        log r at each output, in nats.
    """
    exponent = mu * x - 0.5 * mu * mu
    if exponent[-1] > _LARGE_EXPONENT:
        return np.logaddexp(math.log1p(-rate), math.log(rate) + exponent)
    return np.log1p(rate * np.expm1(exponent))

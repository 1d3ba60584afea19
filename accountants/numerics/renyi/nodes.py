"""Nodes of the trapezoidal rule for the Rényi divergences of a Poisson-subsampled Gaussian step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from epsilond.accountants.numerics.special import log_normal_tail

if TYPE_CHECKING:
    from collections.abc import Sequence

    from epsilond.accountants.numerics.special import FloatArray

_MOST_TERMS, _FEW_NODES = 100_000, 100
"""Largest number of terms of several orders that share nodes, and number of nodes that cost less than a call."""
_BLOCK = 16
"""Number of nodes that are left out together."""
LOG_LEFT_OUT = -80.0
"""Logarithm of a term below which it is left out, relative to the largest one of r^a."""
BEYOND = 13.0
"""Standard deviations of the noise by which the nodes extend below 0, and above the largest value of the integrand."""
_LOG_QUADRATURE = -75.0
"""Logarithm of the relative error of the trapezoidal rule from which the distance of the nodes follows."""


def group_orders(orders: Sequence[float], shift: float, step: float) -> list[list[float]]:
    """Divide increasing Rényi orders into groups of similar orders, which share the nodes of one quadrature.

    Args:
        orders: orders a > 1, increasing.
        shift: sensitivity s in standard deviations of the noise.
        step: distance of neighbouring nodes, in standard deviations of the noise.

    Returns:
        The groups, each with its orders in increasing order.
    """
    groups: list[list[float]] = []
    for order in orders:
        if groups and _share_nodes(order, groups[-1], shift, step):
            groups[-1].append(order)
        else:
            groups.append([order])
    return groups


def node_count(order: float, shift: float, step: float) -> int:
    """Return the number of nodes of the quadrature for the Rényi divergence at one order.

    The nodes cover the noise from `BEYOND` standard deviations below 0 to as many above a s, near which the integrand
    is largest.

    Args:
        order: order a > 1.
        shift: sensitivity s in standard deviations of the noise.
        step: distance of neighbouring nodes, in standard deviations.

    Returns:
        The number of nodes from the first to the last one.
    """
    return math.ceil((order * shift + 2.0 * BEYOND) / step) + 1


def _share_nodes(order: float, group: Sequence[float], shift: float, step: float) -> bool:
    """Return whether the divergence of an order is integrated together with those of a group of smaller orders.

    All orders of a group use the nodes of the largest one. An order joins the group if it needs few more nodes than the
    smallest order, and if all terms together fit into the memory.

    Args:
        order: the order.
        group: the smaller orders, increasing; at least one.
        shift: sensitivity s in standard deviations of the noise.
        step: distance of neighbouring nodes, in standard deviations.

    Returns:
        True if the order belongs to the group.
    """
    count, least_count = node_count(order, shift, step), node_count(group[0], shift, step)
    is_near = count <= least_count + BEYOND / step or count <= least_count + _FEW_NODES
    return is_near and count * (len(group) + 1) <= _MOST_TERMS


def relevant_nodes(column: FloatArray, rate: float, shift: float, step: float, count: int) -> FloatArray:
    """Return the indices of quadrature nodes, in blocks, where the integrand r^a e^{−y²/2} may matter at some order a.

    The likelihood ratio r rises with the noise y. So the integrand on a block is at most max(1, r^a) at its end, times
    e^{−y²/2} at its point nearest to 0. A block is left out if this bound is negligible for all orders, compared with
    the largest value of the integrand at the first node of any block.

    Args:
        column: orders a > 1, in a column.
        rate: inclusion probability q in (0, 1).
        shift: sensitivity s in standard deviations of the noise.
        step: distance of neighbouring nodes, in standard deviations.
        count: number of nodes, of which the first one is at y = −`BEYOND`.

    Returns:
        Indices of the nodes, increasing, as doubles.
    """
    indices = np.arange(float(count))
    if count <= _BLOCK * _BLOCK:
        return indices

    # Noise and log ratio at the first node of each block, which is the end of the one before.
    first_nodes = np.arange(0, count, _BLOCK)
    y = step * np.append(first_nodes, first_nodes[-1] + _BLOCK) - BEYOND
    log_ratio = np.maximum(sampled_log_ratio(np.asarray(shift * (y - 0.5 * shift)), rate), 0.0)

    # The largest known value of the integrand for each order, and the upper bound on each block; a row for each order.
    distance_from_zero = np.maximum(np.maximum(y[:-1], -y[1:]), 0.0)
    log_largest = np.max(column * log_ratio[:-1] - 0.5 * y[:-1] ** 2, axis=1)
    # The factor 1 + 1e-12 covers the rounding of log r.
    log_bound = column * log_ratio[1:] * (1.0 + 1e-12) - 0.5 * distance_from_zero**2
    is_used = np.any(log_bound > log_largest[:, None] + LOG_LEFT_OUT, axis=0)
    return np.asarray(indices[np.repeat(is_used, _BLOCK)[:count]])


def node_distance(noise_multiplier: float) -> tuple[float, float]:
    """Return the distance h of quadrature nodes for a Rényi divergence, and the log of a bound on the relative error.

    The relative error of the trapezoidal rule is at most:

        2 e^{w²/2}/(e^{2πw/h} − 1)

    for any w < πz. This function chooses w, and then h so that the bound is below e^−75.

    Args:
        noise_multiplier: standard deviation z of the noise, in units of the sensitivity.

    Returns:
        h in standard deviations of the noise, and the log of the bound on the relative error.
    """
    # w is 3z, below πz, but at most 12, so that e^{w²/2} is moderate. h then solves 2πw/h = w²/2 + 75 + 2.
    height = min(3.0 * noise_multiplier, 12.0)
    step = 2.0 * math.pi * height / (0.5 * height * height - _LOG_QUADRATURE + 2.0)
    exponent = 2.0 * math.pi * height / step
    return step, math.log(2.0) + 0.5 * height * height - exponent + 1e-9  # 1e-9 covers the −1 and roundings


def log_error_at_ends(step: float) -> float:
    """Return the log of a bound on the part of a Rényi divergence's integral beyond the nodes, relative to the whole.

    The nodes of the trapezoidal rule extend `BEYOND` standard deviations below 0 and above the peak of the integrand.
    The bound is 2 Φ(−c), with the normal distribution function Φ and c one step below `BEYOND`.

    Args:
        step: distance of neighbouring nodes, in standard deviations.

    Returns:
        The log of the bound on the relative error.
    """
    return math.log(2.0) + float(log_normal_tail(BEYOND - step))


def sampled_log_ratio(exponent: FloatArray, rate: float) -> FloatArray:
    """Return the log likelihood ratio log(1 − q + q e^t) of a subsampled Gaussian step, without cancellation.

    Args:
        exponent: t, the log likelihood ratio of an included contribution, for each value of the noise.
        rate: inclusion probability q in (0, 1].

    Returns:
        One log ratio in nats for each exponent.
    """
    # For large t the factor e^t is taken out, so that nothing overflows. Both forms are accurate near t = 30.
    for_small = np.log1p(rate * np.expm1(np.minimum(exponent, 30.0)))
    for_large = exponent + np.log(rate + (1.0 - rate) * np.exp(-np.maximum(exponent, 30.0)))
    return np.asarray(np.where(exponent < 30.0, for_small, for_large))

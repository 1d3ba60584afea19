"""Pairs of a Gaussian contribution that is in exactly one of t batches.

The pair is P = (1/t) Σ N(c e_i, I) against Q = N(0, I). Its ratio under Q is S = (X₁ + … + X_t)/t. The X_i are
independent ratios of N(c, 1) to N(0, 1). Proof: docs/random-allocation.md.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.allocation.allocation_renyi import AllocationRenyi
from epsilond.accountants.profiles.allocation.gaussian_ratio import LARGEST_SHIFT, LEAST_SHIFT, gaussian_ratio
from epsilond.accountants.profiles.allocation.ratios import Side, sum_copies
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.binned import finite_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair

if TYPE_CHECKING:
    from epsilond.accountants.numerics.special import FloatArray
    from epsilond.accountants.profiles.allocation.ratios import FiniteRatio

_KEPT = 64
"""Number of stored pairs, of about a thousand atoms each."""
_LOG_UNDERFLOW = -690.0
"""Log of 1e-300, above the total mass under Q of all products that underflow: 1e7 products for a sum, 1e-323 each."""


class AllocationPairs(NamedTuple):
    """Pairs of distributions that bound a random allocation: a contribution is in exactly one of several batches.

    Attributes:
        upper: a pair that dominates the allocation: its δ is at least that of the allocation at every ε.
        attained: a pair that the allocation attains after some outputs are merged, for lower bounds on δ.
    """

    upper: Pair
    attained: Pair


def has_allocation_pairs(shift: float) -> bool:
    """Return whether `allocation_pairs` has finite bounds for a shift."""
    return LEAST_SHIFT <= shift <= LARGEST_SHIFT


@functools.lru_cache(maxsize=_KEPT)
def allocation_pairs(shift: float, steps: int, cells: int) -> AllocationPairs:
    """Return a dominating and an attained pair for a Gaussian contribution that is in one of t batches, uniformly.

    Args:
        shift: c, the norm of the contribution over the standard deviation of the noise.
        steps: number of batches t, at least 1.
        cells: number of cells of each sum.

    Returns:
        Two pairs of distributions. δ of the first is at least that of the mechanism, and δ of the second at most.
    """
    # By joint convexity, the pair of a public batch dominates.
    public = gaussian_pair(shift * (1.0 + 4 * UNIT_ROUNDOFF))
    upper = dominating_pair(_mean_ratio(shift, steps, cells, "above"))
    attained = attained_pair(_mean_ratio(shift, steps, cells, "below"))
    formulas = [AllocationRenyi(shift * (1.0 + side * UNIT_ROUNDOFF), steps) for side in (4, -4)]
    return AllocationPairs(
        replace(upper, formula=formulas[0], below=public), replace(attained, formula=formulas[1], below=public)
    )


def _mean_ratio(shift: float, steps: int, cells: int, side: Side) -> FiniteRatio:
    """Return a bound, with finitely many values, on the mean of t independent ratios of N(c, 1) to N(0, 1).

    It is above or below the mean in the convex order.

    Args:
        shift: c, the distance of the means of a ratio's distributions in standard deviations.
        steps: number of ratios t.
        cells: number of cells of each sum.
        side: above or below in the convex order.
    """
    return sum_copies(gaussian_ratio(shift, cells, side), steps, cells).scale(1.0 / steps)


def dominating_pair(ratio: FiniteRatio) -> Pair:
    """Return a dominating pair (P, Q) from a likelihood ratio that is above the true one in the convex order.

    A dominating pair has a δ of at least the mechanism's at every ε. All losses are raised by the error of the ratio's
    values.

    Args:
        ratio: distribution of dP/dQ under Q.

    Returns:
        P and Q; its hockey-stick divergence is at least that of the true pair at every ε, in both directions.
    """
    is_positive = (ratio.places > 0.0) & (ratio.weights > 0.0)
    losses, log_q = np.log(ratio.places[is_positive]), np.log(ratio.weights[is_positive])
    error = ratio.weight_error + 2.0 * ratio.place_error + 16 * UNIT_ROUNDOFF
    raised = ratio.place_error + 8 * UNIT_ROUNDOFF * (1.0 + np.abs(losses))
    forward = losses + raised
    backward = raised - losses
    log_missing = float(np.logaddexp.reduce(np.log(ratio.weights[(ratio.places <= 0.0) & (ratio.weights > 0.0)])))
    log_missing = float(np.logaddexp(log_missing + error, _LOG_UNDERFLOW))
    # A lost mass under Q at the largest place is a mass under P of that many times its size.
    log_infinite = float(np.logaddexp(ratio.log_infinite, _LOG_UNDERFLOW + float(losses.max(initial=0.0))))
    return Pair(
        _profile(forward, log_q + forward, min(log_infinite, 0.0), error),
        _profile(backward[::-1], log_q[::-1], log_missing, error),
    )


def _profile(losses: FloatArray, log_masses: FloatArray, log_infinite: float, error: float) -> AtomicProfile:
    """Return the profile of one direction of a pair, from its losses with their masses. Only positive losses count.

    Args:
        losses: increasing losses, in nats.
        log_masses: log masses under the first distribution.
        log_infinite: log of the mass of the infinite loss.
        error: relative error of every mass.
    """
    is_positive = losses > 0.0
    retained, log_retained = losses[is_positive], log_masses[is_positive]
    return AtomicProfile(tuple(retained.tolist()), tuple(log_retained.tolist()), log_infinite, error)


def attained_pair(ratio: FiniteRatio) -> Pair:
    """Return a pair (P, Q) for lower bounds on δ, from a likelihood ratio below the true one in the convex order.

    A smaller ratio in the convex order has a smaller δ at every ε, in both directions.

    Args:
        ratio: distribution of dP/dQ under Q.

    Returns:
        P and Q; its hockey-stick divergence is at most that of the true pair at every ε, in both directions.
    """
    is_possible = ratio.weights > 0.0
    log_q = np.log(ratio.weights[is_possible])
    with np.errstate(divide="ignore"):
        log_p = log_q + np.log(ratio.places[is_possible])
    if ratio.log_infinite > -math.inf:
        log_p, log_q = np.append(log_p, ratio.log_infinite), np.append(log_q, -math.inf)
    accuracy = ratio.weight_error + 2.0 * ratio.place_error + 64 * UNIT_ROUNDOFF
    return finite_pair(np.asarray(log_p), np.asarray(log_q), accuracy)


@functools.lru_cache(maxsize=_KEPT)
def unequal_attained_pair(shift: float, steps: int, share: float, last_share: float, cells: int) -> Pair:
    """Return an attained pair of a contribution that is in one of t batches of equal probability, or in a last one.

    Args:
        shift: norm of the contribution over the standard deviation of the noise.
        steps: number t of batches of equal probability.
        share: probability of each of them.
        last_share: probability of the last batch; 0 if there is none.
        cells: number of cells of each sum.

    Returns:
        Two distributions with a hockey-stick divergence of at most δ of the mechanism at every ε.
    """
    ratio = gaussian_ratio(shift, cells, "below")
    total = sum_copies(ratio, steps, cells).scale(share)
    attained = attained_pair(total.add(ratio.scale(last_share), cells) if last_share > 0.0 else total)
    return replace(attained, below=gaussian_pair(shift * (1.0 + 4 * UNIT_ROUNDOFF)))

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

    The likelihood ratio X of all outputs is the mean of t independent ratios of N(c, 1) to N(0, 1). It is bounded from
    both sides by ratios with finitely many values, in the convex order: expectations of convex functions of X, such as
    δ, are at most and at least those of the bounds.

    Args:
        shift: c, the norm of the contribution in standard deviations of the noise.
        steps: number t of batches, at least 1.
        cells: number of cells, into which the values of each sum are merged.

    Returns:
        Two pairs of distributions. δ of the first is at least that of the mechanism, and δ of the second at most.
    """
    # A public batch has at least as large a δ, by joint convexity. The shift is rounded outward by more than its error.
    rounding = 4 * UNIT_ROUNDOFF
    public = gaussian_pair(shift * (1.0 + rounding))

    upper = dominating_pair(_mean_ratio(shift, steps, cells, "above"))
    attained = attained_pair(_mean_ratio(shift, steps, cells, "below"))
    upper_formula = AllocationRenyi(shift * (1.0 + rounding), steps)
    lower_formula = AllocationRenyi(shift * (1.0 - rounding), steps)
    return AllocationPairs(
        replace(upper, formula=upper_formula, below=public), replace(attained, formula=lower_formula, below=public)
    )


def _mean_ratio(shift: float, steps: int, cells: int, side: Side) -> FiniteRatio:
    """Return a finite bound on the mean of independent likelihood ratios of two Gaussian distributions.

    There are t ratios, each of N(c, 1) to N(0, 1). The bound has finitely many values.

    Args:
        shift: c, the distance of the means of a ratio's distributions, in standard deviations.
        steps: number t of ratios.
        cells: number of cells, that is, intervals of values, of each sum.
        side: "above" or "below" the true mean in the convex order.

    Returns:
        Values of the mean with their masses under N(0, 1), bounded on the requested side.
    """
    return sum_copies(gaussian_ratio(shift, cells, side), steps, cells).scale(1.0 / steps)


def dominating_pair(ratio: FiniteRatio) -> Pair:
    """Return a dominating pair (P, Q) from a likelihood ratio that is above the true one in the convex order.

    A dominating pair has a δ of at least the mechanism's at every ε. All privacy losses are raised by the error of the
    ratio's values.

    Args:
        ratio: distribution of dP/dQ under Q.

    Returns:
        P and Q; its hockey-stick divergence is at least that of the true pair at every ε, in both directions.
    """
    has_weight = ratio.weights > 0.0
    is_positive = (ratio.places > 0.0) & has_weight
    losses, log_q = np.log(ratio.places[is_positive]), np.log(ratio.weights[is_positive])
    # Relative error of a probability under P, a product of a weight and a place.
    error = ratio.weight_error + 2.0 * ratio.place_error + 16 * UNIT_ROUNDOFF
    # Error of a loss: that of the place, and that of its logarithm.
    raised = ratio.place_error + 8 * UNIT_ROUNDOFF * (1.0 + np.abs(losses))
    forward = losses + raised
    backward = raised - losses

    # The mass under Q at the ratio 0 is an infinite loss of the backward direction.
    is_zero = (ratio.places <= 0.0) & has_weight
    log_missing = float(np.logaddexp.reduce(np.log(ratio.weights[is_zero])))
    log_missing = float(np.logaddexp(log_missing + error, _LOG_UNDERFLOW))

    # Mass under Q that underflow has lost may be at the largest ratio, by which its mass under P is larger.
    log_lost_mass = _LOG_UNDERFLOW + float(losses.max(initial=0.0))
    log_infinite = float(np.logaddexp(ratio.log_infinite, log_lost_mass))
    return Pair(
        _profile(forward, log_q + forward, min(log_infinite, 0.0), error),
        _profile(backward[::-1], log_q[::-1], log_missing, error),
    )


def _profile(losses: FloatArray, log_masses: FloatArray, log_infinite: float, error: float) -> AtomicProfile:
    """Return the privacy profile of one direction of a pair, from its losses with their probabilities.

    A pair is two distributions of outputs. Only positive losses count for δ at ε ≥ 0.

    Args:
        losses: increasing privacy losses, in nats.
        log_masses: log probabilities of the losses under the first distribution.
        log_infinite: log of the probability of the infinite loss.
        error: relative error of every probability.

    Returns:
        The profile, with the positive losses and the infinite one.
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

    # An infinite ratio is an outcome that is impossible under Q.
    if ratio.log_infinite > -math.inf:
        log_p, log_q = np.append(log_p, ratio.log_infinite), np.append(log_q, -math.inf)
    # Relative error of a product of a weight and a place, and of two logarithms.
    accuracy = ratio.weight_error + 2.0 * ratio.place_error + 64 * UNIT_ROUNDOFF
    return finite_pair(np.asarray(log_p), np.asarray(log_q), accuracy)


@functools.lru_cache(maxsize=_KEPT)
def unequal_attained_pair(shift: float, steps: int, share: float, last_share: float, cells: int) -> Pair:
    """Return a pair for lower bounds on δ, for a contribution in one of several batches of two probabilities.

    The noise is Gaussian. t batches have equal probability, and a last one has its own.

    Args:
        shift: norm of the contribution, in standard deviations of the noise.
        steps: number t of batches of equal probability.
        share: probability of each of them.
        last_share: probability of the last batch; 0 if there is none.
        cells: number of cells, into which the values of each sum are merged.

    Returns:
        Two distributions with a hockey-stick divergence of at most δ of the mechanism at every ε.
    """
    ratio = gaussian_ratio(shift, cells, "below")
    mean_ratio = sum_copies(ratio, steps, cells).scale(share)
    if last_share > 0.0:
        mean_ratio = mean_ratio.add(ratio.scale(last_share), cells)

    # With a public batch, δ is at least as large, because the hockey-stick divergence is jointly convex.
    public = gaussian_pair(shift * (1.0 + 4 * UNIT_ROUNDOFF))
    return replace(attained_pair(mean_ratio), below=public)

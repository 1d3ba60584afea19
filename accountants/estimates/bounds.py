"""Estimates of composed bounds, and the alternative bounds of which the upper bound of a curve is the least."""

from __future__ import annotations

import math

import numpy as np

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.least import alternatives_of
from epsilond.accountants.profiles.declared.concentrated_bound import LARGEST_EXPONENT, minimiser_at

LIKELY_SHARE = 1 / 16
"""Fraction of ε at which the bounds of single rounds are compared."""
_NEARLY = 1e-9
"""Relative tolerance of the logarithm of the minimiser. The error of the bound is about its square."""


def alternatives(curve: Curve) -> tuple[Curve, ...]:
    """Return the alternative upper bounds of a curve, each as a curve without witnesses.

    The upper bound of the curve is the least of them.

    A witness is a pair of distributions that some neighbours attain, which gives lower bounds.

    Args:
        curve: a privacy curve. Its upper bound may be the least of several dominating pairs.

    Returns:
        One curve for each dominating pair.
    """
    return tuple(Curve(pair) for pair in alternatives_of(curve.upper))


def likely_least(curve: Curve, epsilon: float) -> int:
    """Return which of several upper bounds on a run's δ(ε) is probably the least, without composing the rounds.

    Each bound comes from a dominating pair, that is, two distributions with a hockey-stick divergence that bounds δ.
    Composing a pair over all rounds is expensive, so the pairs of single rounds are compared. They are compared at
    `LIKELY_SHARE` · ε, because a round has only a part of the total loss. The index is 0 if a pair is not a composition
    of one kind of round.

    Args:
        curve: a curve, with the least of several alternative pairs as its upper bound.
        epsilon: ε, in nats.

    Returns:
        The index in the order of `alternatives`.
    """
    parts_of_pairs = [pair.parts for pair in alternatives_of(curve.upper)]
    if any(len(parts) != 1 for parts in parts_of_pairs):
        return 0
    epsilon_of_round = np.asarray([epsilon * LIKELY_SHARE])
    log_deltas = []
    for parts in parts_of_pairs:
        round_pair, _number_of_rounds = parts[0]
        log_delta = round_pair.forward.log_delta(epsilon_of_round)
        log_deltas.append(float(log_delta.upper[0]))
    return log_deltas.index(min(log_deltas))


def quick_upper_log_delta(curve: Curve, epsilon: float) -> float:
    """Return an upper bound on log δ(ε) of a composition that takes little time and may be loose.

    If a quick bound is infinite, the slower bound of the dominating pair is returned.

    Args:
        curve: a privacy curve.
        epsilon: ε, in nats.

    Returns:
        The bound on the natural logarithm of δ, over both directions of the dominating pair.
    """
    pair = curve.upper
    bounds = []
    for profile in pair.directions():
        if profile.estimated:
            bounds.append(profile.quick_upper_log_delta(epsilon))
        else:
            bounds.append(pair.log_delta_bounds(epsilon).upper)
    quick = max(bounds)
    return quick if math.isfinite(quick) else pair.log_delta_bounds(epsilon).upper


def closed_form_decides(curve: Curve, epsilon: float, share: float) -> bool:
    """Return whether a bound on δ(ε) in closed form is estimated to be so small that no composition is necessary.

    Args:
        curve: a curve with the least of several alternatives as its upper bound.
        epsilon: ε, in nats.
        share: fraction of the least closed form's log δ by which the estimates of all composed bounds must exceed it.

    Returns:
        True if they exceed it in both directions of the dominating pair.
    """
    return all(profile.closed_decides(epsilon, share) for profile in curve.upper.directions())


def likely_concentrated_log_delta(rho: float, epsilon: float) -> float:
    """Estimate the bound on log δ(ε) that ρ-zero-concentrated differential privacy gives.

    The order b + 1 gives the bound:

        b ((b + 1) ρ − ε) − log b − (b + 1) log(1 + 1/b).

    It is evaluated near its minimiser b > 0 (`minimiser_at`).

    Args:
        rho: ρ > 0, in nats. The Rényi divergence of every order a > 1 is at most ρ a.
        epsilon: ε, in nats.

    Returns:
        The value at the approximate minimiser. It is at least the least value, up to roundings.
    """
    log_b = minimiser_at(rho, epsilon, near=_NEARLY)
    b = math.exp(min(log_b, LARGEST_EXPONENT))
    exponent = b * ((b + 1.0) * rho - epsilon)
    # For b < 1 the last two terms of the formula are b log b − (b + 1) log(1 + b), without cancellation.
    if log_b < 0.0:
        return exponent + b * log_b - (b + 1.0) * math.log1p(b)
    return exponent - log_b - (b + 1.0) * math.log1p(math.exp(-log_b))

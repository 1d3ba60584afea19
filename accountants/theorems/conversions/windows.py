"""From one window of a client to all its windows, by group privacy of the exact curve.

Let δ(ε) be a curve for the contributions of a client within one window. Between two data sets that differ in w windows
of a client there are w − 1 others, such that each differs from the next in one window. With a = ε/w, each such step
gives P(S) ≤ e^a P′(S) + δ(a) for every event S. Together, δ_w(ε) ≤ δ(a) (1 + e^a + … + e^{(w−1)a}). This is Lemma F.2
of Lowy and Razaviyayn with the exact sum. It is an upper bound only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.curve.enclosure import LARGEST_EPSILON
from epsilond.accountants.numerics.outward import product_up
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.theorems.conversions.groups import group_log_delta

if TYPE_CHECKING:
    from epsilond.accountants.curve.curve import Curve

_CLOSE = 1e-6
"""Relative accuracy of the search for ε; every candidate is evaluated, so it affects no validity."""


def log_delta_over_windows(curve: Curve, windows: int, epsilon: float) -> float:
    """Return an upper bound on ln δ(ε) for all windows of a client together.

    Args:
        curve: the curve for one window.
        windows: number w ≥ 1 of windows in which the client contributes, or its replacement under replace-one.
        epsilon: ε ≥ 0 of all windows together, in nats.
    """
    share = epsilon / windows
    share = share if product_up(windows, share) <= epsilon else math.nextafter(share, 0.0)
    return _log_delta_at_share(curve, windows, max(share, 0.0))


def epsilon_over_windows(curve: Curve, windows: int, log_delta: float) -> float:
    """Return an upper bound on the smallest ε of all windows of a client together; math.inf if none is found.

    Args:
        curve: the curve for one window.
        windows: number w ≥ 1 of windows in which the client contributes, or its replacement under replace-one.
        log_delta: ln of the target δ.
    """
    if windows == 1:
        return curve.epsilon(log_delta).upper
    if _log_delta_at_share(curve, windows, 0.0) <= log_delta:
        return 0.0
    low, high = 0.0, max(curve.epsilon(log_delta).upper, _CLOSE)
    while not _log_delta_at_share(curve, windows, high) <= log_delta:
        low, high = high, 2.0 * high
        if not product_up(windows, high) < LARGEST_EPSILON:
            return math.inf
    while high - low > _CLOSE * high:
        middle = 0.5 * (low + high)
        if _log_delta_at_share(curve, windows, middle) <= log_delta:
            high = middle
        else:
            low = middle
    return product_up(windows, high)


def _log_delta_at_share(curve: Curve, windows: int, share: float) -> float:
    """Return an upper bound on ln δ at w times an ε of one window, at most 0."""
    log_delta = curve.log_delta(share).upper
    if windows == 1 or log_delta == -math.inf:
        return log_delta
    if share == 0.0:
        total = log_delta + math.log(windows)
    else:
        total = group_log_delta(epsilon=share, log_delta=log_delta, group_size=windows)
    size = abs(log_delta) + windows * share + math.log(windows) + 2.0 * abs(math.log(share or 1.0))
    return min(total + 8 * UNIT_ROUNDOFF * (1.0 + size), 0.0)

"""From one window of a client to all its windows, by group privacy of the exact curve.

Let δ(ε) be a curve for the contributions of a client within one window. Between two data sets that differ in w windows
of a client there are w − 1 others, such that each differs from the next in one window. With a = ε/w, each such step
gives P(S) ≤ e^a P′(S) + δ(a) for every event S. Together, δ_w(ε) ≤ δ(a) (1 + e^a + … + e^{(w−1)a}). This is Lemma F.2
of Lowy and Razaviyayn with the exact sum. It is an upper bound only. The curve must hold for each of these steps. Under
add-or-remove-one each step has a smaller population, so the curve must not depend on the population.
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

_SEARCH_TOLERANCE = 1e-6
"""Relative accuracy of the search for ε. It affects only tightness, because δ is evaluated at the result."""


def log_delta_over_windows(curve: Curve, windows: int, epsilon: float) -> float:
    """Compute an upper bound on ln δ(ε) for a client that contributes in several windows of rounds, by group privacy.

    A window is a range of rounds. A change of the client changes its contributions in w windows. The curve holds for a
    change in a single window, and group privacy extends it to w of them.

    Args:
        curve: privacy curve of the client's contributions within one window.
        windows: number w ≥ 1 of windows in which the client, or under replace-one its replacement, contributes.
        epsilon: ε ≥ 0 of all windows together, in nats.

    Returns:
        The natural logarithm, at most 0.
    """
    # The ε of one window is rounded down, so that w times it is at most ε.
    window_epsilon = epsilon / windows
    if product_up(windows, window_epsilon) > epsilon:
        window_epsilon = math.nextafter(window_epsilon, 0.0)
    return _log_delta_of_all(curve, windows, max(window_epsilon, 0.0))


def epsilon_over_windows(curve: Curve, windows: int, log_delta: float) -> float:
    """Compute an upper bound on the ε at δ of a client that contributes in several windows of rounds, by group privacy.

    A window is a range of rounds, in which the client's contributions satisfy the given curve.

    Args:
        curve: privacy curve of the client's contributions within one window.
        windows: number w ≥ 1 of windows in which the client, or under replace-one its replacement, contributes.
        log_delta: ln of the target δ of all windows together.

    Returns:
        The upper bound, in nats; math.inf if no ε up to `LARGEST_EPSILON` is large enough.
    """
    if windows == 1:
        return curve.epsilon(log_delta).upper

    def meets_target(window_epsilon: float) -> bool:
        """Return whether the bound on δ of all windows meets the target if one window has this ε."""
        return _log_delta_of_all(curve, windows, window_epsilon) <= log_delta

    if meets_target(0.0):
        return 0.0

    # The ε of one window is doubled until it meets the target.
    low, high = 0.0, max(curve.epsilon(log_delta).upper, _SEARCH_TOLERANCE)
    while not meets_target(high):
        low, high = high, 2.0 * high
        if not product_up(windows, high) < LARGEST_EPSILON:
            return math.inf

    # Bisection, in which `high` always meets the target.
    while high - low > _SEARCH_TOLERANCE * high:
        middle = 0.5 * (low + high)
        if meets_target(middle):
            high = middle
        else:
            low = middle
    return product_up(windows, high)


def _log_delta_of_all(curve: Curve, windows: int, window_epsilon: float) -> float:
    """Compute an upper bound on ln δ for contributions in w windows, at w times the ε of one window.

    A window is a range of rounds. The bound is group privacy over w steps, each of which changes one window.

    Args:
        curve: privacy curve of the contributions within one window.
        windows: number w ≥ 1 of windows.
        window_epsilon: privacy loss ε ≥ 0 of one window, in nats.

    Returns:
        The natural logarithm, at most 0 and rounded up; −∞ if δ of one window is 0.
    """
    log_delta = curve.log_delta(window_epsilon).upper
    if windows == 1 or log_delta == -math.inf:
        return log_delta
    # Rounding errors are proportional to the sizes of the terms.
    sum_of_terms = abs(log_delta) + windows * window_epsilon + math.log(windows)
    # At ε = 0, the sum 1 + e^ε + … + e^{(w−1)ε} is w.
    if window_epsilon == 0.0:
        total = log_delta + math.log(windows)
    else:
        total = group_log_delta(epsilon=window_epsilon, log_delta=log_delta, group_size=windows)
        sum_of_terms += 2.0 * abs(math.log(window_epsilon))
    return min(total + 8 * UNIT_ROUNDOFF * (1.0 + sum_of_terms), 0.0)

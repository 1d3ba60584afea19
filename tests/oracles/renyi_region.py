"""The tests that Rényi divergences allow, by a search over their rates: from the definition of the divergences alone."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import optimize

Floats = npt.NDArray[np.float64]


def binary_divergences(first: float, second: float, orders: Floats) -> Floats:
    """Rényi divergences of two binary distributions, with the probabilities `first` and `second` of an event."""
    if first == second:
        return np.zeros(orders.shape)
    logs = [math.log(first), math.log(second), math.log1p(-first), math.log1p(-second)]
    with np.errstate(divide="ignore", invalid="ignore"):
        event = orders * logs[0] + (1.0 - orders) * logs[1]
        complement = orders * logs[2] + (1.0 - orders) * logs[3]
        values = np.logaddexp(event, complement) / (orders - 1.0)
    leibler = first * (logs[0] - logs[1]) + (1.0 - first) * (logs[2] - logs[3])
    return np.asarray(np.where(orders == 1.0, leibler, values))


def is_allowed(
    true_positive: float, false_positive: float, orders: Floats, limits: Floats, *, both: bool = True
) -> bool:
    """Whether a test's rates keep the limits on their divergences, in both directions or in the first one only."""
    pairs = [(true_positive, false_positive)] + ([(false_positive, true_positive)] if both else [])
    return all(bool((binary_divergences(*pair, orders) <= limits).all()) for pair in pairs)


def largest_rate(false_positive: float, orders: Floats, limits: Floats, *, both: bool = True) -> float:
    """The largest true positive rate that is allowed at a false positive rate, by bisection."""
    low, high = false_positive, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        is_kept = is_allowed(middle, false_positive, orders, limits, both=both)
        low, high = (middle, high) if is_kept else (low, middle)
    return low


def largest_delta(epsilon: float, orders: Floats, limits: Floats, *, both: bool = True) -> float:
    """The largest p − e^ε q over the allowed rates. The rate p is concave in q, so that one maximum is found."""

    def gain(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return largest_rate(rate, orders, limits, both=both) - math.exp(epsilon) * rate

    best = optimize.minimize_scalar(
        lambda log_rate: -gain(log_rate), bounds=(-80.0, -1e-9), method="bounded", options={"xatol": 1e-10}
    )
    return -float(best.fun)

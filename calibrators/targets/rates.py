"""Search for the least parameter that keeps a true positive rate, by δ at one ε of each direction.

A true positive rate is at most e^ε α + δ(ε) at the false positive rate α, by any ε of each direction: the threshold of
a test. A full trade-off curve takes some forty evaluations of δ. The search keeps the thresholds from one parameter to
the next instead (`aimed_tests`). It finds the parameter at fixed thresholds, moves them to the best ones there, and
repeats both until the parameter stays. Every parameter that is returned is certified at its thresholds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.aimed_tests import AimedTests, PointLimit
from epsilond.accountants.estimates.noise import central_log_mu
from epsilond.calibrators.parameter_search import least_parameter

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.target import RiskTarget
    from epsilond.calibrators.parameter_search import Limits

_MOST_AIMS = 12
"""Largest number of moves of the thresholds. Each move squares the distance from the best parameter."""
_SETTLED = 1e-6
"""Excess of the parameter, in log μ, below which the thresholds are not moved any more."""
DEEP, SHALLOW = 1e5, 1e-12
"""Limits to which log δ is clipped: from `DEEP` times the permitted log δ to −`SHALLOW`."""


def least_parameter_for_rates(
    family: Callable[[float], Guarantee],
    risk: RiskTarget,
    guess: float,
    limits: Limits,
    *,
    fall: float,
    note: Callable[[float, Guarantee], None] = lambda *_: None,
) -> float | None:
    """Find nearly the least parameter, such as log noise, that keeps an attacker's true positive rate below a bound.

    A true positive rate is bounded through δ at one ε in each direction. Any such ε, the threshold of a test, gives a
    valid bound. The search alternates between two steps. It finds the parameter at fixed thresholds, and then moves the
    thresholds to the best ones at this parameter, at most `_MOST_AIMS` times.

    Args:
        family: function from a parameter to its guarantee; a larger parameter is safer.
        risk: a risk of the kind `true_positive_rate`.
        guess: initial estimate of the parameter.
        limits: the smallest and the largest permitted parameter.
        fall: estimated decrease, per unit of the parameter, of the amount by which the target is missed.
        note: called with each parameter that misses the target, and with its guarantee.

    Returns:
        The parameter, which keeps the rate at the thresholds that it was searched for. None if even the largest
        permitted one is not known to keep the rate.
    """
    tests = AimedTests(risk)
    best: float | None = None
    for _ in range(_MOST_AIMS):
        shortfall = _shortfall_at(tests, family, risk, note)
        root = least_parameter(shortfall, guess, limits, fall)
        if root is None:
            if best is not None or not tests.meets(family(limits.most).curve):
                return best
            root = limits.most
        if root <= limits.least:
            return root
        best = root
        guess = root

        # Move the thresholds to better ones for this parameter. If all conditions are then met with a margin, a
        # smaller parameter may meet them.
        curve = family(root).curve
        tests.aim(curve)
        if shortfall_of_limits(tests.limits(curve), risk) < -_SETTLED:
            continue
        # A curve may have several good thresholds, so search the whole range before the search ends.
        tests.aim(curve, anew=True)
        if shortfall_of_limits(tests.limits(curve), risk) >= -_SETTLED:
            return best
    return best


def _shortfall_at(
    tests: AimedTests,
    family: Callable[[float], Guarantee],
    risk: RiskTarget,
    note: Callable[[float, Guarantee], None],
) -> Callable[[float], float]:
    """Return a function that computes by how much a parameter misses the bound on the true positive rate.

    A test of an attacker has a threshold ε, at which δ bounds its true positive rate.

    Args:
        tests: the thresholds of the attacker's tests, which must not move while the function is used.
        family: function from a parameter to its guarantee.
        risk: the risk.
        note: called with each parameter that misses the target, and with its guarantee.

    Returns:
        The function, of which the values are cached. It is at most 0 where the rate is kept.
    """

    @functools.cache
    def shortfall(parameter: float) -> float:
        """Return by how much a parameter misses the bound on the rate at fixed thresholds; positive if it misses.

        A parameter that misses is reported through `note`.

        Args:
            parameter: value of the searched parameter, such as log noise.

        Returns:
            The largest shortfall of the tests, without unit.
        """
        guarantee = family(parameter)
        value = shortfall_of_limits(tests.limits(guarantee.curve), risk)
        if value > 0.0:
            note(parameter, guarantee)
        return value

    return shortfall


def shortfall_of_limits(limits: list[PointLimit], risk: RiskTarget) -> float:
    """Return by how much the worst of several conditions on δ is missed; at most 0 if all are met.

    A condition limits δ at one ε. Its shortfall is log(μ/μ*). The Gaussian mechanism N(μ, 1) against N(0, 1) has the
    certified δ at this ε, and the one with μ* in place of μ has the largest permitted δ.

    Args:
        limits: the conditions, at least one.
        risk: the risk that the conditions limit together. Its Gaussian parameter is the initial estimate of μ*.

    Returns:
        The largest shortfall of all conditions, without unit; positive if one of them is missed.
    """
    start = math.log(risk.gaussian_mu)
    return max(_shortfall_of_limit(limit, start) for limit in limits)


def _shortfall_of_limit(limit: PointLimit, start: float) -> float:
    """Return by how much one condition on δ is missed, as log(μ/μ*) for parameters of Gaussian mechanisms.

    The Gaussian mechanism of parameter μ has the certified δ, and that of parameter μ* the largest permitted one. Both
    parameters are approximate, so the sign is set by comparing the two δ.

    Args:
        limit: the condition: the largest permitted δ at an ε, and the certified δ.
        start: estimate of log μ*, at which its search starts.

    Returns:
        The shortfall, without unit. It is at most 0 if the condition is met, and at least `SHALLOW` otherwise.
    """
    allowed_log_delta = limit.largest_log_delta
    # Extreme values of δ are clipped, because δ = 0 has no positive μ, and δ = 1 has no finite one.
    least_log_delta = DEEP * min(allowed_log_delta, -1.0)
    log_delta = min(max(limit.log_delta, least_log_delta), -SHALLOW)
    allowed_log_mu = central_log_mu(limit.epsilon, min(allowed_log_delta, -SHALLOW), start)
    log_mu = central_log_mu(limit.epsilon, log_delta, allowed_log_mu)
    log_ratio = log_mu - allowed_log_mu
    if limit.is_met:
        return min(log_ratio, 0.0)
    return max(log_ratio, SHALLOW)

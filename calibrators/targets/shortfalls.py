"""By how much a parameter misses a target, and the search for the least parameter that meets it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.targets import central_mu_of, least_log_mu, meets
from epsilond.accountants.estimates.noise import central_log_mu, central_mu
from epsilond.calibrators.parameter_search import LIKELY_FALL, least_parameter
from epsilond.calibrators.targets.rates import DEEP, SHALLOW, least_parameter_for_rates

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.target import RiskTarget, Target
    from epsilond.calibrators.parameter_search import Limits


def least_for_target(
    family: Callable[[float], Guarantee],
    target: Target,
    guess: float,
    limits: Limits,
    *,
    fall: float = LIKELY_FALL,
    note: Callable[[float, Guarantee], None] = lambda *_: None,
) -> float | None:
    """Find nearly the least parameter, such as log noise, that meets a privacy target.

    A true positive rate has a search of its own, because it is a condition on δ at several ε. Every other target is one
    inequality. The shortfall says by how much a parameter misses it, and the root of the shortfall is searched.

    Args:
        family: function from a parameter to its guarantee; a larger parameter is safer.
        target: the target (ε, δ) or risk.
        guess: initial estimate of the parameter.
        limits: the smallest and the largest permitted parameter.
        fall: assumed negative derivative of the shortfall at the guess.
        note: called with each parameter that misses the target, and with its guarantee.

    Returns:
        The parameter; None if the largest permitted one misses the target.
    """
    risk = target.risk
    if risk is not None and risk.kind == "true_positive_rate":
        return least_parameter_for_rates(family, risk, guess, limits, fall=fall, note=note)
    return least_parameter(shortfall_of(family, target, note), guess, limits, fall)


def shortfall_of(
    family: Callable[[float], Guarantee],
    target: Target,
    note: Callable[[float, Guarantee], None] = lambda *_: None,
) -> Callable[[float], float]:
    """Return a function that computes by how much a parameter misses the target; at most 0 if the target is met.

    The shortfall is log(μ/μ*). At the target ε, the Gaussian mechanism of parameter μ has the δ of the guarantee, and
    that of parameter μ* the target's δ. This scale is nearly linear in the logarithm of a noise, which helps
    interpolation.

    Args:
        family: function from a parameter to the guarantee.
        target: the target (ε, δ) or risk.
        note: called with each parameter that misses the target, and with its guarantee.

    Returns:
        The function, of which the values are cached. Its sign is exact, because it is set by comparing the two δ. Its
        size is approximate.
    """
    target_log_mu = math.log(central_mu(target))
    if target.risk is not None:
        return _shortfall_of_risk(family, target, target.risk, note)
    least_log_delta = DEEP * target.log_delta

    @functools.cache
    def shortfall(parameter: float) -> float:
        """Return log(μ/μ*) at a value of the parameter, such as log noise; positive if the target is missed."""
        guarantee = family(parameter)
        log_delta = guarantee.curve.upper_log_delta(target.epsilon)
        # Extreme values of δ are clipped, because δ = 0 has no positive μ, and δ = 1 has no finite one.
        clipped_log_delta = min(max(log_delta, least_log_delta), -SHALLOW)
        log_mu = central_log_mu(target.epsilon, clipped_log_delta, target_log_mu)
        log_ratio = log_mu - target_log_mu
        # The ratio is approximate, so this comparison decides its sign.
        if log_delta > target.log_delta:
            note(parameter, guarantee)
            return max(log_ratio, SHALLOW)
        return min(log_ratio, 0.0)

    return shortfall


def _shortfall_of_risk(
    family: Callable[[float], Guarantee], target: Target, risk: RiskTarget, note: Callable[[float, Guarantee], None]
) -> Callable[[float], float]:
    """Return a function that computes by how much a value of a parameter, such as the noise, exceeds a target risk.

    The shortfall is log(μ/μ*). The Gaussian mechanism N(μ, 1) against N(0, 1) has the risk of the guarantee, and the
    one with μ* in place of μ has the target's risk. It is at least `SHALLOW` > 0 if the target is missed, and at most 0
    if it is met.

    Args:
        family: function from a value of the parameter to the guarantee.
        target: the target.
        risk: its risk, such as the advantage of an attacker.
        note: called with each parameter that misses the target, and with its guarantee.

    Returns:
        The function, of which the values are cached.
    """
    target_log_mu = least_log_mu(risk.gaussian_mu)

    @functools.cache
    def shortfall(parameter: float) -> float:
        """Return log(μ/μ*) at a value of the parameter, such as log noise; positive if the target is missed."""
        guarantee = family(parameter)
        log_mu = least_log_mu(central_mu_of(guarantee.curve, risk))
        log_ratio = log_mu - target_log_mu
        # The ratio is approximate, so this comparison decides its sign.
        if not meets(guarantee.curve, target):
            note(parameter, guarantee)
            return max(log_ratio, SHALLOW)
        return min(log_ratio, 0.0)

    return shortfall

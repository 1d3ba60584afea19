"""Targets: whether a privacy curve meets one, certified, and by how much it misses.

A target is (ε, δ), or a risk: the largest advantage, the largest true positive rate at a false positive rate, μ of
Gaussian differential privacy, or ρ of zero-concentrated differential privacy. Each risk has one figure of a curve, and
the target is met if the upper bound on the figure is at most the requested number.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.aimed_tests import AimedTests
from epsilond.accountants.attackers.renyi import concentration
from epsilond.accountants.attackers.smallest_gaussian import smallest_gaussian, upper_gaussian_mu
from epsilond.accountants.attackers.trade_off_curve import lower_true_positive_rate, upper_true_positive_rate
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.profiles.declared.concentration import ROUNDED, largest_loss
from epsilond.accountants.target import RiskTarget, Target

if TYPE_CHECKING:
    from collections.abc import Callable


def meets(curve: Curve, target: Target) -> bool:
    """Return whether a privacy curve certainly meets a target, by an upper bound on the figure that the target limits.

    Args:
        curve: the privacy curve of a mechanism.
        target: a limit (ε, δ), or a limit on a risk, such as an attacker's advantage.
    """
    risk = target.risk
    if risk is None:
        return curve.upper_log_delta(target.epsilon) <= target.log_delta
    if risk.kind == "advantage":
        # The advantage is δ at ε = 0. The logarithm of the limit is rounded, so it is lowered.
        largest_log_advantage = math.nextafter(math.log(risk.bound), -math.inf)
        return curve.upper_log_delta(0.0) <= largest_log_advantage
    return upper_figure(curve, risk) <= risk.bound


def provably_misses(curve: Curve, target: Target) -> bool:
    """Return whether the dominating pair of a curve certainly misses a target, by a lower bound on the limited figure.

    The mechanism itself may still meet the target, if the pair is larger than all pairs that the mechanism attains.

    Args:
        curve: the privacy curve of a mechanism.
        target: a limit (ε, δ), or a limit on a risk, such as an attacker's advantage.
    """
    risk = target.risk
    if risk is None:
        return curve.bound_log_delta(target.epsilon).lower > target.log_delta
    if risk.kind == "advantage":
        # The advantage is δ at ε = 0. The logarithm of the limit is rounded, so it is raised.
        least_log_advantage = math.nextafter(math.log(risk.bound), 0.0)
        return curve.bound_log_delta(0.0).lower > least_log_advantage
    dominating = Curve(curve.upper, (curve.upper,))
    if risk.kind == "true_positive_rate":
        return lower_true_positive_rate(dominating, risk.false_positive_rate) > risk.bound

    # μ and ρ of a pair that is not Gaussian may be attained only in the limit of large ε.
    is_gaussian = curve.upper.gaussian_dp_mu is not None
    if not is_gaussian and (risk.kind == "rho" or math.isinf(largest_loss(curve.upper))):
        return False
    least_mu = smallest_gaussian(dominating).lower
    if risk.kind == "gaussian_dp_mu":
        return least_mu > risk.bound
    least_rho = 0.5 * least_mu**2 / ROUNDED  # of a Gaussian pair
    return least_rho > risk.bound


def upper_figure(curve: Curve, risk: RiskTarget) -> float:
    """Return an upper bound on the measure of privacy loss that a risk limits.

    The measure is the advantage, a true positive rate, μ of Gaussian differential privacy, or ρ of zero-concentrated
    privacy.

    Args:
        curve: the privacy curve of a mechanism.
        risk: the risk, which names the measure. Its limit is not used.

    Returns:
        The bound; math.inf if none is known.
    """
    if risk.kind == "advantage":
        # The advantage is δ at ε = 0.
        return math.nextafter(math.exp(curve.upper_log_delta(0.0)), math.inf)
    if risk.kind == "true_positive_rate":
        return upper_true_positive_rate(curve, risk.false_positive_rate)
    if risk.kind == "gaussian_dp_mu":
        return upper_gaussian_mu(curve)
    return concentration(curve.upper)


def central_mu_of(curve: Curve, risk: RiskTarget) -> float:
    """Estimate the μ at which N(μ, 1) against N(0, 1) has the same value of a risk's measure as a curve.

    Args:
        curve: the privacy curve of a mechanism.
        risk: the risk, which names the measure, such as an attacker's advantage.

    Returns:
        μ; math.inf if the measure of the curve has no finite upper bound.
    """
    figure = upper_figure(curve, risk)
    return replace(risk, bound=figure).gaussian_mu if math.isfinite(figure) else math.inf


def meeting(target: Target) -> Callable[[Curve], bool]:
    """Return a function that tells whether a curve certainly meets a target, for a search over many similar curves.

    For a true positive rate it keeps the thresholds of the tests from one curve to the next, which saves evaluations.

    Args:
        target: a limit (ε, δ), or a limit on a risk.
    """
    risk = target.risk
    if risk is not None and risk.kind == "true_positive_rate":
        return AimedTests(risk).meets
    return lambda curve: meets(curve, target)


def least_log_mu(mu: float) -> float:
    """Return log μ of an estimate μ ≥ 0, limited to [−700, 700] so that it and its exponential are finite."""
    return min(max(math.log(mu), -700.0), 700.0) if mu > 0.0 else -700.0


def missing_theorem(risk: RiskTarget) -> str:
    """Explain in words, without a full stop, why no finite bound on μ or ρ is known.

    Args:
        risk: the risk: μ of Gaussian differential privacy, or ρ of zero-concentrated privacy.
    """
    if risk.kind == "gaussian_dp_mu":
        return (
            "no μ of Gaussian differential privacy is proved of this run at any noise: a part of it is not a Gaussian "
            "noise and has no bounded loss, and no theorem bounds its curve by a Gaussian one at every ε"
        )
    return (
        "no ρ of zero-concentrated differential privacy is proved of this run at any noise: a part of it is neither "
        "Gaussian noise nor a pure or ρ-zCDP mechanism, and no theorem bounds its Rényi divergences at every order"
    )

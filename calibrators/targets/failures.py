"""Figures for the error that no value of an unknown meets a target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilond.accountants.attackers.targets import missing_theorem, upper_figure
from epsilond.accountants.errors import ConditionViolated

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.target import RiskTarget, Target

LOG_10 = math.log(10.0)


def require_figure(guarantee: Guarantee, target: Target) -> None:
    """Check that a theorem bounds the risk that is the target, for a run that misses it at the safest parameter.

    Without a finite bound, the reason of the failure is a missing theorem, and not too little noise.

    Args:
        guarantee: the guarantee at the safest parameter, which misses the target.
        target: the target (ε, δ) or risk; (ε, δ) always passes.

    Raises:
        ConditionViolated: the target is a risk, and the guarantee has no finite bound on it.
    """
    if target.risk is None:
        return
    if not math.isfinite(upper_figure(guarantee.curve, target.risk)):
        raise ConditionViolated(missing_theorem(target.risk))


def nearest_of(guarantee: Guarantee, target: Target) -> dict[str, float]:
    """Return the nearest target that a guarantee meets, by the name of the field that changes.

    An error that rejects a target offers this one in its place. For (ε, δ) the nearest target has a larger ε at the
    same δ. If no finite ε is certified there, it has a larger δ at the same ε.

    Args:
        guarantee: a guarantee that misses the target.
        target: the target (ε, δ) or risk.

    Returns:
        For (ε, δ), `epsilon`, the bound on ε at the target's δ. If it is infinite, `log10_delta`, the bound on log₁₀ δ
        at the target's ε, rounded up; empty if this δ is 1. For a risk, the bound on the risk by its name; empty if it
        is a probability of 1.
    """
    if target.risk is not None:
        return _nearest_risk(guarantee, target.risk)

    # Keep the target's δ, if some finite ε is certified for it.
    epsilon = guarantee.curve.bound_epsilon(target.log_delta).upper
    if math.isfinite(epsilon):
        return {"epsilon": epsilon}

    # Otherwise keep the target's ε.
    log_delta = guarantee.curve.upper_log_delta(target.epsilon)
    if log_delta >= 0:
        return {}
    # The next larger double covers the rounding of the quotient.
    return {"log10_delta": math.nextafter(log_delta / LOG_10, 0.0)}


def _nearest_risk(guarantee: Guarantee, risk: RiskTarget) -> dict[str, float]:
    """Return the least value of an attacker's risk that a guarantee meets, by the name of the risk.

    Args:
        guarantee: a guarantee that misses the requested value.
        risk: the requested risk, such as the advantage of an attacker.

    Returns:
        The upper bound on the risk; empty if it is a probability of 1, which excludes nothing.
    """
    least_risk = upper_figure(guarantee.curve, risk)
    is_probability = risk.kind not in ("gaussian_dp_mu", "rho")
    if is_probability and least_risk >= 1.0:
        return {}
    return {risk.kind: least_risk}

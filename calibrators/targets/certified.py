"""The ε of an answer to a target of risk, and the (ε, δ) that its other parts compare with.

A risk such as `advantage` is a figure of the whole privacy curve. The noise is searched for it. The answer gives ε at
the requested δ from the certified curve. Everything that a paper states for (ε, δ) is compared at this pair.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

from epsilond.accountants.attempts import ConditionResult
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON
from epsilond.accountants.errors import Infeasible
from epsilond.accountants.quantities import TargetedProblem
from epsilond.accountants.quantities.risks import RISK_FIELDS
from epsilond.accountants.target import ASSUMED_DELTA
from epsilond.accountants.verdict import Verdict
from epsilond.calibrators.answer import Caution

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.json_types import Fields
    from epsilond.accountants.quantities import SettingFields
    from epsilond.accountants.target import Target

Targeted = TypeVar("Targeted", bound=TargetedProblem)


def certified_target(guarantee: Guarantee, target: Target) -> Target:
    """Return the target of a calibration with an ε, also if the request bounds an attacker's risk in place of ε.

    For a risk, ε is the upper bound that the guarantee has at the target's δ. Statements about (ε, δ), such as those of
    papers, are compared with this pair.

    Args:
        guarantee: a guarantee that meets the target.
        target: (ε, δ), which is returned unchanged, or a risk with the δ at which ε is stated.

    Returns:
        The target with ε and δ.

    Raises:
        Infeasible: the target is a risk, and the guarantee has no finite ε at its δ.
    """
    if target.risk is None:
        return target
    epsilon = guarantee.curve.bound_epsilon(target.log_delta).upper
    if math.isinf(epsilon):
        raise _no_finite_epsilon_error(guarantee, target)
    return replace(target, epsilon=epsilon)


def _no_finite_epsilon_error(guarantee: Guarantee, target: Target) -> Infeasible:
    """Return the error for a run that meets the target risk, but has no finite ε at the requested δ.

    This happens if δ remains above the requested one as ε grows, for example because of infinite losses.

    Args:
        guarantee: the guarantee.
        target: the risk, with the δ at which ε is stated.

    Returns:
        The error. It states the least δ of the guarantee at a finite ε, unless that δ is 1.
    """
    least_log10_delta = guarantee.curve.upper_log_delta(LARGEST_EPSILON) / math.log(10.0)
    statement = "δ is attained at a finite ε"
    condition = ConditionResult("delta-attainable", statement, Verdict.NO, target.log10_delta, least_log10_delta)
    nearest = {}
    if least_log10_delta < 0.0:
        # The next larger double covers the rounding of the quotient.
        nearest = {"log10_delta": math.nextafter(least_log10_delta, 0.0)}
    return Infeasible("the risk is met, but no ε has the δ at which ε is given", condition, nearest)


def at_certified_epsilon(problem: Targeted, target: Target) -> Targeted:
    """Return the request with a certified (ε, δ) in place of an attacker's risk, such as a true positive rate.

    Args:
        problem: the request; it is not changed.
        target: the target with its certified ε, by `certified_target`.

    Returns:
        A copy with ε and δ, and without the risk. If the target is not a risk, the request itself.
    """
    if target.risk is None:
        return problem
    log10_delta = target.log10_delta if target.given_delta is None else None
    pair: Fields = {"epsilon": target.epsilon, "delta": target.given_delta, "log10_delta": log10_delta}
    return replace(problem, **pair, **without_risk(problem))


def without_risk(problem: TargetedProblem) -> Fields:
    """Return the changes of fields that remove the risk from a request: None for each field that states a risk."""
    names = {field.name for field in fields(problem)}
    return {name: None for name in RISK_FIELDS if name in names}


def target_cautions(problem: SettingFields, target: Target, *, prints: bool) -> Iterator[Caution]:
    """Warn if ε is stated at a default δ, and if ε is 0, for which papers print no noise.

    Args:
        problem: the request, in which δ may be absent.
        target: the certified target.
        prints: True if the algorithm has printed theorems.

    Yields:
        At most two warnings.
    """
    has_delta = any(getattr(problem, name, None) is not None for name in ("delta", "log10_delta"))
    if target.risk is not None and not has_delta:
        yield Caution(code="assumed-delta", message=f"no δ was requested, so ε is read off at δ = {ASSUMED_DELTA:g}")
    if prints and target.epsilon == 0.0:
        yield Caution(
            code="nothing-printed-at-zero",
            message="ε is 0, and the papers state their noise for ε above 0, so nothing printed is compared",
        )

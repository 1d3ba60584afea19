"""The conditions that the caller declares only for the bound on the risk, and not for the privacy guarantee."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from epsilond.accountants.guarantee import Guarantee
    from epsilond.accountants.theorem import Condition
    from epsilond.calibrators.answer import Risk


def ids_of_risk_premises(guarantee: Guarantee, conditions: Iterable[Condition]) -> tuple[str, ...]:
    """Return the ids of the conditions that the caller must declare for the bound on the risk, but not for privacy.

    Args:
        guarantee: the certified guarantee, with the conditions that it assumes.
        conditions: the conditions of the theorem that bounds the risk. Those that the service checks are left out.

    Returns:
        The ids in the order of the conditions.
    """
    guarantee_ids = {condition.id for condition in guarantee.declared}
    declared_ids = [condition.id for condition in conditions if not condition.checked]
    return tuple(name for name in declared_ids if name not in guarantee_ids)


def with_risk_premises(risk: Risk | None, premises: tuple[str, ...]) -> Risk | None:
    """Add the ids of the conditions that the caller must declare to the bounds on a risk.

    Args:
        risk: the bounds; None if no theorem bounds the risk.
        premises: ids of the conditions.

    Returns:
        A copy with the ids; `risk` itself if there are none.
    """
    if risk is None or not premises:
        return risk
    return replace(risk, declared_conditions=premises)

"""The toys with adapters, so that they take part in plans. Workers import this module."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from epsilond.calibrators.planning.adapter import PlanAdapter
from tests.app import toys

ADAPTER = PlanAdapter(
    definition="local", observer="server", units=("record",), objective=None, copied=("clients", "participants")
)


def seconds(plan: Any) -> dict[str, Any]:
    """What the busy toy is told: as many seconds as there are rounds; the target is none of its business."""
    return {"seconds": plan.rounds, "epsilon": None, "delta": None}


BUSY_ADAPTER = PlanAdapter(
    definition="local",
    observer="server",
    units=("record",),
    objective=None,
    copied=(),
    read=("rounds",),
    computed=seconds,
)
CALIBRATORS = (
    replace(toys.TOY, plans=(ADAPTER,), home=__name__),
    replace(toys.SLOW_TOY, plans=(ADAPTER,), home=__name__),
    replace(toys.BUSY, plans=(BUSY_ADAPTER,), home=__name__),
)

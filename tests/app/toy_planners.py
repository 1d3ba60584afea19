"""The toys with adapters, so that they take part in plans. Workers import this module."""

from __future__ import annotations

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


class PlannedToy(toys.Toy):
    """The toy in a plan."""

    plans = (ADAPTER,)
    home = __name__


class PlannedSlowToy(toys.SlowToy):
    """The slow toy in a plan."""

    plans = (ADAPTER,)
    home = __name__


class PlannedBusy(toys.Busy):
    """The busy toy in a plan."""

    plans = (BUSY_ADAPTER,)
    home = __name__


CALIBRATORS = (PlannedToy(), PlannedSlowToy(), PlannedBusy())

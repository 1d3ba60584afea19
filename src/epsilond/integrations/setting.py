"""The setting of a guarantee as keyword arguments."""

from __future__ import annotations

from typing import TypedDict

from epsilond.accountants.quantities import Observer, Relation, Unit


class StatedSetting(TypedDict):
    """Neighbouring relation, protected unit and adversary of a guarantee."""

    relation: Relation
    unit: Unit
    observer: Observer

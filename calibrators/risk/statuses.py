"""The status of the theorem of each upper bound: proved, unproved or refuted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from epsilond.accountants.theorem import Status
from epsilond.calibrators.risk.answer import UpperBound


@cache
def _status_by_id() -> dict[str, Status]:
    """Return the status of every registered theorem by its id; computed on first use, as it imports all theorems."""
    from epsilond.accountants.theorems import THEOREMS  # noqa: PLC0415  all theorems are imported only if needed

    return {theorem.id: theorem.status for theorem in THEOREMS}


def with_statuses(bounds: Iterable[UpperBound]) -> tuple[UpperBound, ...]:
    """Return the upper bounds with the status of their theorems: proved, unproved or refuted."""
    statuses = _status_by_id()
    return tuple(replace(bound, status=statuses[bound.theorem]) for bound in bounds)

"""The lists of algorithms and theorems in JSON form: what the service lists, without its links and schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from epsilond.accountants.theorem import Condition, Theorem
from epsilond.calibrators.answer import as_json
from epsilond.calibrators.calibration import Calibrator


def algorithms(listed: Iterable[Calibrator]) -> dict[str, Any]:
    """Every calibrator."""
    return {"algorithms": [algorithm(each) for each in listed]}


def algorithm(one: Calibrator) -> dict[str, Any]:
    """One calibrator; `example` is a request that it answers."""
    return {
        "name": one.name,
        "title": one.title,
        "summary": one.summary,
        "theorems": list(one.theorems),
        "example": as_json(one.example),
    }


def theorems(listed: Iterable[Theorem]) -> dict[str, Any]:
    """Every theorem."""
    return {"theorems": [_summary(each) for each in listed]}


def theorem(one: Theorem) -> dict[str, Any]:
    """One theorem with its conditions and errata, and how its formula is asked where it has one."""
    detail = _summary(one) | {
        "conditions": [{"id": it.id, "statement": it.statement, "kind": _kind(it)} for it in one.conditions],
        "errata": as_json(one.errata),
    }
    if one.formula is not None and one.inputs is not None:
        detail |= {"readings": list(one.readings), "examples": as_json(one.examples)}
    return detail


def _summary(one: Theorem) -> dict[str, Any]:
    return {
        "id": one.id,
        "title": one.title,
        "statement": one.statement,
        "source": as_json(one.source),
        "status": one.status.value,
        "constants": one.constants,
    }


def _kind(condition: Condition) -> str:
    return "checked" if condition.checked else "undecidable" if condition.undecidable else "declared"

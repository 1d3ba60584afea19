"""Bodies of requests about ledgers, made of the library's words."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from decimal import Decimal

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators.answer import as_json
from epsilond.ledgers.client.answers import ReadableAnswer
from epsilond.ledgers.client.place import Answer
from epsilond.ledgers.mathematics.state import SlotKind

AmountTold = Decimal | float | str


def job(
    name: str | None,
    spec: object | None,
    slot: SlotKind | None,
    count: int | None,
    eta: AmountTold | None,
    delta: AmountTold | None,
    expires_in: float | None = None,
) -> JsonRecord:
    """Return a job as the body of a request. The name is the plan's item, unless a slot is charged."""
    members = {
        "spec": None if spec is None else as_json(spec),
        "item": None if slot is not None else name,
        "slot": slot,
        "count": count,
        "eta": amount_text(eta),
        "delta": amount_text(delta),
        "expires_in": expires_in,
    }
    return without_absent(members)


def amendment(
    add: Mapping[str, object], lower: Mapping[str, int], declared: str | None, approval: bool | None
) -> JsonRecord:
    """Return an amendment as the body of a request.

    Args:
        add: mechanisms by the names of new items.
        lower: numbers of runs by the names of items that fall to them.
        declared: the declaration, if one is made.
        approval: whether a second person approves from then on; None leaves that as it is.
    """
    body = {
        "add": [{"name": name, "spec": as_json(spec)} for name, spec in add.items()],
        "lower": [{"name": name, "planned": planned} for name, planned in lower.items()],
        "declared": declared,
        "approval": approval,
    }
    return without_absent(body)


def slot_bodies(told: JsonObject | Iterable[str]) -> list[JsonRecord]:
    """Return slots as a request has them: each kind with its capacity."""
    named = told if isinstance(told, Mapping) else dict.fromkeys([told] if isinstance(told, str) else told, "largest")
    return [{"kind": kind, "capacity": _capacity(parts)} for kind, parts in named.items()]


def _capacity(parts: object) -> object:
    if not isinstance(parts, Mapping):
        return parts
    return {
        name: amount_text(part) if isinstance(part, Decimal | float | int) else part for name, part in parts.items()
    }


def amount_text(told: AmountTold | None) -> str | None:
    """Return an amount as the text that a request has."""
    if isinstance(told, Decimal):
        return f"{told:f}"
    return None if told is None else told if isinstance(told, str) else repr(told)


def readable(answer: Answer | None) -> ReadableAnswer | None:
    """Return an answer whose members can be read by name, if there is one."""
    return None if answer is None else ReadableAnswer(answer)


def without_absent(told: Mapping[str, object]) -> JsonRecord:
    """Return the members that are not None."""
    return {name: value for name, value in told.items() if value is not None}


def key_or_new(told: str | None) -> str:
    """Return an idempotency key, a new one if none is passed."""
    return secrets.token_urlsafe(24) if told is None else told

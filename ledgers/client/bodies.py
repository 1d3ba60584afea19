"""Bodies of requests about ledgers, from the arguments of the library."""

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
    """Return a job as the body of a request.

    Args:
        name: name of the plan's item. It is only a label if a slot is charged.
        spec: mechanism.
        slot: kind of the slot that is charged.
        count: number of runs.
        eta: η that the charge may take.
        delta: δ that each run may take.
        expires_in: seconds until the reservation expires.
    """
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
        lower: new numbers of runs by the names of items.
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


def slot_bodies(slots: JsonObject | Iterable[str]) -> list[JsonRecord]:
    """Return slots as a request has them: each kind with its capacity."""
    capacities = (
        slots if isinstance(slots, Mapping) else dict.fromkeys([slots] if isinstance(slots, str) else slots, "largest")
    )
    return [{"kind": kind, "capacity": _capacity(parts)} for kind, parts in capacities.items()]


def _capacity(parts: object) -> object:
    """Return a capacity with amounts as texts."""
    if not isinstance(parts, Mapping):
        return parts
    return {
        name: amount_text(part) if isinstance(part, Decimal | float | int) else part for name, part in parts.items()
    }


def amount_text(amount: AmountTold | None) -> str | None:
    """Return an amount as the text that a request has."""
    if amount is None or isinstance(amount, str):
        return amount
    return f"{amount:f}" if isinstance(amount, Decimal) else repr(amount)


def readable(answer: Answer | None) -> ReadableAnswer | None:
    """Return an answer whose members can be read by name, or None for None."""
    return None if answer is None else ReadableAnswer(answer)


def without_absent(members: Mapping[str, object]) -> JsonRecord:
    """Return the members that are not None."""
    return {name: value for name, value in members.items() if value is not None}


def key_or_new(key: str | None) -> str:
    """Return an idempotency key, a new one if None is passed."""
    return secrets.token_urlsafe(24) if key is None else key

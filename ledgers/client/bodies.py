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
"""An amount of privacy budget as a caller may pass it. A text keeps all digits."""


def job(
    name: str | None,
    spec: object | None,
    slot: SlotKind | None,
    count: int | None,
    eta: AmountTold | None,
    delta: AmountTold | None,
    expires_in: float | None = None,
) -> JsonRecord:
    """Build the body of a request to price or to reserve runs of a mechanism in a ledger.

    An argument that is None is left out of the body, so that the service uses its default.

    Args:
        name: name of an item of the ledger's plan. It is not sent if `slot` is given, because it is only a label then.
        spec: description of the mechanism, or None for the mechanism of the plan's item.
        slot: kind of the slot (a budget for runs outside the plan) that pays; None if the plan pays.
        count: number of runs.
        eta: η, the δ that the runs may take from a Gaussian slot.
        delta: δ that each run may take from a slot in ρ or in ε.
        expires_in: time until the reservation expires, in seconds.

    Returns:
        The body, a JSON object.
    """
    members = {
        "spec": None if spec is None else as_json(spec),
        "item": name if slot is None else None,
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
    """Build the body of a request to change the plan of a ledger, a list of mechanisms with numbers of runs.

    An argument that is None is left out of the body.

    Args:
        add: description of the mechanism of each new item of the plan, by the name of the item.
        lower: new, smaller number of planned runs of present items, by the name of the item.
        declared: statement that the change does not depend on outputs. The service needs it once runs were committed.
        approval: whether a second person must approve changes of the ledger from now on; None keeps the present rule.

    Returns:
        The body, a JSON object.
    """
    added = [{"name": name, "spec": as_json(spec)} for name, spec in add.items()]
    lowered = [{"name": name, "planned": planned} for name, planned in lower.items()]
    body = {
        "add": added,
        "lower": lowered,
        "declared": declared,
        "approval": approval,
    }
    return without_absent(body)


def slot_bodies(slots: JsonObject | Iterable[str]) -> list[JsonRecord]:
    """Build the part of a request to open a ledger that states its slots, its budgets for runs that are not planned.

    A slot counts in one notion of privacy, such as Gaussian or zero-concentrated differential privacy.

    Args:
        slots: capacities by kind of slot. Or only kinds of slots, or one kind: these get the largest capacity that the
            target allows.

    Returns:
        One JSON object for each slot, with its `kind` and its `capacity`.
    """
    capacities: Mapping[str, object]
    if isinstance(slots, Mapping):
        capacities = slots
    elif isinstance(slots, str):
        capacities = {slots: "largest"}
    else:
        capacities = dict.fromkeys(slots, "largest")
    return [{"kind": kind, "capacity": _capacity_as_texts(parts)} for kind, parts in capacities.items()]


def _capacity_as_texts(parts: object) -> object:
    """Convert the amounts of a slot (a budget) to decimal texts, because JSON numbers may be rounded.

    Args:
        parts: amounts by name, or a word such as "largest", which is returned as it is.

    Returns:
        The texts by the same names. A value that is no number, such as a list of Rényi orders, is not changed.
    """
    if not isinstance(parts, Mapping):
        return parts
    capacity = {}
    for name, part in parts.items():
        is_number = isinstance(part, Decimal | float | int)
        capacity[name] = amount_text(part) if is_number else part
    return capacity


def amount_text(amount: AmountTold | None) -> str | None:
    """Write an amount of privacy budget as text without loss of digits.

    Args:
        amount: the amount as a number or as text; None if it is not stated.

    Returns:
        The text. For a float it is the shortest text that gives the same double. None and texts are returned unchanged.
    """
    if amount is None or isinstance(amount, str):
        return amount
    if isinstance(amount, Decimal):
        return f"{amount:f}"
    return repr(amount)


def readable(answer: Answer | None) -> ReadableAnswer | None:
    """Wrap an answer of the service so that its members can be read as attributes; return None for None.

    Args:
        answer: JSON object of the service's answer.
    """
    return None if answer is None else ReadableAnswer(answer)


def without_absent(members: Mapping[str, object]) -> JsonRecord:
    """Return a copy of a mapping without the members that are None.

    Args:
        members: values by name, where None means that the member is absent. The mapping is not changed.
    """
    return {name: value for name, value in members.items() if value is not None}


def key_or_new(key: str | None) -> str:
    """Return the caller's idempotency key, or a new random key if it is None.

    A request that is sent again with the same key has no second effect.

    Args:
        key: key of the caller, or None.
    """
    random_bytes = 24  # so many that two keys are never equal
    return secrets.token_urlsafe(random_bytes) if key is None else key

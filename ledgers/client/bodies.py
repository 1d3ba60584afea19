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
    """Return the body of a request to price or to reserve runs of a mechanism in a ledger.

    An argument that is None is left out of the body, so that the service uses its default.

    Args:
        name: name of an item of the ledger's plan. It is not sent if `slot` is given, because it is only a label then.
        spec: description of the mechanism, or None for the mechanism of the plan's item.
        slot: kind of the slot (a budget for runs outside the plan) that pays; None if the plan pays.
        count: number of runs.
        eta: η, the δ that the runs may add to the profile of a Gaussian slot.
        delta: δ that each run may take from a slot in ρ or in ε.
        expires_in: time until the reservation expires, in seconds.

    Returns:
        The body, a JSON object.
    """
    spec_record = None if spec is None else as_json(spec)
    # For a slot, the name is only a label, which the service need not know.
    item_name = name if slot is None else None
    members = {
        "spec": spec_record,
        "item": item_name,
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
    """Return the body of a request to change the plan of a ledger.

    The plan of a ledger is a list of mechanisms with numbers of runs. An argument that is None is left out of the body.

    Args:
        add: new items of the plan: the description of each mechanism, by the name of its item.
        lower: present items of the plan that get fewer runs: the new number of planned runs, by the name of the item.
        declared: statement that the change does not depend on outputs. The service needs it once runs were committed.
            None sends no statement.
        approval: whether a second person must approve moves of the ledger from now on; None changes nothing.

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
    """Return the slots of a new ledger, its budgets for unplanned runs, as a request to open it states them.

    A slot accounts in one notion of privacy, such as Gaussian or zero-concentrated differential privacy.

    Args:
        slots: capacities by kind of slot; or only kinds, or one kind, which get the largest capacity that fits.

    Returns:
        One JSON object for each slot.
    """
    # Without a capacity, a slot gets the largest that the target allows.
    capacities: Mapping[str, object]
    if isinstance(slots, Mapping):
        capacities = slots
    elif isinstance(slots, str):
        capacities = {slots: "largest"}
    else:
        capacities = dict.fromkeys(slots, "largest")
    return [{"kind": kind, "capacity": _capacity(parts)} for kind, parts in capacities.items()]


def _capacity(parts: object) -> object:
    """Return the amounts of a slot (a budget) as texts, because JSON numbers may be rounded.

    The service reads a decimal text without rounding.

    Args:
        parts: amounts by name, or a word such as "largest", which is returned as it is.

    Returns:
        The amounts by the same names. A value that is no number, such as a list of Rényi orders, is unchanged.
    """
    if not isinstance(parts, Mapping):
        return parts
    capacity = {}
    for name, part in parts.items():
        is_number = isinstance(part, Decimal | float | int)
        capacity[name] = amount_text(part) if is_number else part
    return capacity


def amount_text(amount: AmountTold | None) -> str | None:
    """Return an amount of privacy budget as decimal text with all its digits.

    A float becomes the shortest text that gives the same double.

    Args:
        amount: the amount as a number or as text; None if it is not stated.

    Returns:
        The text. None and texts are returned unchanged.
    """
    if amount is None or isinstance(amount, str):
        return amount
    if isinstance(amount, Decimal):
        return f"{amount:f}"
    return repr(amount)


def readable(answer: Answer | None) -> ReadableAnswer | None:
    """Return an answer whose members can be read by name, or None for None.

    Args:
        answer: JSON object of the service's answer.
    """
    return None if answer is None else ReadableAnswer(answer)


def without_absent(members: Mapping[str, object]) -> JsonRecord:
    """Return a copy of a record without the members that are None.

    Args:
        members: the record, of which a None means that the member is absent.

    Returns:
        The copy; the given record is not changed.
    """
    return {name: value for name, value in members.items() if value is not None}


def key_or_new(key: str | None) -> str:
    """Return an idempotency key, or a new random key if None is passed.

    The same key sent again has no second effect.

    Args:
        key: key of the caller.

    Returns:
        The given key, or the new one.
    """
    return secrets.token_urlsafe(24) if key is None else key  # 24 random bytes

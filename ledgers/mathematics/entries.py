"""What is written down of each move: texts and whole numbers only, so that one record has one canonical form.

An entry says all that the next reader needs to make the same move again and to check what it was charged. Amounts are
decimal strings, other numbers the shortest strings that give the same double.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.ledgers.mathematics.amounts import Amount, exact, shown
from epsilond.ledgers.mathematics.invariant import Opening
from epsilond.ledgers.mathematics.state import (
    Charge,
    Declared,
    LedgerState,
    LedgerTarget,
    PlanItem,
    Reservation,
    Slot,
)

Record = JsonRecord
APPROVED_KINDS: Final = frozenset({"amended", "voided", "reconciled"})
"""Kinds of entries that two people decide in a ledger with approval."""
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that Python calls printable and that show nothing (Unicode, Default_Ignorable_Code_Point; and U+2800)."""


def opened(state: LedgerState, certified: Opening, specs: Mapping[str, str]) -> Record:
    """Return the record of an opened ledger. `specs` has each plan item's mechanism as canonical JSON text."""
    setting, declared = state.setting, state.declared
    record: Record = {
        "kind": "opened",
        "relation": setting.relation,
        "unit": setting.unit,
        "observer": setting.observer,
        "target": {"epsilon": repr(state.target.epsilon), "log_delta": repr(state.target.log_delta)},
        "declared": {
            "inputs": declared.inputs,
            "sealed": declared.sealed,
            "released_before": declared.released_before,
        },
        "plan": [{"name": item.name, "spec": specs[item.name], "planned": item.planned} for item in state.plan],
        "slots": [
            {"kind": slot.kind, "capacity": amounts(slot.capacity), "weights": [repr(one) for one in slot.weights]}
            for slot in state.slots
        ],
        "certified": {"log_delta": repr(certified.log_delta), "epsilon": repr(certified.epsilon)},
    }
    return record | {"approval": True} if state.approval else record


def reserved(held: Reservation, spec: str) -> Record:
    """Return the record of a reservation, with its holdings."""
    record: Record = {"kind": "reserved", "reservation": held.id, "spec": spec, "count": held.count}
    if held.item is not None:
        record["item"] = held.item
    if held.slot is not None and held.charge is not None:
        record |= {"slot": held.slot, "charge": charged(held.charge)}
    return record


def committed(held: Reservation, count: int) -> Record:
    """Return the record of a commit. After it, `count` more runs may be released."""
    record: Record = {"kind": "committed", "reservation": held.id, "count": count}
    if held.charge is not None:
        record["charge"] = charged(held.charge)
    return record


def ended(held: Reservation) -> Record:
    """Return the record of a cancelled or expired reservation."""
    return {"kind": held.state, "reservation": held.id, "count": held.count - held.committed}


def voided(held: Reservation, count: int) -> Record:
    """Return the record of committed runs that were taken back on a declaration."""
    return {"kind": "voided", "reservation": held.id, "count": count, "declared": "no-output-observed"}


def amended(
    add: Sequence[PlanItem],
    lower: Mapping[str, int],
    declared: str | None,
    certified: Opening,
    specs: Sequence[str],
    approval: bool | None = None,
) -> Record:
    """Return the record of an amended ledger.

    Args:
        add: items that were added to the plan.
        lower: numbers of runs to which items fell, by their names.
        declared: the declaration, if one was made.
        certified: the new certificate.
        specs: each added item's mechanism as canonical JSON text.
        approval: whether a second person approves from now on; None means that this stays as it was.
    """
    items = [{"name": item.name, "spec": spec, "planned": item.planned} for item, spec in zip(add, specs, strict=True)]
    record: Record = {
        "kind": "amended",
        "add": items,
        "lower": [{"name": name, "planned": planned} for name, planned in lower.items()],
        "certified": {"log_delta": repr(certified.log_delta), "epsilon": repr(certified.epsilon)},
    }
    record |= {} if approval is None else {"approval": approval}
    return record if declared is None else record | {"declared": declared}


def reconciliation(size: int, root: str) -> Record:
    """Return the record of an accepted log, which may lack entries of the ledger.

    Args:
        size: number of entries of the accepted log.
        root: root of its Merkle tree in base 64.
    """
    return {"kind": "reconciled", "declared": "missing-entries-are-accounted-for", "size": size, "root": root}


def is_invisible(character: str) -> bool:
    """Return whether a character shows nothing: a control or format character, or a printable one without a glyph."""
    return unicodedata.category(character) in ("Cc", "Cf") or is_blank(character)


def is_blank(text: str) -> bool:
    """Return whether a text has a character that Python calls printable and that shows nothing."""
    return _BLANK.search(text) is not None


def is_same_person(first: str, second: str) -> bool:
    """Return whether two names are of one person.

    Names are compared trimmed, without case, in one Unicode form, and without characters that show nothing.
    """
    return _normal_name(first) == _normal_name(second)


def _normal_name(name: str) -> str:
    """Return the form of a name in which people are compared."""
    shown = "".join(character for character in name if not is_invisible(character))
    return unicodedata.normalize("NFKC", shown).strip().casefold()


def has_two_people(entry: JsonObject) -> bool:
    """Return whether an entry names who requested it and who approved it, and these are two people."""
    requester, approver = entry.get("requested_by"), entry.get("approved_by")
    if not isinstance(requester, str) or not isinstance(approver, str):
        return False
    return bool(requester.strip() and approver.strip()) and not is_same_person(requester, approver)


def contradiction(observations: Sequence[Observation], reservations: Sequence[str] | None) -> Record:
    """Return the record of observations that contradict a run.

    Args:
        observations: at least one.
        reservations: ids of those that paid for the run; None means all with committed runs.
    """
    record: Record = {"kind": "contradicted", "observations": [asdict(each) for each in observations]}
    return record if reservations is None else record | {"reservations": list(reservations)}


def observations_of(record: JsonObject) -> tuple[Observation, ...]:
    """Return the observations of a contradiction as they were written.

    Raises:
        InvalidInput: one is none.
    """
    observations = tuple(Observation(**members) for members in record["observations"])
    for place, observation in enumerate(observations):
        texts: tuple[object, ...] = (observation.premise, observation.message, observation.remedy)
        count: object = observation.count
        is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 0
        if not (all(isinstance(text, str) and text for text in texts) and is_count):
            raise InvalidInput.at(f"/observations/{place}", "is no observation")
    return observations


def charged(price: Charge) -> Record:
    """Return the record of a charge."""
    record: Record = {"parts": amounts(price.parts), "theorem": price.theorem}
    if price.each:
        record["each"] = amounts(price.each)
    if price.remaining is not None:
        record["remaining"] = shown(price.remaining)
    return record


def amounts(parts: Mapping[str, Amount]) -> dict[str, str]:
    """Amounts as decimal strings."""
    return {part: shown(amount) for part, amount in parts.items()}


def charge_of(record: JsonObject) -> Charge:
    """Read a charge from its record.

    Raises:
        InvalidInput: an amount is none, or the charge is of a whole job and of single runs at once.
    """
    if ("remaining" in record) == ("each" in record):
        raise InvalidInput.at("/charge", "has either a part of each run, or what was left when it was found")
    return Charge(
        parts=_read(record["parts"]),
        each=_read(record.get("each", {})),
        remaining=exact(record["remaining"], "/charge/remaining") if "remaining" in record else None,
        theorem=record["theorem"],
    )


def state_of(record: JsonObject, specs: JsonObject) -> LedgerState:
    """Return the state of a ledger as it was opened. `specs` has each plan item's mechanism."""
    declared = record["declared"]
    return LedgerState(
        setting=Setting(relation=record["relation"], unit=record["unit"], observer=record["observer"]),
        target=LedgerTarget(epsilon=float(record["target"]["epsilon"]), log_delta=float(record["target"]["log_delta"])),
        declared=Declared(**declared),
        plan=tuple(
            PlanItem(name=item["name"], spec=specs[item["name"]], planned=item["planned"]) for item in record["plan"]
        ),
        slots=tuple(
            Slot(
                kind=slot["kind"],
                capacity=_read(slot["capacity"]),
                weights=tuple(float(one) for one in slot["weights"]),
            )
            for slot in record["slots"]
        ),
        sealed=declared["sealed"],
        approval=read_approval(record),
    )


def read_approval(record: JsonObject) -> bool:
    """Return whether the record of an opening or an amendment says that a second person approves.

    Raises:
        InvalidInput: it says neither yes nor no.
    """
    approval = record.get("approval", False)
    if not isinstance(approval, bool):
        raise InvalidInput.at("/approval", "is neither true nor false")
    return approval


def _read(parts: Mapping[str, str]) -> dict[str, Amount]:
    return {part: exact(amount, f"/{part}") for part, amount in parts.items()}

"""Records of moves: texts and whole numbers only, so that one record has exactly one canonical form.

An entry has all that a reader needs to repeat the move and to check its charge. Amounts are decimal strings, other
numbers the shortest strings that give the same double.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from epsilond.accountants.errors import InvalidInput, Observation
from epsilond.accountants.guarantee import Setting
from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.accountants.quantities import require_unit
from epsilond.accountants.quantities.risks import RISKS, RiskTargetFields
from epsilond.accountants.quantities.units import unit_json
from epsilond.ledgers.mathematics.amounts import exact, format_amount, format_amounts, read_amounts
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


def opening_record(state: LedgerState, certified: Opening, specs: Mapping[str, str]) -> Record:
    """Return the log entry that opens a ledger, as a JSON object.

    The entry has everything that is needed to certify the ledger again: the setting, the privacy target, the plan, the
    slots and the owner's declarations. The plan lists mechanisms with their numbers of runs. Slots are parts of the
    budget for other mechanisms. Floats are written as the shortest decimal strings that give the same double.

    Args:
        state: the ledger at its opening.
        certified: certified upper bounds on δ at the target's ε, and on ε at the target's δ.
        specs: each plan item's mechanism as canonical JSON text, by the item's name.

    Returns:
        The entry. Its member `approval` is present only if a second person approves changes.
    """
    setting = state.setting
    declared = state.declared
    plan = [{"name": item.name, "spec": specs[item.name], "planned": item.planned} for item in state.plan]
    slots = []
    for slot in state.slots:
        weights = [repr(weight) for weight in slot.weights]
        slots.append({"kind": slot.kind, "capacity": format_amounts(slot.capacity), "weights": weights})
    record: Record = {
        "kind": "opened",
        "relation": setting.relation,
        "unit": unit_json(setting.protected_unit),
        "observer": setting.observer,
        "target": _target_record(state.target),
        "declared": {
            "inputs": declared.inputs,
            "sealed": declared.sealed,
            "released_before": declared.released_before,
        },
        "plan": plan,
        "slots": slots,
        "certified": {"log_delta": repr(certified.log_delta), "epsilon": repr(certified.epsilon)},
    }
    if state.approval:
        record["approval"] = True
    return record


def _target_record(target: LedgerTarget) -> Record:
    """Return the privacy target of a ledger as a JSON object for the log.

    Floats are written as the shortest decimal strings that give the same double.

    Args:
        target: ε and log δ, and the risk, such as an attacker's advantage, if that is the target.

    Returns:
        An object with the members `epsilon` and `log_delta`. It has `risk` only if a risk is the target.
    """
    record: Record = {"epsilon": repr(target.epsilon), "log_delta": repr(target.log_delta)}
    risk = target.risk
    if risk is None:
        return record
    record["risk"] = {"kind": risk.kind, "bound": repr(risk.bound)}
    if risk.kind == "true_positive_rate":
        record["risk"]["false_positive_rate"] = repr(risk.false_positive_rate)
    return record


def read_target(record: JsonObject) -> LedgerTarget:
    """Read the privacy target of a ledger from its JSON object in the log.

    Args:
        record: object with the members `epsilon` and `log_delta`. If the target is a risk, such as an attacker's
            advantage, it also has `risk` with the risk's kind and bound.

    Returns:
        The target. Its `risk` is None if the object has none.

    Raises:
        InvalidInput: the risk is of no known kind, or its bound is out of range.
        ValueError: a member is not the text of a number.
    """
    risk = None
    if "risk" in record:
        members = record["risk"]
        if members["kind"] not in RISKS:
            raise InvalidInput.at("/target/risk/kind", "is not a risk", allowed=", ".join(RISKS))
        fields = {members["kind"]: float(members["bound"])}
        if "false_positive_rate" in members:
            fields["false_positive_rate"] = float(members["false_positive_rate"])
        risk = RiskTargetFields(**fields).risk
    return LedgerTarget(epsilon=float(record["epsilon"]), log_delta=float(record["log_delta"]), risk=risk)


def reservation_record(reservation: Reservation, spec: str) -> Record:
    """Return the log entry of a reservation of runs, as a JSON object.

    Args:
        reservation: the reservation.
        spec: its mechanism as canonical JSON text.

    Returns:
        A JSON object of the kind `reserved`, with the mechanism and the number of runs. It names the item of the plan
        that pays for them. Or it names the slot (a budget for mechanisms outside the plan), with the amounts charged.
    """
    record: Record = {"kind": "reserved", "reservation": reservation.id, "spec": spec, "count": reservation.count}
    if reservation.item is not None:
        record["item"] = reservation.item
    if reservation.slot is not None and reservation.charge is not None:
        record |= {"slot": reservation.slot, "charge": charge_record(reservation.charge)}
    return record


def commit_record(reservation: Reservation, count: int) -> Record:
    """Return the log entry of a commit, which spends the budget of reserved runs, so that they may be released.

    Args:
        reservation: the reservation after the commit, with its charge if a slot pays.
        count: number of runs that this commit pays for.

    Returns:
        A JSON object of the kind `committed`, with the charge if a slot pays.
    """
    record: Record = {"kind": "committed", "reservation": reservation.id, "count": count}
    if reservation.charge is not None:
        record["charge"] = charge_record(reservation.charge)
    return record


def end_record(reservation: Reservation) -> Record:
    """Return the log entry of a reservation that has ended, because it was cancelled or has expired.

    Its uncommitted runs return to the ledger.

    Args:
        reservation: the reservation after its end, in the state `cancelled` or `expired`.

    Returns:
        The entry. Its kind is that state, and its `count` is the number of uncommitted runs.
    """
    return {
        "kind": reservation.state,
        "reservation": reservation.id,
        "count": reservation.count - reservation.committed,
    }


def void_record(reservation: Reservation, count: int) -> Record:
    """Return the log entry of committed runs that were declared void, because no output of them was observed.

    Args:
        reservation: the reservation of the runs.
        count: number of void runs, at least 1.

    Returns:
        A JSON object of the kind `voided`.
    """
    return {"kind": "voided", "reservation": reservation.id, "count": count, "declared": "no-output-observed"}


def amendment_record(
    add: Sequence[PlanItem],
    lower: Mapping[str, int],
    declared: str | None,
    certified: Opening,
    specs: Sequence[str],
    approval: bool | None = None,
) -> Record:
    """Return the log entry of a changed plan, with the new certified guarantee.

    The plan lists mechanisms with numbers of runs (its items). Items were added, or got fewer runs. Floats are written
    as the shortest decimal strings that give the same double.

    Args:
        add: items that were added to the plan.
        lower: new, smaller numbers of runs of items, by their names.
        declared: the declaration that no output influenced the amendment; None if it was not needed.
        certified: certified δ at the target's ε after the amendment, and certified ε at the target's δ.
        specs: each added item's mechanism as canonical JSON text.
        approval: whether a second person approves from now on; None means that this stays as it was.

    Returns:
        A JSON object of the kind `amended`.
    """
    added = [{"name": item.name, "spec": spec, "planned": item.planned} for item, spec in zip(add, specs, strict=True)]
    lowered = [{"name": name, "planned": planned} for name, planned in lower.items()]
    record: Record = {
        "kind": "amended",
        "add": added,
        "lower": lowered,
        "certified": {"log_delta": repr(certified.log_delta), "epsilon": repr(certified.epsilon)},
    }
    if approval is not None:
        record["approval"] = approval
    if declared is not None:
        record["declared"] = declared
    return record


def reconciliation_record(size: int, root: str) -> Record:
    """Return the log entry by which the owner accepts a log that may lack entries of the ledger.

    The owner declares that the missing entries are accounted for.

    Args:
        size: number of entries of the accepted log.
        root: root of its Merkle tree in base 64.

    Returns:
        A JSON object of the kind `reconciled`.
    """
    return {"kind": "reconciled", "declared": "missing-entries-are-accounted-for", "size": size, "root": root}


def contradiction_record(observations: Sequence[Observation], reservations: Sequence[str] | None) -> Record:
    """Return the log entry for a run that was observed to differ from the mechanism that its reservation states.

    After such an entry, the ledger (a privacy budget) has no guarantee.

    Args:
        observations: at least one observation of a difference.
        reservations: ids of the reservations of budget for the run; None means all with committed runs.

    Returns:
        A JSON object of the kind `contradicted`.
    """
    record: Record = {"kind": "contradicted", "observations": [asdict(observation) for observation in observations]}
    if reservations is not None:
        record["reservations"] = list(reservations)
    return record


def observations_of(record: JsonObject) -> tuple[Observation, ...]:
    """Read the observations that a run differed from its mechanism, from their log entry.

    Args:
        record: the entry, with the member `observations`.

    Returns:
        The observations, in the order of the entry.

    Raises:
        InvalidInput: a text of an observation is empty or not a string, or its count is not an integer of at least 0.
        KeyError, TypeError: the entry or an observation lacks a member, or an observation has further ones.
    """
    observations = tuple(Observation(**members) for members in record["observations"])
    for index, observation in enumerate(observations):
        # The entry may come from an unknown source, so the types are checked.
        texts: tuple[object, ...] = (observation.premise, observation.message, observation.remedy)
        count: object = observation.count
        are_texts = all(isinstance(text, str) and text for text in texts)
        is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 0
        if not (are_texts and is_count):
            raise InvalidInput.at(f"/observations/{index}", "is not an observation")
    return observations


def charge_record(price: Charge) -> Record:
    """Return the cost of some runs in a slot (a part of the budget) as a JSON object for the log.

    Args:
        price: the cost.

    Returns:
        A JSON object with the amounts, `parts`, and the `theorem` that proves them. If the costs of runs add up, `each`
        is the cost of one run. If the runs are charged as a whole, `remaining` is the μ² that the slot had left.
    """
    record: Record = {"parts": format_amounts(price.parts), "theorem": price.theorem}
    if price.each:
        record["each"] = format_amounts(price.each)
    if price.remaining is not None:
        record["remaining"] = format_amount(price.remaining)
    return record


def charge_of(record: JsonObject) -> Charge:
    """Read the cost of some runs in a slot (a part of the budget) from its JSON object in the log.

    Args:
        record: JSON object of the cost, as `charge_record` returns it. Its amounts are decimal strings.

    Returns:
        The cost, with the amounts and the theorem that the entry states.

    Raises:
        InvalidInput: a text is not an amount, or the record does not have exactly one of `each` and `remaining`.
    """
    has_both_or_neither = ("remaining" in record) == ("each" in record)
    if has_both_or_neither:
        raise InvalidInput.at("/charge", "has either a part of each run, or what was left when it was found")
    parts = read_amounts(record["parts"])
    cost_of_run = read_amounts(record.get("each", {}))
    remaining = None
    if "remaining" in record:
        remaining = exact(record["remaining"], "/charge/remaining")
    return Charge(parts=parts, each=cost_of_run, remaining=remaining, theorem=record["theorem"])


def state_of(record: JsonObject, specs: JsonObject) -> LedgerState:
    """Read the state of a ledger directly after its opening from the log.

    Args:
        record: the `opened` entry of the log, as `opening_record` returns it. Its certified bounds on ε and δ are not
            read.
        specs: each plan item's mechanism, by the item's name.

    Returns:
        The state, in which nothing is reserved or committed.
    """
    declared = record["declared"]
    unit = require_unit(record["unit"])
    plan = [PlanItem(name=item["name"], spec=specs[item["name"]], planned=item["planned"]) for item in record["plan"]]
    slots = [_slot_of(slot) for slot in record["slots"]]
    return LedgerState(
        setting=Setting.of(relation=record["relation"], unit=unit, observer=record["observer"]),
        target=read_target(record["target"]),
        declared=Declared(**declared),
        plan=tuple(plan),
        slots=tuple(slots),
        sealed=declared["sealed"],
        approval=read_approval(record),
    )


def _slot_of(record: JsonObject) -> Slot:
    """Read a slot, a part of a new ledger's privacy budget, from its JSON object in the log.

    Args:
        record: object with the `kind` of the slot, its `capacity` as decimal strings by name, and the `weights` of
            Rényi orders, which are empty for other kinds.

    Returns:
        The slot, of which nothing is used or reserved.
    """
    weights = tuple(map(float, record["weights"]))
    return Slot(kind=record["kind"], capacity=read_amounts(record["capacity"]), weights=weights)


def read_approval(record: JsonObject) -> bool:
    """Return whether a log entry says that a second person must approve changes.

    Args:
        record: entry of an opening or of a change of the plan.

    Returns:
        The value of the member `approval`; False if there is no such member.

    Raises:
        InvalidInput: the member is neither true nor false.
    """
    approval = record.get("approval", False)
    if not isinstance(approval, bool):
        raise InvalidInput.at("/approval", "is neither true nor false")
    return approval

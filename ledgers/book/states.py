"""Conversion between the rows of a ledger and its state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

from epsilond.accountants.json_types import JsonObject
from epsilond.ledgers.book.contradictions import contradictions_of, is_contradicted
from epsilond.ledgers.mathematics.amounts import ZERO, less, total
from epsilond.ledgers.mathematics.entries import charge_of, charge_record, observations_of, state_of
from epsilond.ledgers.mathematics.state import LedgerState, PlanItem, Reservation, Slot, SlotKind
from epsilond.ledgers.requests import OpenLedger
from epsilond.ledgers.store.records import HoldingRow, ItemRow, LedgerRow, PartRow, ReservationRow
from epsilond.ledgers.store.specs import spec_of, text_of


def state_from(row: LedgerRow, reservations: Iterable[ReservationRow]) -> LedgerState:
    """Convert a ledger's database rows to its state, on which changes are computed.

    The record of the opening determines the setting, the target and the first plan and slots. Columns that change later
    replace the values in the record.

    Args:
        row: rows of the ledger.
        reservations: the reservations that the state will contain. Each must hold runs in this ledger.

    Returns:
        The state at the moment at which the rows were read.
    """
    record = json.loads(row.record)
    specs = {item["name"]: spec_of(item["spec"]) for item in record["plan"]}
    opened = state_of(record, specs)

    parts_by_kind: dict[str, list[PartRow]] = {}
    for part in row.parts:
        parts_by_kind.setdefault(part.kind, []).append(part)
    slots = [_slot_from(slot, parts_by_kind[slot.kind]) for slot in opened.slots]

    contradictions = contradictions_of(row)
    observations = chain.from_iterable(map(observations_of, contradictions))
    by_id = {reservation.id: _reservation_from(reservation, row.id, contradictions) for reservation in reservations}
    status = "contradicted" if row.contradicted else row.status
    return replace(
        opened,
        plan=tuple(_plan_item_from(item) for item in row.items),
        slots=tuple(slots),
        reservations=by_id,
        status=status,
        observations=tuple(observations),
        sealed=row.sealed,
        conditional=row.conditional,
        amended=is_amended(row),
        approval=row.approval_from is not None,
    )


def is_amended(row: LedgerRow) -> bool:
    """Return whether the plan of a ledger differs from the plan at its opening.

    Names and planned numbers of runs are compared. This suffices, because an item is never removed and its number never
    grows. Items that were created for jobs, which slots pay for, are not part of the plan.

    Args:
        row: rows of the ledger, with the record of its opening.

    Returns:
        True if an item was added, or if the number of planned runs of an item was changed.
    """
    opening_plan = {item["name"]: item["planned"] for item in json.loads(row.record)["plan"]}
    present_plan = {item.name: item.planned for item in row.items if item.job is None}
    return opening_plan != present_plan


def rows_after(row: LedgerRow, state: LedgerState) -> LedgerRow:
    """Return a ledger's database rows with the values of a new state.

    Reservations are in other rows. The version of the ledger is changed only when the rows are written.

    Args:
        row: rows of the ledger before the change.
        state: the ledger after the change.

    Returns:
        The rows, with the earlier version.
    """
    # The row of a contradicted ledger keeps whether it was open or closed.
    status = row.status if state.status == "contradicted" else state.status
    return replace(
        row,
        status=status,
        contradicted=state.status == "contradicted",
        sealed=state.sealed,
        conditional=state.conditional,
        approval_from=_approval_from(row, state),
        parts=_all_parts(state),
        items=tuple(item_of(item) for item in state.plan),
    )


def row_of_opening(
    request: OpenLedger, state: LedgerState, *, identifier: str, tenant: str, record: str, created: float
) -> LedgerRow:
    """Return the database rows of a new ledger: the ledger itself, the amounts of its slots, and the items of its plan.

    A slot is a budget for runs that are not planned.

    Args:
        request: the request to open it, with its names.
        state: the new ledger.
        identifier: id of the ledger.
        tenant: owner of the ledger.
        record: record of the opening, as canonical JSON text.
        created: time of the opening, in seconds since 1970.

    Returns:
        The rows, which are not written yet.
    """
    return LedgerRow(
        id=identifier,
        tenant=tenant,
        dataset=request.dataset,
        block=request.block or "",
        name=request.name,
        record=record,
        created=created,
        sealed=state.sealed,
        parts=_all_parts(state),
        items=tuple(item_of(item) for item in state.plan),
        approval_from=0 if state.approval else None,  # the first version whose changes a second person approves
    )


def _all_parts(state: LedgerState) -> tuple[PartRow, ...]:
    """Return the database rows of all slots of a ledger, one for each of their amounts.

    Args:
        state: the ledger. Its slots are parts of the privacy budget.

    Returns:
        The rows, in the order of the slots.
    """
    parts: list[PartRow] = []
    for slot in state.slots:
        parts += parts_of(slot)
    return tuple(parts)


def _approval_from(row: LedgerRow, state: LedgerState) -> int | None:
    """Return the first version of a ledger whose changes a second person must approve; None if none must.

    Args:
        row: rows before the change. The version after it is the next integer.
        state: state after the change, which says whether changes need approval.

    Returns:
        A version number of the ledger, or None.
    """
    if not state.approval:
        return None
    if row.approval_from is not None:
        return row.approval_from
    return row.version + 1


def parts_of(slot: Slot) -> list[PartRow]:
    """Return the database rows of a slot, one for each of its amounts.

    Args:
        slot: a part of the privacy budget, with amounts by name, such as `rho` and `delta`.

    Returns:
        Rows with the capacity, the used amount, and the sum of the used and the reserved amount. The amounts of a slot
        with several Rényi orders are marked as `mixed`, because single orders may be overdrawn.
    """
    has_several_orders = slot.kind == "rdp" and len(slot.capacity) > 1
    rows = []
    for part, capacity in slot.capacity.items():
        used = slot.used.get(part, ZERO)
        held = total(used, slot.reserved.get(part, ZERO))
        row = PartRow(kind=slot.kind, part=part, capacity=capacity, used=used, held=held, mixed=has_several_orders)
        rows.append(row)
    return rows


def item_of(item: PlanItem) -> ItemRow:
    """Return the database row of an item of a ledger's plan.

    Args:
        item: a mechanism with its numbers of planned, reserved and committed runs.

    Returns:
        The row, with the mechanism as JSON text.
    """
    return ItemRow(
        name=item.name,
        spec=text_of(item.spec),
        planned=item.planned,
        reserved=item.reserved,
        committed=item.committed,
        credit=item.credit,
        job=item.job,
    )


def holding_of(ledger: str, held: Reservation) -> HoldingRow:
    """Return the database row of a reservation's runs or amounts in one ledger, with JSON texts.

    A reservation may hold runs in several ledgers, with a row for each.

    Args:
        ledger: id of the ledger.
        held: the reservation.

    Returns:
        The row, with the mechanism and the charge as JSON texts.
    """
    charge = None
    if held.charge is not None:
        charge = json.dumps(charge_record(held.charge), sort_keys=True)
    return HoldingRow(
        ledger=ledger,
        item=held.item,
        slot=held.slot,
        spec=text_of(held.spec),
        charge=charge,
        count=held.count,
        committed=held.committed,
    )


def _reservation_from(row: ReservationRow, ledger: str, contradictions: Sequence[JsonObject]) -> Reservation:
    """Return a reservation as one of its ledgers holds it, from the database rows of the reservation.

    A reservation keeps runs of a mechanism for one caller. Each of its holdings is the runs that one ledger pays for.

    Args:
        row: the reservation in all its ledgers.
        ledger: id of the ledger, which must be one of them.
        contradictions: log entries of the ledger with observations that runs differed from their mechanisms.

    Returns:
        The reservation, with the runs that this ledger pays for.
    """
    holding = next(candidate for candidate in row.holdings if candidate.ledger == ledger)
    charge = None  # of an item of the plan, which pays in runs and not in amounts
    if holding.charge is not None:
        charge = charge_of(json.loads(holding.charge))
    return Reservation(
        id=row.id,
        spec=spec_of(holding.spec),
        count=holding.count,
        item=holding.item,
        slot=cast("SlotKind | None", holding.slot),
        charge=charge,
        committed=holding.committed,
        contradicted=is_contradicted(row.id, holding.committed, contradictions),
        state=row.state,
    )


def _plan_item_from(row: ItemRow) -> PlanItem:
    """Return an item of a ledger's plan from its database row, which has the present numbers of runs.

    Args:
        row: the item's name, its mechanism as JSON text, and its numbers of planned, reserved and committed runs.
    """
    return PlanItem(
        name=row.name,
        spec=spec_of(row.spec),
        planned=row.planned,
        reserved=row.reserved,
        committed=row.committed,
        credit=row.credit,
        job=row.job,
    )


def _slot_from(slot: Slot, parts: Sequence[PartRow]) -> Slot:
    """Return a slot of a ledger, a part of its privacy budget, with the amounts of its database rows.

    The database stores the used amount, and the sum of the used and the reserved amount.

    Args:
        slot: the slot as it was opened, which has the kind and the weights of Rényi orders.
        parts: one row for each amount, such as ρ or δ.

    Returns:
        The slot, with its capacity and the used and reserved amounts.
    """
    capacity = {}
    used = {}
    reserved = {}
    for part in parts:
        capacity[part.part] = part.capacity
        used[part.part] = part.used
        reserved[part.part] = less(part.held, part.used)  # `held` is the used and the reserved amount together
    return replace(slot, capacity=capacity, used=used, reserved=reserved)

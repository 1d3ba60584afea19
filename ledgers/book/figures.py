"""Figures of a ledger and of a reservation in answers: runs, amounts, shares, receipts, and logarithms of δ."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.calibrators.answer import Caution, Served, TargetAnswer
from epsilond.ledgers.mathematics.amounts import Amount, format_amount, format_amounts, less
from epsilond.ledgers.mathematics.state import Charge, LedgerTarget
from epsilond.ledgers.mathematics.view import ScarceResource
from epsilond.ledgers.store.records import HoldingRow, ItemRow, LedgerRow

AMOUNTS: Final = Served("amounts of the parts of the slot, by the part's name, as decimal strings")


@dataclass(frozen=True, kw_only=True)
class ItemAnswer:
    """An item of the plan, in runs of its mechanism."""

    name: str
    planned: Annotated[int, Served("number of planned runs, for all of which the ledger's guarantee accounts")]
    reserved: Annotated[int, Served("number of runs that are reserved and not yet committed")]
    committed: Annotated[int, Served("number of committed runs, whose outputs may have been released")]
    credit: Annotated[
        int,
        Served(
            "number of runs that were returned after other runs of the same reservation were committed, or "
            "that were voided. They may be reserved again"
        ),
    ]
    job: Annotated[
        str | None,
        Served(
            "id of the reservation that paid for this item from a slot; absent if the item is in the plan "
            "from the opening or an amendment"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class SlotAnswer:
    """A slot with its amounts: `remaining` is neither used nor reserved, and may still be charged."""

    kind: Literal["gdp", "zcdp", "rdp", "pure"]
    capacity: Annotated[Mapping[str, str], AMOUNTS]
    used: Annotated[Mapping[str, str], AMOUNTS]
    reserved: Annotated[Mapping[str, str], AMOUNTS]
    remaining: Annotated[Mapping[str, str], AMOUNTS]


@dataclass(frozen=True, kw_only=True)
class ResourceAnswer:
    """The part of a slot, or the item of the plan, that runs out first."""

    item: Annotated[str | None, Served("name of the item of the plan; absent if it is a slot")] = None
    slot: Annotated[str | None, Served("kind of the slot; absent if it is an item of the plan")] = None
    part: Annotated[
        str | None, Served("name of the part of the slot's capacity; absent if it is an item of the plan")
    ] = None
    share_used: Annotated[float, Served("amount used or reserved, as a share of the capacity or of the planned runs")]
    remaining: Annotated[
        str, Served("what is neither used nor reserved: an amount as a decimal string, or for an item a number of runs")
    ]


def item_answer(item: ItemRow) -> ItemAnswer:
    """Convert an item of a ledger's plan, a mechanism with a number of runs, to the form of the service's answers.

    Args:
        item: database row of the item, with its numbers of planned, reserved, committed and returned runs.
    """
    return ItemAnswer(
        name=item.name,
        planned=item.planned,
        reserved=item.reserved,
        committed=item.committed,
        credit=item.credit,
        job=item.job,
    )


def slot_answer(row: LedgerRow, kind: str) -> SlotAnswer:
    """Convert a slot of a ledger, a part of its privacy budget, to the form of the service's answers.

    Args:
        row: rows of the ledger.
        kind: kind of the slot: gdp, zcdp, rdp or pure.

    Returns:
        The capacity, the used, the reserved and the remaining amount of each part, as decimal strings.
    """
    capacity = {}
    used = {}
    reserved = {}
    remaining = {}
    parts_of_slot = [part for part in row.parts if part.kind == kind]
    for part in parts_of_slot:
        capacity[part.part] = format_amount(part.capacity)
        used[part.part] = format_amount(part.used)
        reserved[part.part] = format_amount(part.reserved)
        remaining[part.part] = _format_remaining(part.capacity, part.held)
    return SlotAnswer(kind=kind, capacity=capacity, used=used, reserved=reserved, remaining=remaining)  # type: ignore[arg-type]


def _format_remaining(capacity: Amount, held: Amount) -> str:
    """Write the amount that is left of a capacity as a decimal string.

    Args:
        capacity: amount at the opening.
        held: used and reserved amount together. It may exceed the capacity for some orders of a Rényi slot with several
            orders.

    Returns:
        The difference, or 0 if it is negative.
    """
    remaining = less(capacity, held)
    return format_amount(max(remaining, Amount(0)))


def resource_answer(resource: ScarceResource | None) -> ResourceAnswer | None:
    """Convert the resource of a ledger that runs out first to the form of the service's answers.

    Args:
        resource: an item of the plan (planned runs) or an amount of a slot (a budget); None if the ledger has neither.

    Returns:
        The resource with the fraction that is used or reserved, and the rest; None for None.
    """
    if resource is None:
        return None
    return ResourceAnswer(
        item=resource.item,
        slot=resource.slot,
        part=resource.part,
        share_used=float(resource.share),
        remaining=format_amount(resource.left),
    )


def target_answer_of(target: LedgerTarget) -> TargetAnswer:
    """Convert the privacy target of a ledger to the form of the service's answers.

    Args:
        target: ε and log δ of the target, and the risk, such as an attacker's advantage, if the target was set as one.

    Returns:
        ε, δ, log10 δ and the risk. δ is rounded to the digits that the user wrote.
    """
    risk_members = {} if target.risk is None else target.risk.members
    return TargetAnswer(
        epsilon=target.epsilon,
        delta=short_delta(target.log_delta),
        log10_delta=short_log10(target.log_delta),
        **risk_members,
    )


def short_log10(log_delta: float) -> float:
    """Convert log δ of a target to log10 δ, without the rounding errors of the conversion if the user wrote few digits.

    Args:
        log_delta: natural logarithm of the target's δ.

    Returns:
        log10 δ, rounded to 9 decimal places if this changes it by at most a relative 1e-15, as rounding errors do.
    """
    unrounded = log_delta / math.log(10.0)
    rounded = round(unrounded, 9)
    if math.isclose(unrounded, rounded, rel_tol=1e-15):
        return rounded
    return unrounded


def short_delta(log_delta: float) -> float | None:
    """Convert log δ of a target to δ, without the rounding error of the conversion if the user wrote few digits.

    Args:
        log_delta: natural logarithm of the target's δ.

    Returns:
        δ, rounded to 9 significant digits if its logarithm then equals `log_delta` up to a relative 1e-15. None if δ is
        0 as a double.
    """
    unrounded = math.exp(log_delta)
    rounded = float(f"{unrounded:.9g}")
    is_as_written = rounded > 0.0 and math.isclose(math.log(rounded), log_delta, rel_tol=1e-15)
    delta = rounded if is_as_written else unrounded
    return None if delta == 0.0 else delta


def log10_above(log_delta: float) -> float:
    """Return an upper bound on the base-10 logarithm of a δ.

    Args:
        log_delta: natural logarithm of the δ, or an upper bound on it.

    Returns:
        log10 δ, rounded up.
    """
    return above(log_delta / math.log(10.0))


def above(rounded: float) -> float:
    """Return an upper bound on a logarithm to base 10 that was computed as x/log 10 with rounding errors.

    Args:
        rounded: the computed value. An infinite value is returned unchanged.

    Returns:
        The bound, at least the exact logarithm.
    """
    if math.isinf(rounded):
        return rounded
    # The constant and the division have a relative error below 3 · 2^−53, about 3.3e-16, and the sum one of 2^−53.
    margin = 8e-16 * abs(rounded)
    return rounded + margin


@dataclass(frozen=True, kw_only=True)
class ChargeAnswer:
    """Cost of a job: a number of runs of a planned item, or amounts of a slot of the privacy budget."""

    item: Annotated[str | None, Served("name of the item of the plan that pays; absent if a slot pays")] = None
    slot: Annotated[str | None, Served("kind of the slot that pays; absent if an item of the plan pays")] = None
    count: Annotated[int, Served("number of runs that are paid for")]
    parts: Annotated[
        Mapping[str, str],
        Served(
            "amounts that the slot pays for all runs, by name of part, as decimal strings. Empty if an "
            "item of the plan pays"
        ),
    ]
    each: Annotated[
        Mapping[str, str] | None,
        Served(
            "amounts that the slot pays for one run; absent unless the cost of several runs is the sum of "
            "the costs of each"
        ),
    ] = None
    remaining: Annotated[
        str | None,
        Served(
            "amount of μ² that was left in the Gaussian slot before the job; absent unless the job is not "
            "Gaussian and that slot pays"
        ),
    ] = None
    theorem: Annotated[
        str | None,
        Served("id of the theorem that proves that the charge covers the runs; absent if an item of the plan pays"),
    ] = None


def holding_charge(row: HoldingRow) -> ChargeAnswer:
    """Convert the cost of a reservation in one ledger to the form of the service's answers.

    Args:
        row: runs of the reservation in the ledger. Its `charge` is a JSON text, or None if an item of the plan pays.

    Returns:
        The cost: a number of runs if an item of the plan pays, or amounts, such as ρ or δ, if a slot pays, a budget for
        runs that are not planned.
    """
    charge = {} if row.charge is None else json.loads(row.charge)
    return ChargeAnswer(
        item=row.item,
        slot=row.slot,
        count=row.count,
        parts=charge.get("parts", {}),
        each=charge.get("each"),
        remaining=charge.get("remaining"),
        theorem=charge.get("theorem"),
    )


def charge_answer(item: str | None, slot: str | None, count: int, charge: Charge | None) -> ChargeAnswer:
    """Convert the cost of runs in a ledger to the form of the service's answers.

    Args:
        item: item of the plan that pays; None if a slot pays, a budget for runs that are not planned.
        slot: kind of the slot that pays; None if an item pays.
        count: number of runs.
        charge: amounts that the slot pays, with the theorem that proves that they cover the runs. None if an item pays,
            because it pays in runs.
    """
    if charge is None:
        return ChargeAnswer(item=item, slot=slot, count=count, parts={})
    cost_of_run = format_amounts(charge.each) if charge.each else None
    remaining = None if charge.remaining is None else format_amount(charge.remaining)
    return ChargeAnswer(
        item=item,
        slot=slot,
        count=count,
        parts=format_amounts(charge.parts),
        each=cost_of_run,
        remaining=remaining,
        theorem=charge.theorem,
    )


@dataclass(frozen=True, kw_only=True)
class HoldingAnswer:
    """Runs or amounts that a reservation holds in one ledger."""

    ledger: str
    committed: Annotated[int, Served("number of committed runs, whose outputs may have been released")]
    charge: ChargeAnswer


@dataclass(frozen=True, kw_only=True)
class ReceiptAnswer:
    """Evidence that anyone can check: an entry, the proof that the log contains it, and the log's signed head."""

    entry: Annotated[JsonObject, Served("entry of the log that records the commit")]
    proof: Annotated[
        JsonObject, Served("proof that the log contains the entry: leaf_index, tree_size and inclusion_path (RFC 9162)")
    ]
    checkpoint: Annotated[str, Served("the log's head as a signed note (C2SP tlog-checkpoint)")]
    signature: Annotated[
        str, Served("signature of entry, proof and checkpoint: a detached JSON Web Signature (RFC 7515)")
    ]


@dataclass(frozen=True, kw_only=True)
class CommitAnswer(ReceiptAnswer):
    """The receipt of a commit. With several ledgers it is that of the first one by id, and `receipts` has all."""

    receipts: Annotated[
        tuple[ReceiptAnswer, ...] | None, Served("one receipt for each ledger; absent if there is only one")
    ] = None
    warnings: Annotated[tuple[Caution, ...] | None, Served("warnings; absent if there are none")] = None


def commit_answer(receipts: Sequence[JsonObject]) -> JsonRecord:
    """Build the service's answer to a commit: the first receipt, with all of them as `receipts` if there are several.

    Args:
        receipts: one receipt for each ledger, in the order of the ledgers' ids; at least one.

    Returns:
        A JSON object. A repeated request with the same idempotency key gets the same text again.
    """
    first_receipt, *more_receipts = receipts
    if not more_receipts:
        return dict(first_receipt)
    return {**first_receipt, "receipts": list(receipts)}


@dataclass(frozen=True, kw_only=True)
class ReservationAnswer:
    """Runs that are held until they are committed or cancelled, or expire."""

    id: str
    state: Annotated[
        Literal["reserved", "committed", "cancelled", "expired"],
        Served(
            "state of the reservation. reserved: no run is committed. committed: at least one run is. "
            "cancelled: it was given back. expired: its time is over"
        ),
    ]
    count: Annotated[int, Served("number of runs")]
    committed: Annotated[
        int,
        Served(
            "number of committed runs, whose outputs may have been released. If ledgers differ in it, the "
            "smallest number"
        ),
    ]
    charge: Annotated[
        ChargeAnswer, Served("cost of the runs in the first ledger by id; holdings has those in all ledgers")
    ]
    created: Annotated[str, Served("time at which the reservation was made (RFC 3339, UTC)")]
    expires: Annotated[
        str | None, Served("time at which uncommitted runs return to the ledger; absent: they do not expire")
    ] = None
    ledgers: Annotated[tuple[str, ...], Served("ids of the ledgers that pay for the runs")]
    holdings: Annotated[tuple[HoldingAnswer, ...], Served("runs and their cost in each ledger that pays")]
    receipts: Annotated[
        tuple[ReceiptAnswer, ...] | None, Served("receipts of the newest commits of the reservation")
    ] = None
    warnings: tuple[Caution, ...]

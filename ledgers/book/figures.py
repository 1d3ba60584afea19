"""Figures of a ledger in answers: runs, amounts, shares, and logarithms of δ."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from epsilond.calibrators.answer import Served
from epsilond.ledgers.mathematics.amounts import Amount, format_amount, less
from epsilond.ledgers.mathematics.view import ScarceResource
from epsilond.ledgers.store.records import ItemRow, LedgerRow

AMOUNTS = Served("by the names of the slot's parts, as decimal strings")


@dataclass(frozen=True, kw_only=True)
class ItemAnswer:
    """An item of the plan, in runs of its mechanism."""

    name: str
    planned: Annotated[int, Served("runs that the ledger accounts for")]
    reserved: Annotated[int, Served("runs that somebody holds")]
    committed: Annotated[int, Served("runs that may have been released")]
    credit: Annotated[int, Served("runs of jobs that were stopped early; they may be reserved again")]
    job: Annotated[str | None, Served("the reservation that brought the item by its charge, if any")] = None


@dataclass(frozen=True, kw_only=True)
class SlotAnswer:
    """A slot; `remaining` may still be charged to it."""

    kind: Literal["gdp", "zcdp", "rdp", "pure"]
    capacity: Annotated[Mapping[str, str], AMOUNTS]
    used: Annotated[Mapping[str, str], AMOUNTS]
    reserved: Annotated[Mapping[str, str], AMOUNTS]
    remaining: Annotated[Mapping[str, str], AMOUNTS]


@dataclass(frozen=True, kw_only=True)
class ResourceAnswer:
    """The part of a slot, or the item of the plan, that runs out first."""

    item: Annotated[str | None, Served("of the plan; absent of a slot")] = None
    slot: Annotated[str | None, Served("absent of the plan")] = None
    part: Annotated[str | None, Served("of the slot")] = None
    share_used: Annotated[float, Served("used or reserved, as a share of the capacity or of the planned runs")]
    remaining: Annotated[str, Served("neither used nor reserved: an amount as a decimal string, or runs")]


def item_answer(item: ItemRow) -> ItemAnswer:
    """Return the item of a plan that an answer shows, from its row."""
    return ItemAnswer(
        name=item.name,
        planned=item.planned,
        reserved=item.reserved,
        committed=item.committed,
        credit=item.credit,
        job=item.job,
    )


def slot_answer(row: LedgerRow, kind: str) -> SlotAnswer:
    """Return the slot that an answer shows, with its amounts as decimal strings.

    Args:
        row: rows of the ledger.
        kind: kind of the slot.
    """
    capacity, used, reserved, remaining = {}, {}, {}, {}
    for part in row.parts:
        if part.kind == kind:
            capacity[part.part] = format_amount(part.capacity)
            used[part.part] = format_amount(part.used)
            reserved[part.part] = format_amount(part.reserved)
            remaining[part.part] = _difference(part.capacity, part.held)
    return SlotAnswer(kind=kind, capacity=capacity, used=used, reserved=reserved, remaining=remaining)  # type: ignore[arg-type]


def _difference(capacity: Amount, held: Amount) -> str:
    """Return the amount that is neither used nor held; zero for a Rényi order that is overdrawn."""
    return format_amount(max(less(capacity, held), Amount(0)))


def resource_answer(resource: ScarceResource | None) -> ResourceAnswer | None:
    """Return the slot or item that runs out first in the form that an answer shows; None if there is none."""
    if resource is None:
        return None
    return ResourceAnswer(
        item=resource.item,
        slot=resource.slot,
        part=resource.part,
        share_used=float(resource.share),
        remaining=format_amount(resource.left),
    )


def short_log10(log_delta: float) -> float:
    """Return log10 of a δ, as it was written if that was a short number: a target is read, not certified."""
    exact = log_delta / math.log(10.0)
    return round(exact, 9) if math.isclose(exact, round(exact, 9), rel_tol=1e-15) else exact


def short_delta(log_delta: float) -> float | None:
    """Return a δ, as it was written if that was a short number; None if it is below every double."""
    exact = math.exp(log_delta)
    short = float(f"{exact:.9g}")
    is_short = short > 0.0 and math.isclose(math.log(short), log_delta, rel_tol=1e-15)
    return (short if is_short else exact) or None


def log10_above(log_delta: float) -> float:
    """Return an upper bound of log10 of a δ."""
    return above(log_delta / math.log(10.0))


def above(rounded: float) -> float:
    """Return a bound above the rounding of a division by log 10."""
    return rounded if math.isinf(rounded) else rounded + 8e-16 * abs(rounded)

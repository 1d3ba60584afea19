"""Bars that show the used, reserved and remaining amounts of a ledger, as texts and as positions in a drawing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from epsilond.accountants.json_types import JsonObject

WIDTH = 600.0
"""Width of a full bar, in units of the drawing."""


@dataclass(frozen=True)
class Bar:
    """Bar of a drawing that shows how much of a planned item, or of an amount of a ledger's budget, is used.

    Attributes:
        name: label of the bar.
        used: end of the used part, from 0 to `WIDTH`.
        held: end of the reserved part, which follows the used part; from `used` to `WIDTH`.
        words: amounts as a text.
    """

    name: str
    used: float
    held: float
    words: str


def bars(ledger: JsonObject) -> list[Bar]:
    """Return a bar for each item of a ledger's plan, and for each amount of its slots (budgets for unplanned runs).

    Args:
        ledger: answer about a ledger, as a JSON object.

    Returns:
        The bars, those of the plan first.
    """
    return [*_plan(ledger["plan"]), *_slots(ledger["slots"])]


def _plan(items: list[JsonObject]) -> Iterator[Bar]:
    """Yield a bar for each item of a ledger's plan, which shows its committed and reserved runs.

    Args:
        items: JSON objects of the items, that is, of mechanisms with numbers of runs.
    """
    for item in items:
        committed = item["committed"]
        reserved = item["reserved"]
        planned = item["planned"]
        free = planned - committed - reserved
        # Free runs of jobs that were stopped early are paid for already, so the text counts them.
        credit = ""
        if item["credit"]:
            credit = f", {item['credit']} of them credit of jobs that were stopped early"
        words = f"{free} of {planned} runs left{credit}; {reserved} held, {committed} committed"
        yield _bar(f"plan, {item['name']}", committed, reserved, planned, words)


def _slots(slots: list[JsonObject]) -> Iterator[Bar]:
    """Yield bars of a ledger's slots: one for each kind of amount of a slot, with its used and its reserved part.

    Args:
        slots: JSON objects of the slots, that is, of budgets for runs outside the plan.
    """
    for slot in slots:
        for part, capacity in slot["capacity"].items():
            used = slot["used"][part]
            reserved = slot["reserved"][part]
            remaining = slot["remaining"][part]
            words = f"{remaining} of {capacity} left; {reserved} held, {used} used"
            yield _bar(f"slot {slot['kind']}, {part}", used, reserved, capacity, words)


def _bar(name: str, used: Any, reserved: Any, capacity: Any, words: str) -> Bar:
    """Return a bar that shows a used and a reserved amount in proportion to a capacity.

    Amounts are numbers or decimal strings. A bar with capacity 0 is drawn as used completely.

    Args:
        name: label of the bar.
        used: used amount.
        reserved: reserved amount.
        capacity: amount of the complete bar.
        words: amounts as a text.
    """
    total = Fraction(capacity)
    if total == 0:
        return Bar(name, WIDTH, WIDTH, words)
    end_of_used = _position(Fraction(used) / total)
    end_of_held = _position((Fraction(used) + Fraction(reserved)) / total)
    return Bar(name, end_of_used, end_of_held, words)


def _position(share: Fraction) -> float:
    """Return the position of a share of the capacity in the drawing, rounded to two decimal places.

    Args:
        share: number of at least 0; above 1 it counts as 1.
    """
    visible_share = float(min(share, Fraction(1)))
    return round(WIDTH * visible_share, 2)

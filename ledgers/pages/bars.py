"""Bars of compartments: the used, held and remaining amounts, in words and as places of a drawing."""

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
    """Bar of a drawing that shows how much of a ledger's planned item or of an amount of its budget is used.

    Attributes:
        name: label of the bar.
        used: end of the used part, from 0 to `WIDTH`.
        held: end of the reserved part, which follows the used part.
        words: amounts as a text.
    """

    name: str
    used: float
    held: float
    words: str


def bars(ledger: JsonObject) -> list[Bar]:
    """Return a bar for each item of a ledger's plan and for each amount of its slots (budgets).

    Args:
        ledger: answer about a ledger, as a JSON object.

    Returns:
        The bars, those of the plan first.
    """
    return [*_plan(ledger["plan"]), *_slots(ledger["slots"])]


def _plan(items: list[JsonObject]) -> Iterator[Bar]:
    """Yield the bars of the items of a ledger's plan, which show committed and reserved runs.

    Args:
        items: JSON objects of the items, mechanisms with numbers of runs.

    Yields:
        One bar for each item.
    """
    for item in items:
        committed = item["committed"]
        reserved = item["reserved"]
        planned = item["planned"]
        free = planned - committed - reserved
        # Free runs of jobs that were stopped early are named, because the ledger has paid for them already.
        credit = ""
        if item["credit"]:
            credit = f", {item['credit']} of them credit of jobs that were stopped early"
        words = f"{free} of {planned} runs left{credit}; {reserved} held, {committed} committed"
        yield _bar(f"plan, {item['name']}", committed, reserved, planned, words)


def _slots(slots: list[JsonObject]) -> Iterator[Bar]:
    """Yield the bars of the amounts of a ledger's slots, which show used and reserved amounts.

    Args:
        slots: JSON objects of the slots, budgets for runs outside the plan.

    Yields:
        One bar for each amount.
    """
    for slot in slots:
        for part, capacity in slot["capacity"].items():
            used = slot["used"][part]
            reserved = slot["reserved"][part]
            remaining = slot["remaining"][part]
            words = f"{remaining} of {capacity} left; {reserved} held, {used} used"
            yield _bar(f"slot {slot['kind']}, {part}", used, reserved, capacity, words)


def _bar(name: str, used: Any, reserved: Any, capacity: Any, words: str) -> Bar:
    """Return a bar with its amounts in proportion to the capacity. A bar without capacity is drawn as full.

    The bar has the committed amount first, and then the reserved amount.

    Args:
        name: label of the bar.
        used: committed amount, a number or a decimal string, like the other amounts.
        reserved: reserved amount.
        capacity: amount of the whole bar.
        words: amounts as a text.

    Returns:
        The bar, with positions from 0 to `WIDTH`.
    """
    total = Fraction(capacity)
    if total == 0:
        return Bar(name, WIDTH, WIDTH, words)
    end_of_used = _position(Fraction(used) / total)
    end_of_held = _position((Fraction(used) + Fraction(reserved)) / total)
    return Bar(name, end_of_used, end_of_held, words)


def _position(share: Fraction) -> float:
    """Return the position in the drawing of a share of the capacity.

    Args:
        share: share, at least 0. Shares above 1 are drawn as 1.

    Returns:
        A number from 0 to `WIDTH`, rounded to two decimal places.
    """
    visible_share = float(min(share, Fraction(1)))
    return round(WIDTH * visible_share, 2)

"""What it costs that the observer sees which clients are drawn, in words and in figures."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import TYPE_CHECKING

from epsilond.accountants.structure import DRAW_UNSEEN
from epsilond.calibrators.answer import UNBOUNDED, Warning_

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Observer

DIGITS = 4


def not_amplified(observer: Observer, here: str | None = None, unseen: str | None = None) -> Warning_:
    """The warning that a draw of clients was not counted, with both certified figures where they are known."""
    cost = f": {here}" if here else ""
    gain = f", {unseen} is certified" if unseen else ", it may be"
    return Warning_(
        code="amplification-not-counted",
        message=f"the observer {observer} sees which clients are drawn, so the draw is not counted as amplification"
        f"{cost}. Against the observer {DRAW_UNSEEN}, to whom a trusted server does not tell who is drawn{gain}",
    )


def rounded(value: float, *, up: bool = True) -> str:
    """An end in a sentence, rounded up or down; counts stand in full."""
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    direction = ROUND_CEILING if up else ROUND_FLOOR
    return f"{float(Context(prec=DIGITS, rounding=direction).create_decimal(value)):g}"

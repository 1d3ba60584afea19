"""What every answer is shown with at a terminal: pairs, tables, lists, and numbers rounded to the safe side.

Ends of enclosures are rounded outward, to seven digits; parameters to run with are printed in full, since a rounded
noise is another noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from epsilond.accountants.json_types import JsonObject
from epsilond.accountants.numerics.outward import round_to_digits
from epsilond.calibrators.answer import UNBOUNDED, as_json

if TYPE_CHECKING:
    from epsilond.accountants.attempts import ConditionResult
    from epsilond.calibrators.answer import Baseline, Caution, ConditionAnswer, DeclaredCondition, Ends

DIGITS = 7
WIDE = 240


def show(answer: RenderableType) -> None:
    """Print to standard output; full width where it is not a terminal, so that nothing is cut."""
    width = None if Console().is_terminal else WIDE
    Console(width=width, markup=False, emoji=False, highlight=False).print(answer)


def pairs(title: str, values: JsonObject) -> RenderableType:
    """Names and their values, nested names with dots."""
    shown = _empty(title, "", "")
    shown.show_header = False
    for name, value in _flat(values):
        shown.add_row(name, str(value))
    return shown


def table(title: str, rows: Iterable[Mapping[str, str]]) -> RenderableType:
    """Rows of the same columns, those left out that are empty in all of them; nothing where there is no row."""
    listed = list(rows)
    columns = [name for name in (listed[0] if listed else ()) if any(row[name] for row in listed)]
    shown = _empty(title, *columns)
    for row in listed:
        shown.add_row(*(row[name] for name in columns))
    return shown if listed else Group()


def bullets(title: str, lines: Sequence[str]) -> list[RenderableType]:
    """A heading and its lines; nothing where there are none."""
    return [Text(f"\n{title}:", style="bold"), *(Text(f"  {line}") for line in lines)] if lines else []


def remarks(conditions: Sequence[DeclaredCondition], warnings: Sequence[Caution]) -> list[RenderableType]:
    """What only the caller can vouch for, and warnings."""
    assumed = bullets("If", [condition.statement for condition in conditions])
    return assumed + bullets("Mind", [warning.message for warning in warnings])


def rounded(value: float, *, up: bool = True, digits: int = DIGITS) -> str:
    """Rounded to one side, in the short form."""
    if math.isinf(value):
        return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    return f"{round_to_digits(value, digits, up=up):.{digits}g}"


def upward(value: object) -> str:
    """A bound or a cost in its JSON form, rounded upward; nothing where there is none."""
    return rounded(value) if isinstance(value, int | float) else as_json(value) or ""


def outward(ends: Ends) -> str:
    """An enclosure, its lower end rounded down and its upper end rounded up."""
    return f"[{rounded(ends.lower, up=False)}, {rounded(ends.upper)}]"


def at_delta(delta: float | None, log10_delta: float) -> str:
    """A δ by both of its names, one of which was typed; by its logarithm alone where no double holds it."""
    logarithm = f"log10 δ = {log10_delta:.{DIGITS}g}"
    return logarithm if delta is None else f"δ = {delta:.{DIGITS}g} ({logarithm})"


def if_vacuous(vacuous: bool | None, baseline: Baseline | None, *, before: str = ": ") -> str:
    """That a bound says nothing, in words; nothing where it says something."""
    from epsilond.calibrators.risk.baseline import no_better  # noqa: PLC0415  an account has no risk

    return f"{before}{no_better(baseline)}" if vacuous and baseline is not None else ""


def sides(condition: ConditionResult | ConditionAnswer | None) -> str:
    """Both sides of a condition that was checked, where it has them."""
    if condition is None or condition.left is None or condition.right is None:
        return ""
    return f"{condition.left:.6g} against {condition.right:.6g}"


def verdict(condition: ConditionResult | ConditionAnswer) -> str:
    """Return a line with the condition's verdict, its statement and both sides."""
    compared = f": {sides(condition)}" if sides(condition) else ""
    return f"{condition.id} holds: {condition.holds} ({condition.statement}{compared})"


def _empty(title: str, *columns: str) -> Table:
    shown = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold")
    return shown


def _flat(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Nested members under dotted names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            yield from _flat({str(place): item for place, item in enumerate(value)}, f"{prefix}{name}.")
        else:
            yield prefix + name, value

"""Parts of every answer at a terminal: pairs, tables, lists, and numbers rounded to the safe side.

Bounds of enclosures are rounded outward, to seven digits. Parameters to run with are printed in full, because a rounded
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
    from epsilond.calibrators.answer import Baseline, Caution, ConditionAnswer, DeclaredCondition, DerivationStep, Ends

DIGITS = 7
"""Significant digits of a printed bound."""
WIDE = 240
"""Width [characters] of output that is not a terminal, enough for every table."""


def show(answer: RenderableType) -> None:
    """Print a table or a text to standard output.

    If standard output is not a terminal, the width is `WIDE` characters, so that nothing is cut.

    Args:
        answer: table or text of the package rich.
    """
    width = None if Console().is_terminal else WIDE
    Console(width=width, markup=False, emoji=False, highlight=False).print(answer)


def pairs(title: str, values: JsonObject) -> RenderableType:
    """Return a table with a row for each name and its value, without column headings.

    Args:
        title: heading of the table.
        values: values by name. The names of nested objects are joined by dots, such as `a.b`.

    Returns:
        The table, which rich can print.
    """
    grid = _empty_table(title, "", "")
    grid.show_header = False
    for name, value in _flatten(values):
        grid.add_row(name, str(value))
    return grid


def table(title: str, rows: Iterable[Mapping[str, str]]) -> RenderableType:
    """Return a table of rows with equal columns, without the columns that are empty in all rows.

    Args:
        title: heading of the table.
        rows: texts by the name of their column. Each row must have all columns of the first row.

    Returns:
        The table; an empty group if there are no rows.
    """
    entries = list(rows)
    if not entries:
        return Group()
    columns = [name for name in entries[0] if any(row[name] for row in entries)]
    grid = _empty_table(title, *columns)
    for row in entries:
        grid.add_row(*(row[name] for name in columns))
    return grid


def bullets(title: str, lines: Sequence[str]) -> list[RenderableType]:
    """Return a bold heading with indented lines below it.

    Args:
        title: text of the heading, without its colon.
        lines: the lines.

    Returns:
        The texts; empty if there are no lines.
    """
    if not lines:
        return []
    return [Text(f"\n{title}:", style="bold"), *(Text(f"  {line}") for line in lines)]


def remarks(conditions: Sequence[DeclaredCondition], warnings: Sequence[Caution]) -> list[RenderableType]:
    """Return two lists for the end of an answer: conditions that the library cannot check, and warnings."""
    assumptions = bullets("If", [condition.statement for condition in conditions])
    return assumptions + bullets("Mind", [warning.message for warning in warnings])


def proof(derivation: Iterable[DerivationStep]) -> Text:
    """Return a line that names the theorems of a derivation, each once, in the order of their first use."""
    return Text("\nProved by " + ", ".join(dict.fromkeys(step.theorem for step in derivation)))


def format_rounded(value: float, *, up: bool = True, digits: int = DIGITS) -> str:
    """Return a number as text with few significant digits, rounded up or down so that a bound remains a bound.

    Args:
        value: the number; it may be infinite.
        up: whether to round up; otherwise down.
        digits: number of significant digits.

    Returns:
        The text; "unbounded" or "-unbounded" for an infinite number.
    """
    if math.isinf(value):
        return UNBOUNDED if value > 0 else f"-{UNBOUNDED}"
    rounded = round_to_digits(value, digits, up=up)
    return f"{rounded:.{digits}g}"


def upward(value: object) -> str:
    """Return a bound or a cost as text, rounded up.

    Args:
        value: a number; a word such as "unbounded", which is returned unchanged; or None, which gives an empty text.
    """
    if isinstance(value, int | float):
        return format_rounded(value)
    return as_json(value) or ""


def outward(ends: Ends) -> str:
    """Return an interval as text, such as "[0.5, 1]", with its lower bound rounded down and its upper bound up."""
    return f"[{format_rounded(ends.lower, up=False)}, {format_rounded(ends.upper)}]"


def at_delta(delta: float | None, log10_delta: float) -> str:
    """Return δ and its decimal logarithm as text, or only the logarithm if δ is too small for a double.

    Args:
        delta: δ; None if it is positive, but below the smallest normal double.
        log10_delta: decimal logarithm of δ.

    Returns:
        The text, with both numbers rounded to `DIGITS` significant digits.
    """
    logarithm = f"log10 δ = {log10_delta:.{DIGITS}g}"
    if delta is None:
        return logarithm
    return f"δ = {delta:.{DIGITS}g} ({logarithm})"


def if_vacuous(vacuous: bool | None, baseline: Baseline | None, *, before: str = ": ") -> str:
    """Return a remark that a bound on the risk is vacuous: no better than the bound on the risk before training.

    Args:
        vacuous: whether the bound is vacuous; None if unknown.
        baseline: the bound on the risk before training; None if unknown.
        before: text in front of the remark.

    Returns:
        The remark with `before` in front of it. An empty text if the bound is not vacuous, or if something is unknown.
    """
    from epsilond.calibrators.risk.baseline import no_better  # noqa: PLC0415  an account has no risk

    if not vacuous or baseline is None:
        return ""
    return f"{before}{no_better(baseline)}"


def sides(condition: ConditionResult | ConditionAnswer | None) -> str:
    """Return both sides of a checked condition as a text, such as "3 against 2".

    Args:
        condition: the condition; None for none.

    Returns:
        The text; empty if there is no condition, or if it has no sides.
    """
    if condition is None or condition.left is None or condition.right is None:
        return ""
    return f"{condition.left:.6g} against {condition.right:.6g}"


def verdict(condition: ConditionResult | ConditionAnswer) -> str:
    """Return a line with the condition's verdict, its statement and both sides."""
    both_sides = sides(condition)
    comparison = f": {both_sides}" if both_sides else ""
    return f"{condition.id} holds: {condition.holds} ({condition.statement}{comparison})"


def _empty_table(title: str, *columns: str) -> Table:
    """Return a table without rows and borders, in which long texts continue on the next line.

    Args:
        title: heading of the table.
        columns: headings of the columns.

    Returns:
        The table, to which rows can be added.
    """
    grid = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for column in columns:
        grid.add_column(column, overflow="fold")
    return grid


def _flatten(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Flatten nested JSON objects: yield each value under a dotted name, such as `target.epsilon`.

    Args:
        values: members by name. A list that contains an object counts as an object, with its indices as names.
        prefix: text in front of all names, which ends with a dot unless it is empty.

    Yields:
        The dotted name and the value of each member that is not an object.
    """
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}.")
        elif isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            items = {str(index): item for index, item in enumerate(value)}
            yield from _flatten(items, f"{prefix}{name}.")
        else:
            yield prefix + name, value

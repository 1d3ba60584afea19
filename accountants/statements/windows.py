"""The statements and conditions of a guarantee for one window of a record or client, such as a client's day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from epsilond.accountants.statements.statement import Statement
from epsilond.accountants.theorem import Condition

if TYPE_CHECKING:
    from epsilond.accountants.quantities import Relation, WindowedUnit

RELATIONS: Mapping[Relation, str] = {
    "replace-one": "replace-one (the contributions of one {of} within one {window} are replaced by any others)",
    "add-or-remove-one": "add-or-remove-one (the contributions of one {of} within one {window} are present or absent)",
    "zero-out-one": "zero-out-one (the contributions of one {of} within one {window} count as zero)",
}


def describe_window(unit: WindowedUnit) -> str:
    """Return a windowed unit as a noun phrase, such as "all contributions of one client within one day".

    Args:
        unit: the protected unit, one window of a record or a client.

    Returns:
        The noun phrase, without a full stop.
    """
    return f"all contributions of one {unit.of} within one {unit.window}"


def restate_for_window(
    statements: Sequence[Statement], relation: Relation, unit: WindowedUnit
) -> tuple[Statement, ...]:
    """Return the statements of a guarantee for a record or client as those of one window of it.

    A window is a period, such as a day, of which the contributions are protected as one unit.

    Args:
        statements: the statements for the whole record or client.
        relation: the neighbouring relation.
        unit: the protected unit, one window of a record or a client.

    Returns:
        The statements in the same order, with one more on several windows together.
    """
    return tuple(_restate(statements, relation, unit))


def _restate(statements: Sequence[Statement], relation: Relation, unit: WindowedUnit) -> Iterator[Statement]:
    """Yield the statements of `restate_for_window`, with one more about several windows together.

    A window is a period, such as a day, of which the contributions are protected as one unit.

    Args:
        statements: statements about a record or a client.
        relation: the neighbouring relation.
        unit: the protected unit, one window of a record or a client.

    Yields:
        Each statement, with words that fit the window.
    """
    for statement in statements:
        # The protected unit, with one more statement; the neighbours; the draws; and all further ones as they are.
        if statement.about == "protects":
            yield Statement(about="protects", text=f"Protects: {describe_window(unit)}.")
            yield Statement(
                about="not-protected",
                text=(
                    f"Not protected by this ε: the contributions of one {unit.of} over several {unit.window}s "
                    f"together. Their ε grows with the number of {unit.window}s."
                ),
            )
        elif statement.about == "neighbours":
            neighbours = RELATIONS[relation].format(of=unit.of, window=unit.window)
            yield Statement(about="neighbours", text=f"Neighbours: {neighbours}.")
        elif statement.about == "sampling":
            # A draw of another level keeps its noun.
            text = statement.text.replace(f"each {unit.of} ", f"each {unit} ").replace(f" {unit.of}s ", f" {unit}s ")
            yield Statement(about="sampling", text=text)
        else:
            yield statement


def window_conditions(unit: WindowedUnit, *, is_drawn: bool) -> tuple[Condition, ...]:
    """Return the conditions that a caller declares with a windowed unit.

    Amplification by sampling holds for the unit that is drawn. A draw of whole clients includes all windows of a client
    together. Neighbours that differ in one window then have other inputs that depend on the same draw, and the theorems
    do not cover that.

    Args:
        unit: the windowed unit.
        is_drawn: whether the run draws records or clients at random.

    Returns:
        A condition on the contributions, and, if the spec draws units at random, one on the draws.
    """
    contributions = Condition(
        "window-contributions",
        f"the sensitivity of each release bounds {describe_window(unit)}; every contribution is in one {unit.window}",
    )
    draws = Condition(
        "window-draws",
        f"a batch draws {unit}s as units of their own, and not the {unit.of} with all its {unit.window}s; or a release "
        f"reads one {unit.window} only",
    )
    # Without random draws the second condition is not needed.
    return (contributions, draws) if is_drawn else (contributions,)

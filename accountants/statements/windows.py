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
    """Change the statements for a whole record or client into statements for one window of it.

    A window is a period, such as a day. All contributions within it are protected as one unit.

    Args:
        statements: the statements for the whole record or client.
        relation: the neighbouring relation.
        unit: the protected unit, one window of a record or a client.

    Returns:
        The statements in the same order. One is added: that several windows together are not protected by the same ε.
    """
    return tuple(_restate(statements, relation, unit))


def _restate(statements: Sequence[Statement], relation: Relation, unit: WindowedUnit) -> Iterator[Statement]:
    """Yield each statement for a record or client, changed so that it fits one window (a period, such as a day) of it.

    Args:
        statements: statements about a record or a client.
        relation: the neighbouring relation.
        unit: the protected unit, one window of a record or a client.

    Yields:
        Each statement. After the protected unit, one more says what is not protected.
    """
    for statement in statements:
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
            # Only the noun of the protected unit is replaced. If records have windows, "clients" stays.
            text = statement.text.replace(f"each {unit.of} ", f"each {unit} ").replace(f" {unit.of}s ", f" {unit}s ")
            yield Statement(about="sampling", text=text)
        else:
            yield statement


def window_conditions(unit: WindowedUnit, *, is_drawn: bool) -> tuple[Condition, ...]:
    """Return the conditions that a caller declares to protect one window (a period) of a record or client.

    A draw of whole clients includes all windows of a client together. Neighbours that differ in one window then share
    other inputs that depend on the same draw. The theorems of amplification do not cover that case.

    Args:
        unit: the protected unit, one window of a record or a client.
        is_drawn: whether the run draws records or clients at random.

    Returns:
        A condition on the contributions. If `is_drawn`, also one on the draws.
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
    return (contributions, draws) if is_drawn else (contributions,)

"""Warnings about ledgers that cover the same people, and about names that are almost equal."""

from __future__ import annotations

from collections.abc import Sequence

from epsilond.calibrators.answer import Caution


def collision(others: Sequence[tuple[str, bool]]) -> tuple[Caution, ...]:
    """Return the warning of a ledger if its people have other ledgers.

    Args:
        others: ids of the other ledgers, each with whether it is open.
    """
    if not others:
        return ()
    ids = ", ".join(identifier for identifier, _ in others)
    message = f"The same people have other ledgers: {ids}. What those released is not in the guarantee of this one."
    if any(is_open for _, is_open in others):
        message += " Reservations, commits and amendments are refused until all except one are closed."
    return (Caution(code="ledger-collides", message=message),)


def near_names(names: Sequence[str]) -> tuple[Caution, ...]:
    """Return the warning of a ledger if its data set or block has almost the name of another.

    Args:
        names: names that differ from it in spaces, hyphens, underscores and dots only.
    """
    if not names:
        return ()
    quoted = ", ".join(f"\u201c{name}\u201d" for name in names)
    message = f"There is almost the same name: {quoted}. If that is the same data, its people now have two budgets."
    return (Caution(code="almost-equal-name", message=message),)

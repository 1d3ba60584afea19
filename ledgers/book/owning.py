"""Warnings about ledgers that cover the same people, and about names that are almost equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from epsilond.calibrators.answer import Caution


def collisions(others: Mapping[str, Sequence[tuple[str, bool]]]) -> tuple[Caution, ...]:
    """Return a warning for each ledger of which the people have other ledgers.

    Args:
        others: ids of the other ledgers, each with whether it is open, by the id of the ledger that they collide with.
    """
    return tuple(_collision(name, pairs) for name, pairs in others.items())


def _collision(identifier: str, others: Sequence[tuple[str, bool]]) -> Caution:
    ids = ", ".join(name for name, _ in others)
    message = f"The people of {identifier} have other ledgers: {ids}. What those released is not in its guarantee."
    if any(is_open for _, is_open in others):
        message += " Reservations, commits and amendments are refused until all except one are closed."
    return Caution(code="ledger-collides", message=message)


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

"""Organisations of ledgers as rows: assigned once, and several ledgers of one block, which only a migration creates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, exists, func, or_, select, update

from epsilond.ledgers.store.names import NAMELESS, key_of
from epsilond.ledgers.store.records import LedgerRow
from epsilond.ledgers.store.tables import ENTRIES, LEDGERS
from epsilond.ledgers.store.transactions import Again
from epsilond.storage import shared

_IS_OPEN: Final = (LEDGERS.c.status == "open") & LEDGERS.c.contradicted.is_(False)
"""Condition of a ledger to which runs may be committed: neither closed nor blocked by an observation."""


@dataclass(frozen=True, kw_only=True)
class Collision:
    """Two ledgers or more of one organisation that cover the same people."""

    organisation: str
    dataset: str
    """Name of the data set in the oldest of the ledgers."""
    ledgers: tuple[str, ...]
    """Ids, the oldest first."""
    open: int
    """Number of them that may still commit."""


def assign(connection: Connection, organisation_of: Callable[[str], str | None]) -> int:
    """Assign each ledger without a named organisation to the organisation of the caller who opened it.

    The version of each assigned ledger is raised, so that a concurrent change of it is checked again.

    Args:
        connection: connection of a transaction that writes.
        organisation_of: returns the organisation of the caller with a given name, or None to skip the caller's ledgers.

    Returns:
        Number of assigned ledgers.

    Raises:
        Again: another process changed a ledger meanwhile.
    """
    if connection.dialect.name == "postgresql":
        shared.alone_with_tables(connection)
    free = _is_free()
    columns = [LEDGERS.c[name] for name in ("id", "organisation", "opened_by", "dataset_key", "block_key", "version")]
    rows = connection.execute(select(*columns).where(free).order_by(LEDGERS.c.created, LEDGERS.c.id)).all()
    count = 0
    for row in rows:
        organisation = organisation_of(row.opened_by)
        if organisation in (None, row.organisation):
            continue
        same = (LEDGERS.c.organisation == organisation) & (LEDGERS.c.dataset_key == row.dataset_key)
        same &= LEDGERS.c.block_key == row.block_key
        last = connection.execute(select(func.max(LEDGERS.c.copy)).where(same)).scalar_one()
        values = {"organisation": organisation, "copy": 0 if last is None else last + 1, "version": row.version + 1}
        change = update(LEDGERS).where(LEDGERS.c.id == row.id, LEDGERS.c.version == row.version).values(values)
        if connection.execute(change).rowcount != 1:
            raise Again(row.id)
        count += 1
    return count


def has_free(connection: Connection, opened_by: str) -> bool:
    """Return whether a caller opened a ledger that has no organisation, or the nameless one."""
    wanted = select(LEDGERS.c.id).where(_is_free(), LEDGERS.c.opened_by == opened_by).limit(1)
    return connection.execute(wanted).scalar_one_or_none() is not None


def collisions(connection: Connection) -> list[Collision]:
    """Return the groups of ledgers that cover the same people of one organisation, including closed ledgers."""
    names = ("id", "organisation", "dataset", "dataset_key", "block_key")
    query = select(*(LEDGERS.c[name] for name in names), _IS_OPEN.label("is_open")).where(
        LEDGERS.c.organisation.is_not(None)
    )
    of_dataset = defaultdict[tuple[str, str], list[_Member]](list)
    for row in connection.execute(query.order_by(LEDGERS.c.created, LEDGERS.c.id)):
        member = _Member(row.id, row.dataset, row.block_key, bool(row.is_open))
        of_dataset[row.organisation, row.dataset_key].append(member)
    reported = []
    for (organisation, _), rows in of_dataset.items():
        for members in _colliding_groups(rows):
            ids, still_open = tuple(row.id for row in members), sum(row.is_open for row in members)
            reported.append(
                Collision(organisation=organisation, dataset=members[0].dataset, ledgers=ids, open=still_open)
            )
    return reported


class _Member(NamedTuple):
    """A ledger of a data set."""

    id: str
    dataset: str
    block: str
    """Key of the block; empty for the whole data set."""
    is_open: bool


def _colliding_groups(rows: Sequence[_Member]) -> list[list[_Member]]:
    """Return the ledgers of a data set that cover the same people, as groups of two or more.

    An open ledger of the whole data set overlaps with every block, so that all ledgers form one group. A closed ledger
    of the whole is in the group of each block. Different blocks do not overlap.
    """
    if any(row.block == "" and row.is_open for row in rows):
        groups = [list(rows)]
    else:
        blocks = list(dict.fromkeys(row.block for row in rows if row.block)) or [""]
        groups = [[row for row in rows if row.block in ("", block)] for block in blocks]
    return [group for group in groups if len(group) > 1]


def colliding(connection: Connection, ledger: LedgerRow) -> list[tuple[str, bool]]:
    """Return the ids of other ledgers that cover the same people of one organisation, each with whether it is open."""
    wanted = select(LEDGERS.c.id, _IS_OPEN.label("is_open")).where(
        LEDGERS.c.organisation == ledger.tenant, LEDGERS.c.id != ledger.id, _covers(ledger)
    )
    rows = connection.execute(wanted.order_by(LEDGERS.c.created, LEDGERS.c.id))
    return [(row.id, bool(row.is_open)) for row in rows]


def colliding_among(connection: Connection, identifiers: Collection[str]) -> set[str]:
    """Return the ids of the given ledgers that cover the same people as another ledger of their organisation."""
    own, another = LEDGERS.alias(), LEDGERS.alias()
    same_block = or_(own.c.block_key == "", another.c.block_key == "", own.c.block_key == another.c.block_key)
    same_people = (
        (another.c.organisation == own.c.organisation) & (another.c.dataset_key == own.c.dataset_key) & same_block
    )
    query = select(own.c.id).where(own.c.id.in_(identifiers), exists().where(same_people, another.c.id != own.c.id))
    return set(connection.execute(query).scalars())


def is_barred(connection: Connection, ledger: LedgerRow) -> bool:
    """Return whether a ledger of another organisation forbids a new ledger of the same data set.

    Callers without an organisation may belong to any organisation. Therefore a ledger that they own, or once owned and
    changed, forbids ledgers of all organisations. A ledger of any organisation forbids ledgers of callers without one.
    Call this after `entries.take`, because no other ledger can be added then.
    """
    moved = exists().where(ENTRIES.c.ledger == LEDGERS.c.id, ENTRIES.c.tenant == NAMELESS)
    from_unnamed = _is_free() | ((LEDGERS.c.organisation != ledger.tenant) & moved)
    barring = LEDGERS.c.organisation != NAMELESS if ledger.tenant == NAMELESS else from_unnamed
    query = select(LEDGERS.c.id).where(barring, _covers(ledger)).limit(1)
    return connection.execute(query).scalar_one_or_none() is not None


def organisations_of(connection: Connection, identifiers: list[str]) -> set[str | None]:
    """Return the organisations that have these ledgers; None means that none is assigned yet."""
    return set(connection.execute(select(LEDGERS.c.organisation).where(LEDGERS.c.id.in_(identifiers))).scalars())


def find_misplaced(
    connection: Connection, *, identifiers: Collection[str] | None = None, organisation: str | None = None
) -> list[str]:
    """Return the ids of ledgers with a wrong organisation, or with search keys that do not fit their names.

    Such rows were changed outside the service. A ledger that an organisation opened must still belong to it. The search
    keys of data set and block must be those of their names.

    Args:
        connection: connection to read on.
        identifiers: ids of ledgers; None means any.
        organisation: owner of the ledgers, now or at their opening; None means any.
    """
    names = ("id", "tenant", "organisation", "dataset", "dataset_key", "block", "block_key")
    query = select(*(LEDGERS.c[name] for name in names)).order_by(LEDGERS.c.id)
    if identifiers is not None:
        query = query.where(LEDGERS.c.id.in_(identifiers))
    if organisation is not None:
        query = query.where((LEDGERS.c.organisation == organisation) | (LEDGERS.c.tenant == opened_for(organisation)))
    return [row.id for row in connection.execute(query) if not _is_in_place(row)]


def _is_in_place(row: Row[Any]) -> bool:
    """Return whether the keys of a ledger are those of its names, and its organisation the one that opened it."""
    opened_by_nobody = opened_for(NAMELESS)
    is_own = row.tenant in (opened_by_nobody, opened_for(row.organisation or NAMELESS))
    is_own = is_own or not row.tenant.startswith(opened_by_nobody)
    return is_own and (row.dataset_key, row.block_key) == (key_of(row.dataset), key_of(row.block))


def opened_for(organisation: str) -> str:
    """Return `tenant` in the rows of ledgers that an organisation opened; no name of a key has the slash.

    Rows of earlier versions have a key's name there. A unique constraint has it with data set and block, which SQLite
    cannot drop. Without the beginning, an organisation with the name of a former key is refused a data set of that key.
    """
    return f"organisation/{organisation}"


def names_of(connection: Connection, organisation: str) -> list[tuple[str, str]]:
    """Return each data set of an organisation with each of its blocks, as they were first written."""
    wanted = select(LEDGERS.c.dataset, LEDGERS.c.block).where(LEDGERS.c.organisation == organisation).distinct()
    return [(row.dataset, row.block) for row in connection.execute(wanted)]


def entries_of(organisation: str) -> ColumnElement[bool]:
    """Return the condition of an entry that it is of a ledger of this organisation."""
    return ENTRIES.c.ledger.in_(select(LEDGERS.c.id).where(LEDGERS.c.organisation == organisation))


def _is_free() -> ColumnElement[bool]:
    """Return the condition of a ledger that it has no organisation, or the nameless one."""
    return or_(LEDGERS.c.organisation.is_(None), LEDGERS.c.organisation == NAMELESS)


def _covers(ledger: LedgerRow) -> ColumnElement[bool]:
    """Return the condition of a ledger that it has people of this one: the same block, or either is of the whole."""
    same = LEDGERS.c.dataset_key == key_of(ledger.dataset)
    block = key_of(ledger.block)
    return same & or_(LEDGERS.c.block_key == block, LEDGERS.c.block_key == "") if block else same

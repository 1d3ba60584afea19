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
    """Two ledgers or more of one organisation that cover the same people.

    Each of them has its own privacy budget, so that together they could spend more than one budget on these people.

    Attributes:
        organisation: owner of the ledgers.
        dataset: name of the data set in the oldest of the ledgers.
        ledgers: ids of the ledgers, the oldest first.
        open: number of the ledgers to which runs may still be committed.
    """

    organisation: str
    dataset: str
    ledgers: tuple[str, ...]
    open: int


def assign(connection: Connection, organisation_of: Callable[[str], str | None]) -> int:
    """Assign each ledger without a named organisation to the organisation of the caller who opened it.

    The version of each assigned ledger is raised, so that a concurrent change of the ledger fails and is tried again.

    Args:
        connection: connection of a transaction that writes.
        organisation_of: returns the organisation of the caller with a given name, or None to skip the caller's ledgers.

    Returns:
        Number of assigned ledgers.

    Raises:
        Again: another process changed a ledger meanwhile.
    """
    # An SQLite file has only one process. Processes that share PostgreSQL take turns.
    if connection.dialect.name == "postgresql":
        shared.alone_with_tables(connection)
    # The order is fixed because it decides the number `copy` of ledgers of one block.
    columns = [LEDGERS.c[name] for name in ("id", "organisation", "opened_by", "dataset_key", "block_key", "version")]
    query = select(*columns).where(_is_free()).order_by(LEDGERS.c.created, LEDGERS.c.id)
    rows = connection.execute(query).all()
    count = 0
    for row in rows:
        organisation = organisation_of(row.opened_by)
        if organisation is not None and organisation != row.organisation:
            _move_to(connection, row, organisation)
            count += 1
    return count


def _move_to(connection: Connection, row: Row[Any], organisation: str) -> None:
    """Write the organisation of a ledger, and raise its version.

    Several ledgers of one block (a named part of a data set) may exist from before there were organisations. The column
    `copy` numbers them.

    Args:
        connection: connection of a transaction that writes.
        row: id, version, `dataset_key` and `block_key` of the ledger.
        organisation: the new organisation.

    Raises:
        Again: another process changed the ledger meanwhile.
    """
    is_of_dataset = (LEDGERS.c.organisation == organisation) & (LEDGERS.c.dataset_key == row.dataset_key)
    is_of_block = is_of_dataset & (LEDGERS.c.block_key == row.block_key)
    last_copy = connection.execute(select(func.max(LEDGERS.c.copy)).where(is_of_block)).scalar_one()
    copy = 0 if last_copy is None else last_copy + 1  # keeps the index of organisation, block and copy unique
    values = {"organisation": organisation, "copy": copy, "version": row.version + 1}
    change = update(LEDGERS).where(LEDGERS.c.id == row.id, LEDGERS.c.version == row.version).values(values)
    if connection.execute(change).rowcount != 1:
        raise Again(row.id)


def has_free(connection: Connection, opened_by: str) -> bool:
    """Return whether a caller opened a ledger that belongs to no organisation, or to the one without a name.

    Args:
        connection: connection to read on.
        opened_by: name of the caller.
    """
    query = select(LEDGERS.c.id).where(_is_free(), LEDGERS.c.opened_by == opened_by).limit(1)
    return connection.execute(query).scalar_one_or_none() is not None


def collisions(connection: Connection) -> list[Collision]:
    """Find the groups of ledgers of one organisation that cover the same people, closed ledgers included.

    Each ledger has its own privacy budget, so two such ledgers could spend two budgets on the same people. Ledgers that
    are not assigned to an organisation yet are not compared.

    Args:
        connection: connection to read on.

    Returns:
        A report on each group of two or more ledgers; empty if there is none.
    """
    columns = [LEDGERS.c[name] for name in ("id", "organisation", "dataset", "dataset_key", "block_key")]
    query = select(*columns, _IS_OPEN.label("is_open")).where(LEDGERS.c.organisation.is_not(None))

    # Only ledgers of one data set can cover the same people.
    by_dataset = defaultdict[tuple[str, str], list[_Member]](list)
    for row in connection.execute(query.order_by(LEDGERS.c.created, LEDGERS.c.id)):
        member = _Member(row.id, row.dataset, row.block_key, bool(row.is_open))
        by_dataset[row.organisation, row.dataset_key].append(member)

    reported = []
    for (organisation, _), rows in by_dataset.items():
        reported += [_collision(organisation, members) for members in _colliding_groups(rows)]
    return reported


def _collision(organisation: str, members: Sequence[_Member]) -> Collision:
    """Build the report on ledgers of an organisation that cover the same people.

    Args:
        organisation: name of the organisation.
        members: the ledgers, of one data set, the oldest first; at least one.
    """
    oldest, *_ = members
    return Collision(
        organisation=organisation,
        dataset=oldest.dataset,
        ledgers=tuple(member.id for member in members),
        open=sum(member.is_open for member in members),
    )


class _Member(NamedTuple):
    """A ledger of a data set, with the block (a named part of the data set) that it covers.

    Attributes:
        id: id of the ledger.
        dataset: name of the data set.
        block: key of the block; empty for the whole data set.
        is_open: whether runs may be committed to it.
    """

    id: str
    dataset: str
    block: str
    is_open: bool


def _colliding_groups(rows: Sequence[_Member]) -> list[list[_Member]]:
    """Group the ledgers of a data set that cover the same people.

    An open ledger of the whole data set overlaps with every block, so that all ledgers form one group. Otherwise there
    is a group for each block, because different blocks do not overlap. Closed ledgers of the whole data set are in each
    of these groups. Without any block, they are a group of their own.

    Args:
        rows: all ledgers of the data set.

    Returns:
        The groups of two or more ledgers.
    """
    whole_is_open = any(row.block == "" and row.is_open for row in rows)
    if whole_is_open:
        groups = [list(rows)]
    else:
        distinct_blocks = list(dict.fromkeys(row.block for row in rows if row.block)) or [""]
        groups = [_overlapping_with(block, rows) for block in distinct_blocks]
    return [group for group in groups if len(group) > 1]


def _overlapping_with(block: str, rows: Sequence[_Member]) -> list[_Member]:
    """Return the ledgers that cover people of a block: those of the block itself, and those of the whole data set.

    Args:
        block: key of the block; empty for ledgers of the whole data set only.
        rows: all ledgers of the data set.
    """
    return [row for row in rows if row.block in ("", block)]


def colliding(connection: Connection, ledger: LedgerRow) -> list[tuple[str, bool]]:
    """Find the other ledgers of the same organisation that cover people of a given ledger.

    A ledger covers the people of a data set, or of one block (a named part of the data set).

    Args:
        connection: connection to read on.
        ledger: row of the given ledger, which is not in the result.

    Returns:
        Pairs of an id and whether that ledger is open, the oldest first. Empty if there is no such ledger.
    """
    is_another = (LEDGERS.c.organisation == ledger.tenant) & (LEDGERS.c.id != ledger.id)
    query = select(LEDGERS.c.id, _IS_OPEN.label("is_open")).where(is_another, _covers(ledger))
    rows = connection.execute(query.order_by(LEDGERS.c.created, LEDGERS.c.id))
    return [(row.id, bool(row.is_open)) for row in rows]


def colliding_among(connection: Connection, identifiers: Collection[str]) -> set[str]:
    """Return the ids of the given ledgers that cover the same people as another ledger of their organisation.

    The other ledger need not be among the given ones, and may be closed. A ledger without a block (a named part of the
    data set) covers the whole data set.

    Args:
        connection: connection to read on.
        identifiers: ids of the ledgers to check.

    Returns:
        A subset of `identifiers`.
    """
    own = LEDGERS.alias()
    another = LEDGERS.alias()
    # Two ledgers cover the same people if their blocks are equal, or if one of them has no block: the whole data set.
    same_owner = another.c.organisation == own.c.organisation
    same_dataset = another.c.dataset_key == own.c.dataset_key
    same_block = or_(own.c.block_key == "", another.c.block_key == "", own.c.block_key == another.c.block_key)
    same_people = same_owner & same_dataset & same_block
    query = select(own.c.id).where(own.c.id.in_(identifiers), exists().where(same_people, another.c.id != own.c.id))
    return set(connection.execute(query).scalars())


def is_barred(connection: Connection, ledger: LedgerRow) -> bool:
    """Return whether a ledger of another organisation forbids a new ledger that covers the same people.

    A caller without an organisation may belong to any organisation. So a new ledger of an organisation is forbidden by
    a ledger without an organisation, and by one of another organisation that such callers have changed. A new ledger of
    such callers is forbidden by a ledger of any organisation.

    Call this after `entries.take`, because no other ledger can be added then.

    Args:
        connection: connection to read on.
        ledger: row of the new ledger.
    """
    if ledger.tenant == NAMELESS:
        is_barring = LEDGERS.c.organisation != NAMELESS
    else:
        was_changed_by_nameless = exists().where(ENTRIES.c.ledger == LEDGERS.c.id, ENTRIES.c.tenant == NAMELESS)
        is_barring = _is_free() | ((LEDGERS.c.organisation != ledger.tenant) & was_changed_by_nameless)
    query = select(LEDGERS.c.id).where(is_barring, _covers(ledger)).limit(1)
    return connection.execute(query).scalar_one_or_none() is not None


def organisations_of(connection: Connection, identifiers: list[str]) -> set[str | None]:
    """Return the names of the organisations that own the given ledgers.

    Args:
        connection: connection to read on.
        identifiers: ids of the ledgers.

    Returns:
        The names. None is among them if a ledger has no organisation yet.
    """
    query = select(LEDGERS.c.organisation).where(LEDGERS.c.id.in_(identifiers))
    return set(connection.execute(query).scalars())


def find_misplaced(
    connection: Connection, *, identifiers: Collection[str] | None = None, organisation: str | None = None
) -> list[str]:
    """Find ledgers with a row that was changed outside the service.

    A ledger that an organisation opened must still belong to it. Its search keys must be those that the names of its
    data set and block give.

    Args:
        connection: connection to read on.
        identifiers: ids of ledgers; None means any.
        organisation: owner of the ledgers, now or at their opening; None means any.

    Returns:
        The ids of the changed ledgers, in increasing order.
    """
    # Python checks the keys, because SQL cannot compute them from the names.
    names = ("id", "tenant", "organisation", "dataset", "dataset_key", "block", "block_key")
    query = select(*(LEDGERS.c[name] for name in names)).order_by(LEDGERS.c.id)
    if identifiers is not None:
        query = query.where(LEDGERS.c.id.in_(identifiers))
    if organisation is not None:
        query = query.where((LEDGERS.c.organisation == organisation) | (LEDGERS.c.tenant == opened_for(organisation)))
    return [row.id for row in connection.execute(query) if not _is_in_place(row)]


def _is_in_place(row: Row[Any]) -> bool:
    """Return whether the search keys of a ledger fit its names, and its owner fits the organisation that opened it.

    A ledger that an organisation opened must belong to it. Any organisation may own a ledger that callers without an
    organisation opened, or that an earlier version of the service opened.

    Args:
        row: id, organisation, names and keys of the ledger; `tenant` says who opened it.
    """
    opened_for_nameless = opened_for(NAMELESS)  # also the prefix of all values of the present version
    of_earlier_version = not row.tenant.startswith(opened_for_nameless)
    opened_for_owner = opened_for(row.organisation or NAMELESS)
    has_right_owner = of_earlier_version or row.tenant in (opened_for_nameless, opened_for_owner)
    has_right_keys = row.dataset_key == key_of(row.dataset) and row.block_key == key_of(row.block)
    return has_right_owner and has_right_keys


def opened_for(organisation: str) -> str:
    """Return the value of the column `tenant` in ledgers that an organisation opened.

    In ledgers of earlier versions this column has the name of an API key, which never contains a slash. A unique
    constraint covers it together with data set and block, and SQLite cannot drop the constraint. So the value has a
    prefix: an organisation can then open a ledger even if a key of the same name opened one before.

    Args:
        organisation: name of the organisation.

    Returns:
        The text `organisation/` followed by the name.
    """
    return f"organisation/{organisation}"


def names_of(connection: Connection, organisation: str) -> list[tuple[str, str]]:
    """Return the data sets and blocks (named parts of a data set) of all ledgers of an organisation.

    Args:
        connection: connection to read on.
        organisation: name of the organisation.

    Returns:
        Distinct pairs of names as they were written, in no particular order. The block is empty in ledgers of a whole
        data set.
    """
    wanted = select(LEDGERS.c.dataset, LEDGERS.c.block).where(LEDGERS.c.organisation == organisation).distinct()
    return [(row.dataset, row.block) for row in connection.execute(wanted)]


def entries_of(organisation: str) -> ColumnElement[bool]:
    """Return the SQL condition that a log entry belongs to a ledger of an organisation."""
    return ENTRIES.c.ledger.in_(select(LEDGERS.c.id).where(LEDGERS.c.organisation == organisation))


def _is_free() -> ColumnElement[bool]:
    """Return the SQL condition that a ledger has no organisation, or the nameless one."""
    return or_(LEDGERS.c.organisation.is_(None), LEDGERS.c.organisation == NAMELESS)


def _covers(ledger: LedgerRow) -> ColumnElement[bool]:
    """Return the SQL condition that a ledger covers people of a given ledger.

    It covers some of them if both ledgers are of one data set, and are of the same block or one of the whole data set.

    Args:
        ledger: row of the given ledger. Its block is empty if it covers the whole data set.

    Returns:
        A condition on the columns of the table of ledgers. It holds for the given ledger itself, too.
    """
    is_of_dataset = LEDGERS.c.dataset_key == key_of(ledger.dataset)
    block_key = key_of(ledger.block)
    if not block_key:
        return is_of_dataset
    return is_of_dataset & or_(LEDGERS.c.block_key == block_key, LEDGERS.c.block_key == "")

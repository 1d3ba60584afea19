"""Ledgers as rows: added, loaded as a whole, and changed by the difference of two states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, Table, Update, bindparam, exists, insert, select, tuple_, update

from epsilond.accountants.json_types import JsonRecord
from epsilond.ledgers.store import entries
from epsilond.ledgers.store.names import key_of
from epsilond.ledgers.store.owners import opened_for
from epsilond.ledgers.store.records import ItemRow, LedgerRow, PartRow
from epsilond.ledgers.store.tables import HOLDINGS, ITEMS, LEDGERS, SLOTS
from epsilond.ledgers.store.transactions import Unknown, change_rows, try_insert

_CHANGING = ("status", "sealed", "conditional", "contradicted", "approval_from")
_OWN = ("id", "dataset", "block", "name", "record", "created", *_CHANGING, "version")
_LOADED = (*(LEDGERS.c[name] for name in _OWN), LEDGERS.c.organisation.label("tenant"))
_FIXED = ("id", "tenant", "dataset", "block", "name", "record", "created", "version")
_COUNTS = ("planned", "reserved", "committed", "credit")
_AMOUNTS = ("capacity", "used", "held")
_OWN_CHANGE = (
    update(LEDGERS)
    .where(LEDGERS.c.id == bindparam("_id"), LEDGERS.c.version == bindparam("_version"))
    .values(version=LEDGERS.c.version + 1, **{name: bindparam(name) for name in _CHANGING})
)


def _conditional_update(table: Table, keys: Sequence[str], values: Sequence[str]) -> Update:
    """Build an SQL update that changes columns of a row only if these still have their earlier values.

    The parameters of the statement are the new values, by the names of the columns. The keys of the row and the earlier
    values are parameters too, with a leading underscore in their names.

    Args:
        table: the table.
        keys: columns that identify the row.
        values: columns to change.

    Returns:
        The statement with named parameters. It changes no row if an earlier value differs.
    """
    conditions = [table.c[name] == bindparam(f"_{name}") for name in (*keys, *values)]
    return update(table).where(*conditions).values({name: bindparam(name) for name in values})


_PART_CHANGE = _conditional_update(SLOTS, ("ledger", "kind", "part"), _AMOUNTS)
_ITEM_CHANGE = _conditional_update(ITEMS, ("ledger", "name"), _COUNTS)


class BlockTaken(Exception):
    """The tenant has a ledger, open or closed, for this block of this data set. The message is that ledger's id."""


def add(connection: Connection, ledger: LedgerRow, *, opened_by: str | None = None) -> None:
    """Store a new ledger. In the transaction, call this before `entries.take`, which makes other writers wait.

    Args:
        connection: connection of a transaction that writes.
        ledger: the ledger, with version 0.
        opened_by: name of the caller who opens it; None if callers have no names.

    Raises:
        BlockTaken: the block of data has a ledger already, open or closed.
        ValueError: the version is not 0.
    """
    if ledger.version != 0:
        raise ValueError("a new ledger has version 0")
    values = _column_values(ledger, _OWN) | {
        "tenant": opened_for(ledger.tenant),
        "organisation": ledger.tenant,
        "opened_by": ledger.tenant if opened_by is None else opened_by,
        "dataset_key": key_of(ledger.dataset),
        "block_key": key_of(ledger.block),
    }
    if not try_insert(connection, insert(LEDGERS).values(values)):
        # A constraint of the table allows one ledger for each block.
        present_id = of_block(connection, ledger.tenant, ledger.dataset, ledger.block)
        raise BlockTaken(present_id or "")

    for position, part in enumerate(ledger.parts):
        connection.execute(insert(SLOTS).values(ledger=ledger.id, position=position, **vars(part)))
    for position, item in enumerate(ledger.items):
        connection.execute(insert(ITEMS).values(ledger=ledger.id, position=position, **vars(item)))


def load(connection: Connection, *identifiers: str, tenant: str | None = None) -> dict[str, LedgerRow]:
    """Load ledgers from the database, with their budgets (slots), plan items and contradictions, by their ids.

    The rows of a ledger are consistent only in a transaction of `looking` or `moving`. Otherwise some may be from
    before a change and some from after it. The version is read first, so that a later comparison of it shows this.

    Args:
        connection: connection to read on.
        identifiers: ids of the ledgers.
        tenant: required owner; None means any. A ledger of another owner is not read.

    Returns:
        The rows of each ledger, by its id.

    Raises:
        Unknown: there is no such ledger.
    """
    query = select(*_LOADED).where(LEDGERS.c.id.in_(identifiers))
    if tenant is not None:
        query = query.where(LEDGERS.c.organisation == tenant)
    rows = {row["id"]: LedgerRow(**row) for row in connection.execute(query).mappings()}
    for identifier in identifiers:
        if identifier not in rows:
            raise Unknown(identifier)

    parts = _load_parts(connection, identifiers)
    items = _load_items(connection, identifiers)
    released = _load_released(connection, identifiers)
    contradictions = _load_contradictions(connection, [row.id for row in rows.values() if row.contradicted])
    loaded = {}
    for identifier in identifiers:
        loaded[identifier] = replace(
            rows[identifier],
            contradictions=tuple(contradictions[identifier]),
            parts=tuple(parts[identifier]),
            items=tuple(items[identifier]),
            released=identifier in released,
        )
    return loaded


def _load_released(connection: Connection, identifiers: Sequence[str]) -> set[str]:
    """Return the ids of those ledgers in which a run was ever committed, so that an output may have been released.

    Args:
        connection: connection to read on.
        identifiers: ids of the ledgers.

    Returns:
        A subset of `identifiers`.
    """
    has_commit = exists().where(HOLDINGS.c.ledger == LEDGERS.c.id, HOLDINGS.c.committed > 0)
    query = select(LEDGERS.c.id).where(LEDGERS.c.id.in_(identifiers), has_commit)
    return set(connection.execute(query).scalars())


def _load_parts(connection: Connection, identifiers: Collection[str]) -> defaultdict[str, list[PartRow]]:
    """Load the amounts of the slots of several ledgers with one query. A slot is a part of a ledger's budget.

    Args:
        connection: connection to read on.
        identifiers: ids of the ledgers.

    Returns:
        The rows of each ledger in their order, by its id. A ledger without slots gets an empty list.
    """
    parts = defaultdict[str, list[PartRow]](list)
    query = select(SLOTS).where(SLOTS.c.ledger.in_(identifiers)).order_by(SLOTS.c.position)
    for row in connection.execute(query).mappings():
        members = {name: row[name] for name in PartRow.__dataclass_fields__}
        parts[row["ledger"]].append(PartRow(**members))
    return parts


def _load_items(connection: Connection, identifiers: Collection[str]) -> defaultdict[str, list[ItemRow]]:
    """Load the items of the plans (mechanisms with numbers of runs) of several ledgers with one query.

    Args:
        connection: connection to read on.
        identifiers: ids of the ledgers.

    Returns:
        The rows of each ledger in their order, by its id. A ledger without items gets an empty list.
    """
    items = defaultdict[str, list[ItemRow]](list)
    query = select(ITEMS).where(ITEMS.c.ledger.in_(identifiers)).order_by(ITEMS.c.position)
    for row in connection.execute(query).mappings():
        members = {name: row[name] for name in ItemRow.__dataclass_fields__}
        items[row["ledger"]].append(ItemRow(**members))
    return items


def write(connection: Connection, before: LedgerRow, after: LedgerRow) -> LedgerRow:
    """Write the changes of one ledger, and return it with its next version. Errors are those of `write_all`.

    Args:
        connection: connection of a transaction that has locked the ledger.
        before: the ledger as it was read.
        after: the ledger with its changes.

    Returns:
        The rows of the ledger, with its next version.
    """
    (written,) = write_all(connection, [(before, after)])
    return written


def write_all(connection: Connection, changes: Sequence[tuple[LedgerRow, LedgerRow]]) -> list[LedgerRow]:
    """Write changed ledgers to the database, and return them with their next versions.

    A slot is a budget, with amounts for its parts. An item of the plan is a mechanism with numbers of runs.

    Args:
        connection: connection of a transaction that has locked the ledgers.
        changes: pairs of a ledger as it was loaded at the locked version, and the ledger with its changes. A row is
            changed only if it still is as before, so that a writer without the lock changes nothing.

    Returns:
        The rows of the ledgers with their next versions, in the given order.

    Raises:
        Again: a row is not as before, because another transaction changed it.
        ValueError: a member that must not change differs, a slot or an item is missing, or a slot is new.
        IntegrityError: a constraint rejects the change; the transaction cannot be used any more.
    """
    # Collect the changes by table, so that each table is written with one statement.
    ledger_changes: list[JsonRecord] = []
    part_changes: list[JsonRecord] = []
    item_changes: list[JsonRecord] = []
    new_items: list[JsonRecord] = []
    for before, after in changes:
        if _column_values(before, _FIXED) != _column_values(after, _FIXED):
            raise ValueError("what a ledger was opened with never changes, and its version only here")
        ledger_changes.append({"_id": before.id, "_version": before.version, **_column_values(after, _CHANGING)})
        part_changes += _changed_parts(before, after)
        item_changes += _changed_items(before, after)
        item_count = len(before.items)
        for position, item in enumerate(after.items[item_count:], start=item_count):
            new_items.append({"ledger": before.id, "position": position, **vars(item)})

    change_rows(connection, _OWN_CHANGE, ledger_changes, "ledger")
    change_rows(connection, _PART_CHANGE, part_changes, "ledger")
    change_rows(connection, _ITEM_CHANGE, item_changes, "ledger")
    if new_items:
        connection.execute(insert(ITEMS), new_items)
    return [replace(after, version=before.version + 1) for before, after in changes]


def identifiers(connection: Connection) -> list[str]:
    """Return the ids of all ledgers, of any owner, in increasing order.

    Args:
        connection: connection to read on.

    Returns:
        The ids.
    """
    return list(connection.execute(select(LEDGERS.c.id).order_by(LEDGERS.c.id)).scalars())


def of_block(connection: Connection, tenant: str, dataset: str, block: str) -> str | None:
    """Find the ledger of a block, that is, of a part of a data set; the first one if there are several.

    Names are compared without regard to case and to spaces at their ends.

    Args:
        connection: connection to read on.
        tenant: owner of the ledger.
        dataset: name of the data set.
        block: name of the block; empty for the whole data set.

    Returns:
        The id. None if the block has no ledger.
    """
    of_dataset = (LEDGERS.c.organisation == tenant) & (LEDGERS.c.dataset_key == key_of(dataset))
    query = select(LEDGERS.c.id).where(of_dataset, LEDGERS.c.block_key == key_of(block))
    return connection.execute(query.order_by(LEDGERS.c.copy).limit(1)).scalar_one_or_none()


def overlapping(connection: Connection, ledger: LedgerRow) -> str | None:
    """Find a ledger that has records in common with a new one, because one of them covers the whole data set.

    Call this after `entries.take`, because no other ledger can be added then.

    Args:
        connection: connection of the transaction.
        ledger: rows of the new ledger.

    Returns:
        The id of such a ledger, or None if no ledger overlaps.
    """
    is_of_dataset = (LEDGERS.c.organisation == ledger.tenant) & (LEDGERS.c.dataset_key == key_of(ledger.dataset))
    # The empty block means the whole data set.
    overlaps = LEDGERS.c.block_key == "" if ledger.block else LEDGERS.c.block_key != ""
    query = select(LEDGERS.c.id).where(is_of_dataset, overlaps)
    return connection.execute(query.limit(1)).scalar_one_or_none()


def page(connection: Connection, tenant: str, *, limit: int, after: LedgerRow | None = None) -> list[LedgerRow]:
    """Return a tenant's ledgers in the order in which they were opened.

    Ledgers that were opened at the same time are ordered by id, so that no page repeats or skips one.

    Args:
        connection: connection to read on.
        tenant: owner of the ledgers.
        limit: largest number of ledgers.
        after: ledger after which the list starts; None means from the first.

    Returns:
        The ledgers of the page.
    """
    query = select(LEDGERS.c.id).where(LEDGERS.c.organisation == tenant)
    if after is not None:
        query = query.where(tuple_(LEDGERS.c.created, LEDGERS.c.id) > tuple_(after.created, after.id))
    ids = connection.execute(query.order_by(LEDGERS.c.created, LEDGERS.c.id).limit(limit)).scalars()
    return list(load(connection, *ids).values())


def _load_contradictions(connection: Connection, identifiers: list[str]) -> defaultdict[str, list[bytes]]:
    """Load the log entries with observations that runs differed from their mechanisms, by the ledgers' ids.

    Args:
        connection: connection to read on.
        identifiers: ids of the contradicted ledgers. Without any, as is usual, no query is made.

    Returns:
        The bytes of the entries of each ledger, in the order of the log. A ledger without such entries gets an empty
        list.
    """
    leaves = defaultdict[str, list[bytes]](list)
    if not identifiers:
        return leaves
    for row in entries.of_rare_kind(connection, identifiers, "contradicted"):
        if row.ledger is not None:
            leaves[row.ledger].append(row.leaf)
    return leaves


def _changed_parts(before: LedgerRow, after: LedgerRow) -> Iterator[JsonRecord]:
    """Yield the parameters of an SQL update for each part of a ledger's slots (budgets) with changed amounts.

    The update changes a row only if it still has the earlier values.

    Args:
        before: rows of the ledger as they are in the database.
        after: rows to write, with the same parts in the same order.

    Yields:
        For each changed part, the keys of its row, its earlier amounts and its new amounts.

    Raises:
        ValueError: a part is missing or new.
    """
    names_before = [(part.kind, part.part) for part in before.parts]
    names_after = [(part.kind, part.part) for part in after.parts]
    if names_before != names_after:
        raise ValueError("the parts of a ledger's slots are those it was opened with")
    for old_part, part in zip(before.parts, after.parts, strict=True):
        if part != old_part:
            key = {"_ledger": before.id, "_kind": part.kind, "_part": part.part}
            yield key | _column_values(old_part, _AMOUNTS, "_") | _column_values(part, _AMOUNTS)


def _changed_items(before: LedgerRow, after: LedgerRow) -> Iterator[JsonRecord]:
    """Yield the parameters of an SQL update for each item of a ledger's plan with changed numbers of runs.

    The update changes a row only if it still has the earlier values.

    Args:
        before: rows of the ledger before the change.
        after: rows of the ledger after the change. New items are ignored here.

    Yields:
        For each changed item, the keys of its row, its earlier numbers and its new numbers.

    Raises:
        ValueError: an item is missing, or a new one does not come after the others.
    """
    if _fixed_members(before.items) != _fixed_members(after.items[: len(before.items)]):
        raise ValueError("the items of a ledger's plan stay, and new ones come after them")
    for old_item, item in zip(before.items, after.items, strict=False):
        if item != old_item:
            key = {"_ledger": before.id, "_name": item.name}
            yield key | _column_values(old_item, _COUNTS, "_") | _column_values(item, _COUNTS)


def _column_values(row: LedgerRow | PartRow | ItemRow, names: Iterable[str], prefix: str = "") -> JsonRecord:
    """Return the values of some columns of a row, by the names of the columns with a prefix.

    Args:
        row: the row.
        names: names of the columns.
        prefix: text before each name in the result.
    """
    return {f"{prefix}{name}": getattr(row, name) for name in names}


def _fixed_members(items: Iterable[ItemRow]) -> list[tuple[str, str, str | None]]:
    """Return for each item of a ledger's plan the members that never change: its name, its mechanism and its job.

    Args:
        items: rows of the items.
    """
    return [(item.name, item.spec, item.job) for item in items]

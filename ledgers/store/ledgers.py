"""Ledgers as rows: added, loaded whole, and brought from one state to the next by what differs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, Update, exists, insert, select, tuple_, update

from epsilond.ledgers.store.names import key_of
from epsilond.ledgers.store.records import ItemRow, LedgerRow, PartRow
from epsilond.ledgers.store.tables import ENTRIES, HOLDINGS, ITEMS, LEDGERS, SLOTS
from epsilond.ledgers.store.transactions import Again, Unknown, inserted

_CHANGING = ("status", "sealed", "conditional", "contradicted", "approval_from")
_OWN = ("id", "dataset", "block", "name", "record", "created", *_CHANGING, "version")
_LOADED = (*(LEDGERS.c[name] for name in _OWN), LEDGERS.c.organisation.label("tenant"))
_FIXED = ("id", "tenant", "dataset", "block", "name", "record", "created", "version")
_COUNTS = ("planned", "reserved", "committed", "credit")
_AMOUNTS = ("capacity", "used", "held")
_OPENED_FOR: Final = "organisation/"
"""Beginning of `tenant` in rows of ledgers of organisations; no name of a key has the slash.

Rows of earlier versions have a key's name there. A unique constraint has it with data set and block, which SQLite
cannot drop. Without the beginning, an organisation with the name of a former key is refused a data set of that key.
"""


class BlockTaken(Exception):
    """This tenant has a ledger for this block of this dataset, open or closed; its text is that ledger's id."""


def add(connection: Connection, ledger: LedgerRow, *, opened_by: str | None = None) -> None:
    """Keep a new ledger, at version 0. Call it before the counter of entries is taken.

    Args:
        connection: of a transaction that writes.
        ledger: the ledger.
        opened_by: name of the caller who opens it; None where the tenant has no callers with names.

    Raises:
        BlockTaken: the block has one; a closed one is not replaced.
        ValueError: it has another version than 0.
    """
    if ledger.version != 0:
        raise ValueError("a new ledger has version 0")
    values = {name: getattr(ledger, name) for name in _OWN} | {
        "tenant": f"{_OPENED_FOR}{ledger.tenant}",
        "organisation": ledger.tenant,
        "opened_by": ledger.tenant if opened_by is None else opened_by,
        "dataset_key": key_of(ledger.dataset),
        "block_key": key_of(ledger.block),
    }
    if not inserted(connection, insert(LEDGERS).values(values)):
        raise BlockTaken(of_block(connection, ledger.tenant, ledger.dataset, ledger.block) or "")
    for position, part in enumerate(ledger.parts):
        connection.execute(insert(SLOTS).values(ledger=ledger.id, position=position, **vars(part)))
    for position, item in enumerate(ledger.items):
        connection.execute(insert(ITEMS).values(ledger=ledger.id, position=position, **vars(item)))


def load(connection: Connection, *identifiers: str, tenant: str | None = None) -> dict[str, LedgerRow]:
    """Return these ledgers, whole.

    Args:
        connection: to read on.
        identifiers: ids of the ledgers.
        tenant: required owner; None means any. A ledger of another owner is not read.

    Outside `looking` and `moving` the rows of one may be of two moments: the version is read first, so that a move that
    compares it finds out.

    Raises:
        Unknown: there is no such ledger.
    """
    own = select(*_LOADED).where(LEDGERS.c.id.in_(identifiers))
    if tenant is not None:
        own = own.where(LEDGERS.c.organisation == tenant)
    found = {row["id"]: LedgerRow(**row) for row in connection.execute(own).mappings()}
    for identifier in identifiers:
        if identifier not in found:
            raise Unknown(identifier)
    parts = defaultdict[str, list[PartRow]](list)
    for row in connection.execute(
        select(SLOTS).where(SLOTS.c.ledger.in_(identifiers)).order_by(SLOTS.c.position)
    ).mappings():
        parts[row["ledger"]].append(PartRow(**{name: row[name] for name in PartRow.__dataclass_fields__}))
    items = defaultdict[str, list[ItemRow]](list)
    for row in connection.execute(
        select(ITEMS).where(ITEMS.c.ledger.in_(identifiers)).order_by(ITEMS.c.position)
    ).mappings():
        items[row["ledger"]].append(ItemRow(**{name: row[name] for name in ItemRow.__dataclass_fields__}))
    committed = exists().where(HOLDINGS.c.ledger == LEDGERS.c.id, HOLDINGS.c.committed > 0)
    released = set(connection.execute(select(LEDGERS.c.id).where(LEDGERS.c.id.in_(identifiers), committed)).scalars())
    contradictions = _contradictions(connection, [row.id for row in found.values() if row.contradicted])
    return {
        identifier: replace(
            found[identifier],
            contradictions=tuple(contradictions[identifier]),
            parts=tuple(parts[identifier]),
            items=tuple(items[identifier]),
            released=identifier in released,
        )
        for identifier in identifiers
    }


def write(connection: Connection, before: LedgerRow, after: LedgerRow) -> LedgerRow:
    """Write what differs, and add one to the version; answers the ledger as it is then.

    `before` is what was loaded at the version that is locked. Each row is changed only from what `before` says it is,
    so that a writer who did not lock changes nothing.

    Raises:
        Again: a row is not what `before` says.
        ValueError: what never changes differs, or a slot or an item is gone.
        IntegrityError: a constraint refuses; the transaction is of no more use.
    """
    if any(getattr(before, name) != getattr(after, name) for name in _FIXED):
        raise ValueError("what a ledger was opened with never changes, and its version only here")
    own = update(LEDGERS).where(LEDGERS.c.id == before.id, LEDGERS.c.version == before.version)
    own = own.values(version=before.version + 1, **{name: getattr(after, name) for name in _CHANGING})
    _change(connection, own, before.id)
    _write_parts(connection, before, after)
    _write_items(connection, before, after)
    return replace(after, version=before.version + 1)


def of_block(connection: Connection, tenant: str, dataset: str, block: str) -> str | None:
    """Return the id of the first ledger of a block, if it has one."""
    of_dataset = (LEDGERS.c.organisation == tenant) & (LEDGERS.c.dataset_key == key_of(dataset))
    wanted = select(LEDGERS.c.id).where(of_dataset, LEDGERS.c.block_key == key_of(block))
    return connection.execute(wanted.order_by(LEDGERS.c.copy).limit(1)).scalar_one_or_none()


def overlapping(connection: Connection, ledger: LedgerRow) -> str | None:
    """Return the id of a ledger that overlaps this ledger: one is of a block, the other of the whole dataset.

    Call it after the counter of entries is taken: then no other is being added.
    """
    of_other_kind = LEDGERS.c.block_key != "" if ledger.block == "" else LEDGERS.c.block_key == ""
    of_dataset = (LEDGERS.c.organisation == ledger.tenant) & (LEDGERS.c.dataset_key == key_of(ledger.dataset))
    wanted = of_dataset & of_other_kind
    return connection.execute(select(LEDGERS.c.id).where(wanted).limit(1)).scalar_one_or_none()


def page(connection: Connection, tenant: str, *, limit: int, after: LedgerRow | None = None) -> list[LedgerRow]:
    """Return a tenant's ledgers in the order in which they were opened, starting behind `after`."""
    wanted = select(LEDGERS.c.id).where(LEDGERS.c.organisation == tenant)
    if after is not None:
        wanted = wanted.where(tuple_(LEDGERS.c.created, LEDGERS.c.id) > tuple_(after.created, after.id))
    found = connection.execute(wanted.order_by(LEDGERS.c.created, LEDGERS.c.id).limit(limit)).scalars()
    return list(load(connection, *found).values())


def _contradictions(connection: Connection, identifiers: list[str]) -> defaultdict[str, list[bytes]]:
    """Return the entries that contradict runs of ledgers, by the ledgers' ids."""
    leaves = defaultdict[str, list[bytes]](list)
    if not identifiers:
        return leaves
    wanted = (ENTRIES.c.ledger.in_(identifiers)) & (ENTRIES.c.kind == "contradicted")
    for row in connection.execute(select(ENTRIES.c.ledger, ENTRIES.c.leaf).where(wanted).order_by(ENTRIES.c.seq)):
        leaves[row.ledger].append(row.leaf)
    return leaves


def _write_parts(connection: Connection, before: LedgerRow, after: LedgerRow) -> None:
    kept = {(part.kind, part.part): part for part in before.parts}
    if [*kept] != [(part.kind, part.part) for part in after.parts]:
        raise ValueError("the parts of a ledger's slots are those it was opened with")
    for part in after.parts:
        was = kept[part.kind, part.part]
        if part != was:
            same = SLOTS.c.ledger == before.id, SLOTS.c.kind == part.kind, SLOTS.c.part == part.part
            unchanged = (SLOTS.c[name] == getattr(was, name) for name in _AMOUNTS)
            amounts = {name: getattr(part, name) for name in _AMOUNTS}
            _change(connection, update(SLOTS).where(*same, *unchanged).values(amounts), before.id)


def _write_items(connection: Connection, before: LedgerRow, after: LedgerRow) -> None:
    if _names(before.items) != _names(after.items[: len(before.items)]):
        raise ValueError("the items of a ledger's plan stay, and new ones come after them")
    for was, item in zip(before.items, after.items, strict=False):
        if item != was:
            same = ITEMS.c.ledger == before.id, ITEMS.c.name == item.name
            unchanged = (ITEMS.c[name] == getattr(was, name) for name in _COUNTS)
            counts = {name: getattr(item, name) for name in _COUNTS}
            _change(connection, update(ITEMS).where(*same, *unchanged).values(counts), before.id)
    for position, item in enumerate(after.items[len(before.items) :], start=len(before.items)):
        connection.execute(insert(ITEMS).values(ledger=before.id, position=position, **vars(item)))


def _names(items: Iterable[ItemRow]) -> list[tuple[str, str, str | None]]:
    return [(item.name, item.spec, item.job) for item in items]


def _change(connection: Connection, change: Update, ledger: str) -> None:
    if connection.execute(change).rowcount != 1:
        raise Again(ledger)

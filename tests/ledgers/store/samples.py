"""Ledgers for tests, and the smallest move: it spends an amount of a slot, and leaves an entry."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from uuid import uuid4

from epsilond.ledgers.mathematics.amounts import EXACT
from epsilond.ledgers.store import entries, keys, ledgers
from epsilond.ledgers.store.nodes import StoredNodes
from epsilond.ledgers.store.records import (
    EntryRow,
    HoldingRow,
    ItemRow,
    KeptAnswer,
    LedgerRow,
    PartRow,
    ReservationRow,
)
from epsilond.ledgers.store.transactions import Again, looking, moving
from epsilond.storage.transactions import Database

CENT = Decimal("0.01")


def ledger(identifier: str = "a", capacity: str = "1", **fields) -> LedgerRow:
    """One with a Gaussian slot and a plan."""
    chosen = {
        "tenant": "t",
        "dataset": f"of {identifier}",
        "name": identifier,
        "record": '{"target":{"epsilon":"1"}}',
        "created": 10.5,
        "parts": (
            PartRow(kind="gdp", part="mu_squared", capacity=Decimal(capacity)),
            PartRow(kind="gdp", part="eta", capacity=Decimal("1e-9")),
        ),
        "items": (ItemRow(name="training", spec='{"kind":"gaussian"}', planned=10),),
    }
    return LedgerRow(id=identifier, **(chosen | fields))


def kept(database: Database, *made: LedgerRow) -> None:
    """Open ledgers."""
    with moving(database, {}) as connection:
        for each in made:
            ledgers.add(connection, each)
        enter(connection, *(each.id for each in made), kind="open")


def loaded(database: Database, identifier: str = "a") -> LedgerRow:
    """A ledger as it is."""
    with looking(database) as connection:
        return ledgers.load(connection, identifier)[identifier]


def enter(connection, *identifiers: str, kind: str = "commit", body: str = "") -> int:
    """Append an entry for each of these ledgers with its leaf in the tree; answers the first one's number."""
    first = entries.take(connection, len(identifiers))
    made = [
        EntryRow(seq=seq, at=10.5, tenant="t", kind=kind, ledger=identifier, leaf=f"{seq} {kind} {body}".encode())
        for seq, identifier in enumerate(identifiers, start=first)
    ]
    entries.append(connection, made)
    StoredNodes(connection).write({(0, entry.seq): entries.digest(entry.leaf) for entry in made})
    return first


def spent(row: LedgerRow, amount: Decimal = CENT) -> LedgerRow:
    """The ledger once so much of its first part is used."""
    part = row.parts[0]
    return replace(
        row, parts=(replace(part, used=EXACT.add(part.used, amount), held=EXACT.add(part.held, amount)), *row.parts[1:])
    )


def fits(row: LedgerRow, amount: Decimal = CENT) -> bool:
    """Whether so much of its first part is free."""
    return EXACT.add(row.parts[0].held, amount) <= row.parts[0].capacity


def spend(database: Database, *identifiers: str, key: str | None = None, amount: Decimal = CENT) -> int | None:
    """Spend in all of these ledgers or in none: the first entry's number, or None if one has no room.

    As a move is: read outside, judge, lock, compare, write.
    """
    key = key or uuid4().hex
    while True:
        with looking(database) as connection:
            before = ledgers.load(connection, *identifiers)
            found = keys.find(connection, "t", key)
        if found is not None:
            return int(found.answer)
        if not all(fits(each, amount) for each in before.values()):
            return None
        try:
            with moving(database, {each.id: each.version for each in before.values()}) as connection:
                for each in before.values():
                    ledgers.write(connection, each, spent(each, amount))
                first = enter(connection, *before, body=str(amount))
                keys.keep(connection, [answer(key, str(first).encode())])
                return first
        except Again:
            continue


def answer(key: str, text: bytes = b"0", fingerprint: str = "f") -> KeptAnswer:
    """An answer under a key."""
    return KeptAnswer(tenant="t", key=key, fingerprint=fingerprint, answer=text, at=10.5)


def reservation(identifier: str = "r", *of: str, **fields) -> ReservationRow:
    """Of ten runs in each of these ledgers."""
    chosen = {
        "tenant": "t",
        "created": 10.5,
        "expires": 20.5,
        "holdings": tuple(HoldingRow(ledger=each, item="training", spec="{}", count=10) for each in of or ("a",)),
    }
    return ReservationRow(id=identifier, **(chosen | fields))

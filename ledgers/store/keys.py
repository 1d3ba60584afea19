"""Idempotency keys as rows, kept for ever: a ledger that forgets a key debits a retry twice."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from epsilond.ledgers.store.records import KeptAnswer
from epsilond.ledgers.store.tables import KEYS
from epsilond.ledgers.store.transactions import Again

_COLUMNS = tuple(KEYS.c[name] for name in KeptAnswer.__dataclass_fields__)


def find(connection: Connection, tenant: str, key: str) -> KeptAnswer | None:
    """Return the answer kept under a tenant's key, or None.

    Compare its fingerprint with the request's. Call it again once the ledgers are locked, because an equal request may
    have come first.

    Args:
        connection: connection to read on.
        tenant: owner of the key.
        key: idempotency key.
    """
    wanted = select(*_COLUMNS).where(KEYS.c.tenant == tenant, KEYS.c.key == key)
    row = connection.execute(wanted).mappings().one_or_none()
    return None if row is None else KeptAnswer(**row)


def find_taken(connection: Connection, names: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those of these keys, each with its tenant, that have a kept answer."""
    wanted = select(KEYS.c.tenant, KEYS.c.key).where(tuple_(KEYS.c.tenant, KEYS.c.key).in_(list(names)))
    return {(row.tenant, row.key) for row in connection.execute(wanted)}


def keep(connection: Connection, answers: Sequence[KeptAnswer]) -> None:
    """Keep answers in the transaction of the moves. Call it with the counter of entries taken.

    Raises:
        Again: a key was taken in between; leave the transaction, and the next try finds its answer.
    """
    try:
        connection.execute(insert(KEYS), [vars(answer) for answer in answers])
    except IntegrityError:
        raise Again(answers[0].key) from None

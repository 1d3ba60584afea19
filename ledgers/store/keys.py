"""Idempotency keys as rows, kept for ever: a ledger that forgets a key debits a retry twice."""

from __future__ import annotations

from sqlalchemy import Connection, insert, select
from sqlalchemy.exc import IntegrityError

from epsilond.ledgers.store.records import KeptAnswer
from epsilond.ledgers.store.tables import KEYS
from epsilond.ledgers.store.transactions import Again

_COLUMNS = tuple(KEYS.c[name] for name in KeptAnswer.__dataclass_fields__)


def find(connection: Connection, tenant: str, key: str) -> KeptAnswer | None:
    """Return the answer kept under a tenant's key, if any. Compare its fingerprint with the request's.

    Ask once more when the ledgers are locked: an equal request may have come first.
    """
    wanted = select(*_COLUMNS).where(KEYS.c.tenant == tenant, KEYS.c.key == key)
    row = connection.execute(wanted).mappings().one_or_none()
    return None if row is None else KeptAnswer(**row)


def keep(connection: Connection, answer: KeptAnswer) -> None:
    """Keep an answer in the transaction of what it tells of. Call it with the counter of entries taken.

    Raises:
        Again: the key was taken in between; leave the transaction, and the next try finds its answer.
    """
    try:
        connection.execute(insert(KEYS).values(vars(answer)))
    except IntegrityError:
        raise Again(answer.key) from None

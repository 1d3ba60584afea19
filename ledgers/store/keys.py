"""Idempotency keys as rows, kept for ever: a ledger that forgets a key debits a retry twice."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, tuple_
from sqlalchemy.exc import IntegrityError

from epsilond.ledgers.store.records import KeptAnswer
from epsilond.ledgers.store.tables import KEYS
from epsilond.ledgers.store.transactions import Again

_COLUMNS = tuple(KEYS.c[name] for name in KeptAnswer.__dataclass_fields__)


@dataclass(frozen=True)
class RequestKey:
    """Idempotency key of a request, with its sender. A repeated request with the same key gets the first answer again.

    Attributes:
        tenant: organisation that owns the ledgers.
        by: name of the caller; empty if callers have no names.
        value: the key; None for a change of ledgers without a key, for example by the service itself.
        fingerprint: digest of the request, which shows whether a key is used again for another request.
    """

    tenant: str
    by: str
    value: str | None = None
    fingerprint: str = ""

    @property
    def owner(self) -> str:
        """Owner of the key, as `organisation/caller`. The name of a caller never has this form."""
        return f"{self.tenant}/{self.by}"

    @property
    def earlier_owner(self) -> str:
        """Owner under whom earlier versions stored answers: the caller's name, or the organisation if it is empty."""
        return self.by or self.tenant

    @property
    def stored_keys(self) -> set[tuple[str, str]]:
        """The key with each owner under whom the store may have its answer; empty if there is no key."""
        if self.value is None:
            return set()
        return {(self.owner, self.value), (self.earlier_owner, self.value)}


def find(connection: Connection, tenant: str, key: str) -> KeptAnswer | None:
    """Find the stored answer to an earlier request with an idempotency key.

    The caller must compare the answer's fingerprint with that of the request. It must also search again once the
    ledgers are locked, because the same request may have been answered since the first search.

    Args:
        connection: connection to read on.
        tenant: owner of the key.
        key: idempotency key.

    Returns:
        The answer with the fingerprint of its request; None if the key is new.
    """
    query = select(*_COLUMNS).where(KEYS.c.tenant == tenant, KEYS.c.key == key)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    return KeptAnswer(**row)


def find_taken(connection: Connection, names: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return those of the given idempotency keys that already have a stored answer.

    Args:
        connection: connection to read on.
        names: pairs of an owner and an idempotency key.

    Returns:
        A subset of these pairs.
    """
    query = select(KEYS.c.tenant, KEYS.c.key).where(tuple_(KEYS.c.tenant, KEYS.c.key).in_(list(names)))
    return {(row.tenant, row.key) for row in connection.execute(query)}


def keep(connection: Connection, answers: Sequence[KeptAnswer]) -> None:
    """Store the answers to requests, in the transaction that makes their changes.

    The transaction must have reserved the numbers of its log entries before, so that other writers wait.

    Args:
        connection: connection of the transaction.
        answers: at least one answer, with its key.

    Raises:
        Again: another transaction stored an answer for one of the keys. The caller must roll back and try again. It
            then finds that answer.
    """
    try:
        connection.execute(insert(KEYS), [vars(answer) for answer in answers])
    except IntegrityError:
        first_answer, *_ = answers
        raise Again(first_answer.key) from None

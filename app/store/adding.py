"""Jobs are taken in, and let go of."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import delete, update
from sqlalchemy.dialects import postgresql, sqlite

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.store.reading import Reading, keyed, one
from epsilond.app.store.record import NAMES, Record
from epsilond.app.store.tables import JOBS
from epsilond.app.store.ticks import ticks
from epsilond.storage.faults import StoreFault
from epsilond.storage.transactions import Database

GIVEN = tuple(name for name in NAMES if name not in ("sequence", "size", "queued_tick", "ended_tick", "lease_until"))


class Adding(Reading):
    """What makes jobs, and what forgets them one by one."""

    def add(self, record: Record, *, replica: str | None, lease_seconds: float) -> Record:
        """Keep a new job; answers it as kept, or else the earlier one with the same idempotency key.

        It is queued, or, if a replica is named, that replica's first attempt at once. An earlier one that was
        interrupted lets go of its key to an equal request, so that it can be posted again.

        Raises:
            StoreFault: the database cannot be used; the job is not kept.
        """
        insert = postgresql.insert if self.shared else sqlite.insert
        values = _values(self._database, record, replica, lease_seconds)
        with self._database.writing() as connection:
            if record.idempotency_key is not None:
                of_it = keyed(record.owner, record.idempotency_key) & (JOBS.c.fingerprint == record.fingerprint)
                let_go = update(JOBS).where(of_it, JOBS.c.state == "interrupted")
                connection.execute(let_go.values(idempotency_key=None))
            unless_there = (
                insert(JOBS).values(values).on_conflict_do_nothing(index_elements=["owner", "idempotency_key"])
            )
            connection.execute(unless_there)
            if record.idempotency_key is None:
                kept = one(connection, JOBS.c.id == record.id)
            else:
                kept = one(connection, keyed(record.owner, record.idempotency_key))
        if kept is None:
            raise StoreFault("what was written to its database is not there; the next try may succeed")
        return kept

    def check(self) -> None:
        """Find out whether the store would take something; costs one empty transaction.

        Raises:
            StoreFault: it would not.
        """
        with self._database.writing() as connection:
            connection.execute(update(JOBS).where(JOBS.c.sequence < 0).values(size=0))

    def remove(self, owner: str, identifier: str) -> bool:
        """Forget a job that has ended; False if this owner has none of this id.

        Raises:
            StoreFault: the database cannot be used.
        """
        with self._database.writing() as connection:
            gone = delete(JOBS).where(JOBS.c.owner == owner, JOBS.c.id == identifier, JOBS.c.ended.is_not(None))
            return connection.execute(gone).rowcount > 0


def _values(database: Database, record: Record, replica: str | None, lease_seconds: float) -> JsonRecord:
    claimed = replica is not None
    begun = replace(record, state="running" if claimed else "queued", replica=replica, attempt=int(claimed), lost=0)
    return {name: getattr(begun, name) for name in GIVEN} | {
        "size": len(record.request),
        "started": database.now() if claimed else None,
        "lease_until": database.now() + lease_seconds if claimed and database.shared else None,
        "queued_tick": ticks(database),
    }

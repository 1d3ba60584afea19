"""Jobs as they are read."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, RowMapping, func, select

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.store.record import LARGE, NAMES, UNFINISHED, Record, State
from epsilond.app.store.tables import JOBS
from epsilond.storage.transactions import Database

ALL = tuple(JOBS.c[name] for name in NAMES)
SMALL = tuple(JOBS.c[name] for name in NAMES if name not in LARGE)


class Reading:
    """What is asked of a store without changing it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def shared(self) -> bool:
        """Whether other replicas may work on it."""
        return self._database.shared

    @property
    def durable(self) -> bool:
        """Whether what is kept outlives this process."""
        return self._database.durable

    def get(self, owner: str, identifier: str, *, whole: bool = True) -> Record | None:
        """This owner's job of this id; without request, result and problem if it is not to be whole.

        Raises:
            StoreFault: the database cannot be used.
        """
        with self._database.reading() as connection:
            return one(connection, (JOBS.c.owner == owner) & (JOBS.c.id == identifier), whole=whole)

    def with_key(self, owner: str, key: str) -> Record | None:
        """The job that this owner posted with this idempotency key.

        Raises:
            StoreFault: the database cannot be used.
        """
        with self._database.reading() as connection:
            return one(connection, keyed(owner, key))

    def page(
        self,
        owner: str,
        state: State | None = None,
        kind: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[Record]:
        """This owner's newest of this state and kind, made before the one of this sequence, without large parts.

        Raises:
            StoreFault: the database cannot be used.
        """
        chosen = select(*SMALL).where(JOBS.c.owner == owner).order_by(JOBS.c.sequence.desc()).limit(limit)
        chosen = chosen if state is None else chosen.where(JOBS.c.state == state)
        chosen = chosen if kind is None else chosen.where(JOBS.c.kind == kind)
        chosen = chosen if before is None else chosen.where(JOBS.c.sequence < before)
        with self._database.reading() as connection:
            return [record_of(row) for row in connection.execute(chosen).mappings()]

    def live(self, caller: str) -> int:
        """How many jobs of this caller have not ended. Several callers are one owner where no key is asked for.

        Raises:
            StoreFault: the database cannot be used.
        """
        chosen = select(func.count()).where(JOBS.c.caller == caller, JOBS.c.state.in_(UNFINISHED))
        with self._database.reading() as connection:
            return connection.execute(chosen).scalar_one()

    def counts(self) -> dict[State, int]:
        """How many jobs there are of each state that there is one of.

        Raises:
            StoreFault: the database cannot be used.
        """
        chosen = select(JOBS.c.state, func.count().label("jobs")).group_by(JOBS.c.state)
        with self._database.reading() as connection:
            return {row.state: row.jobs for row in connection.execute(chosen)}

    def size(self) -> int:
        """Bytes that requests, results and problems hold.

        Raises:
            StoreFault: the database cannot be used.
        """
        with self._database.reading() as connection:
            return int(connection.execute(select(func.coalesce(func.sum(JOBS.c.size), 0))).scalar_one())


def one(connection: Connection, condition: ColumnElement[bool], *, whole: bool = True) -> Record | None:
    """The job that a condition is true of, if there is one."""
    row = connection.execute(select(*(ALL if whole else SMALL)).where(condition)).mappings().first()
    return None if row is None else record_of(row)


def keyed(owner: str, key: str) -> ColumnElement[bool]:
    """Whether a job is of this owner and this idempotency key."""
    return (JOBS.c.owner == owner) & (JOBS.c.idempotency_key == key)


def record_of(row: RowMapping) -> Record:
    """The job of a row; its request is empty where it was not read."""
    members: JsonRecord = {"request": b"", **row}
    return Record(**members)

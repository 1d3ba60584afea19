"""Queries of the store of jobs."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, RowMapping, func, select

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.store.record import LARGE, NAMES, UNFINISHED, Record, State
from epsilond.app.store.tables import JOBS
from epsilond.storage.transactions import Database

ALL = tuple(JOBS.c[name] for name in NAMES)
"""All columns of a job."""
SMALL = tuple(JOBS.c[name] for name in NAMES if name not in LARGE)
"""Columns of a job without request, result and problem, which may be large."""


class Reading:
    """A store of jobs with its queries, which do not change it.

    Args:
        database: the database of the store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def shared(self) -> bool:
        """True if other replicas (processes of the service) may use the store at the same time."""
        return self._database.shared

    @property
    def durable(self) -> bool:
        """True if the store outlives this process."""
        return self._database.durable

    def get(self, owner: str, identifier: str, *, complete: bool = True) -> Record | None:
        """Return the job with this owner and id, or None.

        Args:
            owner: owner of the job.
            identifier: id of the job.
            complete: whether to read request, result and problem. If not, the job has empty ones.

        Returns:
            The stored job. None if this owner has no job with this id.
        """
        with self._database.reading() as connection:
            return job_where(connection, (JOBS.c.owner == owner) & (JOBS.c.id == identifier), complete=complete)

    def with_key(self, owner: str, key: str) -> Record | None:
        """Return the job that this owner posted with this idempotency key, or None."""
        with self._database.reading() as connection:
            return job_where(connection, has_key(owner, key))

    def page(
        self,
        owner: str,
        state: State | None = None,
        kind: str | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[Record]:
        """Return the newest jobs of an owner, without their large members.

        A page begins after a sequence number, so that new jobs do not move the entries of later pages.

        Args:
            owner: owner of the jobs.
            state: state of the jobs; None for any.
            kind: kind of the jobs; None for any.
            before: sequence number of a job; only older jobs are returned. None for the newest jobs.
            limit: most jobs to return.

        Returns:
            The jobs, newest first, without request, result and problem.
        """
        chosen = select(*SMALL).where(JOBS.c.owner == owner).order_by(JOBS.c.sequence.desc()).limit(limit)
        if state is not None:
            chosen = chosen.where(JOBS.c.state == state)
        if kind is not None:
            chosen = chosen.where(JOBS.c.kind == kind)
        if before is not None:
            chosen = chosen.where(JOBS.c.sequence < before)
        with self._database.reading() as connection:
            return [record_of(row) for row in connection.execute(chosen).mappings()]

    def live(self, caller: str) -> int:
        """Return the number of jobs of a caller that have not ended."""
        chosen = select(func.count()).where(JOBS.c.caller == caller, JOBS.c.state.in_(UNFINISHED))
        with self._database.reading() as connection:
            return connection.execute(chosen).scalar_one()

    def counts(self) -> dict[State, int]:
        """Return the number of jobs in each state that occurs."""
        chosen = select(JOBS.c.state, func.count().label("jobs")).group_by(JOBS.c.state)
        with self._database.reading() as connection:
            return {row.state: row.jobs for row in connection.execute(chosen)}

    def size(self) -> int:
        """Return the total size of all requests, results and problems in bytes."""
        with self._database.reading() as connection:
            return int(connection.execute(select(func.coalesce(func.sum(JOBS.c.size), 0))).scalar_one())


def job_where(connection: Connection, condition: ColumnElement[bool], *, complete: bool = True) -> Record | None:
    """Return the job that fulfils a condition, or None.

    Args:
        connection: the transaction.
        condition: SQL condition that at most one job fulfils.
        complete: whether to read request, result and problem. If not, the job has empty ones.

    Returns:
        The stored job. None if no job fulfils the condition.
    """
    columns = ALL if complete else SMALL
    row = connection.execute(select(*columns).where(condition)).mappings().first()
    return None if row is None else record_of(row)


def has_key(owner: str, key: str) -> ColumnElement[bool]:
    """Return the condition that a job has this owner and this idempotency key."""
    return (JOBS.c.owner == owner) & (JOBS.c.idempotency_key == key)


def record_of(row: RowMapping) -> Record:
    """Return the job of a database row. Its request, result and problem are empty if the row does not have them."""
    members: JsonRecord = {"request": b"", **row}
    return Record(**members)

"""The store of jobs: an SQLite file of one service, or a PostgreSQL database that replicas share."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlalchemy import Connection, delete, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from epsilond.accountants.json_types import JsonRecord
from epsilond.app.settings import PREFIX, Settings
from epsilond.app.store.leases import Leases
from epsilond.app.store.opening import open_database, url_of
from epsilond.app.store.reading import has_key, job_where
from epsilond.app.store.record import NAMES, End, Record, State
from epsilond.app.store.tables import JOBS
from epsilond.app.store.ticks import DAY, count, ticks
from epsilond.storage.faults import StoreFault, public_url
from epsilond.storage.transactions import Database

STORED: Final = ("sequence", "ended", "ended_tick", "size")
"""Columns that decide which ended jobs are kept."""
SET_BY_STORE: Final = frozenset({"sequence", "size", "queued_tick", "ended_tick", "lease_until"})
"""Members of a record that the store sets, and not the caller of `add`."""
SWEEP_LOCK: Final = 0x6570_7369_6C73_7765
"""Number of the advisory lock of the replica that sweeps: the letters epsilswe."""


class Store(Leases):
    """Jobs and their results, which a restarted service or another replica can read.

    Methods block, and may be called in any number of threads at a time. Each raises StoreFault if the database cannot
    be used; then nothing is written.
    """

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """Open the store of these settings, or create it, and migrate its tables.

        Only one service can use a store that is not shared. Its running jobs were then left by a service that is gone,
        and are queued again.

        Args:
            settings: settings of the service, which name the database.

        Returns:
            The open store. The calling function must close it.

        Raises:
            StoreLocked: another service on this machine uses the file of the store.
            StoreUnavailable: the store cannot be read or written.
        """
        store = cls(open_database(settings))
        if not store.shared:
            store.recover()
        return store

    @classmethod
    def fallback(cls, settings: Settings) -> tuple[Store, str]:
        """Open a store in memory in place of a file that is in use, and return it with an explanation.

        Args:
            settings: settings of the service, which name the file that is in use. They are not changed.

        Returns:
            The store in memory, and the sentence for the user of this service.
        """
        memory = settings.model_copy(update={"store_path": ":memory:", "store_url": ""})
        sentence = (
            f"Another service keeps its jobs and ledgers in {public_url(url_of(settings))}; this one has a store in"
            f" memory, and forgets what is in it when it stops. Give it a file of its own with {PREFIX}STORE_PATH."
        )
        return cls.open(memory), sentence

    @property
    def database(self) -> Database:
        """The database, which ledgers share."""
        return self._database

    def close(self) -> None:
        """Close the database and release its lock."""
        self._database.close()

    def add(self, record: Record, *, replica: str | None, lease_seconds: float) -> Record:
        """Store a new job, unless its owner has a job with the same idempotency key.

        If that earlier job has the same request but was interrupted, its key is removed and the new job is stored. So a
        client can repeat an interrupted request.

        Args:
            record: the job.
            replica: name of the process of the service that runs the job as its first attempt; None to queue the job.
            lease_seconds: duration of the lease [s], the time for which that process may run the job.

        Returns:
            The job as it is stored, or the earlier job with the same key.

        Raises:
            StoreFault: the job is not in the database after it was written.
        """
        has_same_key = None if record.idempotency_key is None else has_key(record.owner, record.idempotency_key)
        insert = postgresql.insert if self.shared else sqlite.insert
        values = self._new_row(record, replica, lease_seconds)
        with self._database.writing() as connection:
            # Remove the key of an interrupted job with the same request.
            if has_same_key is not None:
                is_same_request = has_same_key & (JOBS.c.fingerprint == record.fingerprint)
                releasing = update(JOBS).where(is_same_request, JOBS.c.state == "interrupted")
                connection.execute(releasing.values(idempotency_key=None))

            # A job with the same key remains, and is read back in place of the new one.
            adding = insert(JOBS).values(values).on_conflict_do_nothing(index_elements=["owner", "idempotency_key"])
            connection.execute(adding)
            condition = JOBS.c.id == record.id if has_same_key is None else has_same_key
            stored = job_where(connection, condition)
        if stored is None:
            raise StoreFault("what was written to its database is not there; the next try may succeed")
        return stored

    def _new_row(self, record: Record, replica: str | None, lease_seconds: float) -> JsonRecord:
        """Return the database row of a new job: queued, or running in a process of the service (replica).

        Args:
            record: the job.
            replica: name of the replica that runs the job as its first attempt; None to queue the job.
            lease_seconds: duration of the lease [s].

        Returns:
            The values of the row by the names of the columns. The size is that of the request.
        """
        is_running = replica is not None
        state: State = "running" if is_running else "queued"
        new = replace(record, state=state, replica=replica, attempt=int(is_running), lost=0)
        row = {name: getattr(new, name) for name in NAMES if name not in SET_BY_STORE}
        row["size"] = len(record.request)
        row["started"] = self._database.now() if is_running else None
        # A lease is the period for which a replica holds the job; it must be renewed.
        row["lease_until"] = self._database.now() + lease_seconds if is_running else None
        row["queued_tick"] = ticks(self._database)
        return row

    def remove(self, owner: str, identifier: str) -> bool:
        """Delete an ended job of this owner, and return whether there was one."""
        with self._database.writing() as connection:
            deleting = delete(JOBS).where(JOBS.c.owner == owner, JOBS.c.id == identifier, JOBS.c.ended.is_not(None))
            return connection.execute(deleting).rowcount > 0

    # The sweep, at least once an hour

    def prune(self, *, days: float, jobs: int, size: int) -> int:
        """Delete ended jobs that are too old, too many or too large together.

        If there are too many, the oldest job of the caller with the most jobs is deleted first, so that callers have
        equal shares. Age is measured in time during which the service ran. Each call counts the time since the last
        call, but at most an hour, so that a jump of the clock deletes nothing.

        Args:
            days: days of service after which an ended job is deleted.
            jobs: number of ended jobs to keep.
            size: bytes of ended jobs to keep.

        Returns:
            The number of deleted jobs; 0 while another process of the service does this work.
        """
        # Number the ended jobs of each caller, the newest first. `ended_tick` is the time of the end in seconds of
        # service.
        newest_first = (JOBS.c.ended_tick.desc(), JOBS.c.ended.desc(), JOBS.c.sequence.desc())
        of_caller = func.row_number().over(partition_by=JOBS.c.caller, order_by=newest_first).label("of_caller")
        ended = select(*(JOBS.c[name] for name in STORED), of_caller).where(JOBS.c.ended.is_not(None)).subquery()
        # Jobs to keep first: the newest job of every caller, then the second newest of every caller, and so on.
        keep_order = (ended.c.of_caller, ended.c.ended_tick.desc(), ended.c.ended.desc(), ended.c.sequence.desc())
        ranked = select(
            ended.c.sequence,
            ended.c.ended_tick,
            func.row_number().over(order_by=keep_order).label("rank"),
            func.sum(ended.c.size).over(order_by=keep_order).label("total"),
        ).subquery()
        with self._database.writing() as connection:
            if not self._try_to_sweep(connection):  # another process does this work
                return 0
            count(self._database, connection)  # advances the clock `ticks` of the service
            is_old = ranked.c.ended_tick < ticks(self._database) - days * DAY
            is_beyond = is_old | (ranked.c.rank > jobs) | (ranked.c.total > size)
            deleting = delete(JOBS).where(JOBS.c.sequence.in_(select(ranked.c.sequence).where(is_beyond)))
            return connection.execute(deleting).rowcount

    def interrupt(self, *, engine_version: str, problem: bytes) -> int:
        """End jobs that no running process can compute, because they need another version of the library.

        Such a job ends if no job of its version runs, and it has been queued for a day of the service's clock. This
        clock counts only time during which the service runs. A running job of a version shows that a process of that
        version (replica) exists, which will take the queued ones.

        Args:
            engine_version: version of this replica.
            problem: problem (JSON text) with which the jobs end.

        Returns:
            The number of jobs that end; 0 while another replica sweeps.
        """
        is_other = JOBS.c.engine_version != engine_version
        running = JOBS.alias("running")
        served = select(running.c.sequence).where(
            running.c.state == "running", running.c.engine_version == JOBS.c.engine_version
        )
        with self._database.writing() as connection:
            if not self._try_to_sweep(connection):
                return 0
            self._give_back(connection, is_other & self._has_expired_lease(), lost=1)
            has_waited = (JOBS.c.state == "queued") & (JOBS.c.queued_tick < ticks(self._database) - DAY)
            is_stale = is_other & has_waited & ~served.exists()
            return connection.execute(self._end_update(is_stale, End(state="interrupted", problem=problem))).rowcount

    def _try_to_sweep(self, connection: Connection) -> bool:
        """Return whether this transaction may sweep; it then keeps other replicas from sweeping until it ends."""
        if not self.shared:
            return True
        return bool(connection.execute(text(f"SELECT pg_try_advisory_xact_lock({SWEEP_LOCK})")).scalar_one())

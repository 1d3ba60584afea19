"""Leases of jobs: replicas claim jobs, renew leases by beats, end jobs, give them back, and cancel them.

A running job belongs to its replica until a time by the database's own clock. After that time any replica may claim the
job. Each claim is a new attempt, and reports of an earlier attempt are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from sqlalchemy import ColumnElement, Connection, case, func, select, update
from sqlalchemy.sql.dml import Update

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.app.store.reading import ALL, Reading, job_where, record_of
from epsilond.app.store.record import AttemptProgress, Beat, End, Record
from epsilond.app.store.tables import JOBS
from epsilond.app.store.ticks import ticks

MOST_LOST: Final = 10
"""Number of attempts with a lost replica after which a job ends as failed: the job may be the reason."""
SPARE: Final = 16
"""Jobs that a claim reads beyond its limit, because other replicas may be claiming the first jobs at the same time."""


class Leases(Reading):
    """Operations of replicas (processes of the service) on the jobs of the store.

    A replica claims a job, renews its lease on it by beats, and ends the job or gives it back. Several replicas may
    share the store, and no two of them run the same attempt of a job.
    """

    def claim(
        self,
        replica: str,
        *,
        engine_version: str,
        limit: int,
        lease_seconds: float,
        exhausted: bytes,
        held: Collection[str] = (),
    ) -> list[Record]:
        """Take jobs from the store to run them in this replica, a process of the service.

        They are queued jobs, and jobs of other replicas with an expired lease. No two replicas take the same job. A job
        that lost its replica `MOST_LOST` times ends as failed. A job with a requested cancellation ends as cancelled.

        Args:
            replica: name of the replica that claims.
            engine_version: only jobs of this version of the mathematics are claimed.
            limit: most jobs to claim.
            lease_seconds: duration of the lease [s].
            exhausted: problem (JSON text) with which jobs end that have lost their replica too often.
            held: ids of jobs that run in this replica, which are not claimed again. Their leases may have expired while
                the database failed; the next `beat` renews them.

        Returns:
            The jobs, as they are after the claim; none if no job is free.
        """
        while True:
            claimed: list[Record] = []
            # One transaction for each batch, because it holds the locks of the batch's rows.
            with self._database.writing() as connection:
                free_jobs = self._lock_free_jobs(connection, engine_version, limit, held)
                for row in free_jobs:
                    is_this_job = JOBS.c.sequence == row["sequence"]
                    lost = _count_lost(row)
                    end = _end_without_run(row, lost, exhausted)
                    if end is None:
                        record = self._take(connection, is_this_job, replica, lost, lease_seconds)
                        claimed.append(record)
                    else:
                        connection.execute(self._end_update(is_this_job, end).values(lost=lost))
            if claimed or not free_jobs:
                return claimed
            # Every job of the batch has ended without a run: try the next ones.

    def beat(self, replica: str, progress: Mapping[str, AttemptProgress], lease_seconds: float) -> Beat:
        """Renew the leases of a replica (a process of the service) on the jobs that it runs, and store their progress.

        A lease is the time for which no other replica may take a job over.

        Args:
            replica: name of the replica.
            progress: progress of each job that it runs.
            lease_seconds: duration of the leases from now on [s].

        Returns:
            The jobs that the replica has lost, and the jobs that it is to cancel.
        """
        lost: set[str] = set()
        cancelled: set[str] = set()
        with self._database.writing() as connection:
            for identifier, state in sorted(progress.items()):
                values: JsonRecord = {
                    "steps_done": state.done,
                    "seconds_left": state.seconds_left,
                    "lease_until": self._database.now() + lease_seconds,
                }
                if state.of is not None:
                    values["steps"] = state.of
                renewing = update(JOBS).where(_is_attempt(identifier, state.attempt, replica)).values(values)
                rows = connection.execute(renewing.returning(JOBS.c.cancel_requested))
                is_cancelled = rows.scalar_one_or_none()
                # The update returns no row if the replica has lost the job.
                if is_cancelled is None:
                    lost.add(identifier)
                elif is_cancelled:
                    cancelled.add(identifier)
        return Beat(lost=frozenset(lost), cancelled=frozenset(cancelled))

    def end(self, identifier: str, attempt: int, replica: str, end: End) -> bool:
        """Store the result of a job that a replica has run. If this returns True, the result survives a power failure.

        An attempt is one run of the job by one replica, a process of the service.

        Args:
            identifier: id of the job.
            attempt: number of the attempt.
            replica: replica that ran it.
            end: result or problem.

        Returns:
            False if the attempt is not current any more: the job has ended, was claimed by another replica, or was
            removed.
        """
        ending = self._end_update(_is_attempt(identifier, attempt, replica), end)
        with self._database.writing() as connection:
            return connection.execute(ending).rowcount > 0

    def release(self, replica: str) -> int:
        """Give back the jobs that a replica (a process of the service) runs, so that others can run them.

        Args:
            replica: name of the replica.

        Returns:
            The number of jobs that were queued again, or ended because their cancellation was requested.
        """
        runs_here = (JOBS.c.state == "running") & (JOBS.c.replica == replica)
        with self._database.writing() as connection:
            return self._give_back(connection, runs_here, lost=0)

    def recover(self) -> int:
        """Give back the jobs that ran in a store of one service when that service ended.

        Returns:
            The number of jobs that were queued again, or ended because their cancellation was requested.
        """
        with self._database.writing() as connection:
            return self._give_back(connection, JOBS.c.state == "running", lost=1)

    def cancel(self, owner: str, identifier: str) -> Record | None:
        """Cancel a job at once, or request it from the replica (a process of the service) that runs the job.

        The replica reads the request when it next renews its lease.

        Args:
            owner: owner of the job.
            identifier: id of the job.

        Returns:
            The job after the change; None if this owner has no job with this id.
        """
        is_it = (JOBS.c.owner == owner) & (JOBS.c.id == identifier)
        with self._database.writing() as connection:
            is_idle = (JOBS.c.state == "queued") | self._has_expired_lease()
            connection.execute(self._end_update(is_it & is_idle, End(state="cancelled")))
            # A job that a replica runs is still running after the first update.
            requesting = update(JOBS).where(is_it, JOBS.c.state == "running").values(cancel_requested=True)
            connection.execute(requesting)
            return job_where(connection, is_it)

    def _lock_free_jobs(
        self, connection: Connection, engine_version: str, limit: int, held: Collection[str]
    ) -> list[JsonObject]:
        """Find the next jobs that this process of the service (replica) may run, and lock their rows against others.

        A job is free if it waits, or if the lease of its replica, the time for which the replica may run it, has
        expired. Callers take turns, in a fair order.

        Args:
            connection: the transaction, which holds the locks.
            engine_version: version of the mathematics that the jobs need.
            limit: most jobs to return.
            held: ids of jobs that are left out, because they run in this replica.

        Returns:
            Sequence number, state, number of lost replicas and requested cancellation of each job.
        """
        is_free = ((JOBS.c.state == "queued") | self._has_expired_lease()) & (JOBS.c.engine_version == engine_version)
        if held:
            is_free = is_free & JOBS.c.id.not_in(held)
        # Some jobs more than the limit are read, because other replicas may be claiming the first ones.
        position_of_job = self._order_fairly(connection, is_free, limit + SPARE)
        if not position_of_job:
            return []
        chosen = (
            select(JOBS.c.sequence, JOBS.c.state, JOBS.c.lost, JOBS.c.cancel_requested)
            .where(JOBS.c.sequence.in_(position_of_job), is_free)
            .order_by(case(position_of_job, value=JOBS.c.sequence))
            .limit(limit)
            # Rows that another replica has locked are skipped, so that no job is taken twice.
            .with_for_update(skip_locked=True)
        )
        return [dict(row) for row in connection.execute(chosen).mappings()]

    def _order_fairly(self, connection: Connection, is_free: ColumnElement[bool], limit: int) -> dict[int, int]:
        """Order the jobs that may be claimed, so that all callers have equal shares.

        The n-th oldest job of a caller with r running jobs has rank n + r. Jobs with lower ranks come first; of equal
        ranks, the older job.

        Args:
            connection: the transaction.
            is_free: condition of the jobs that may be claimed.
            limit: most jobs to return.

        Returns:
            The position in this order, from 0, by the sequence number of the job.
        """
        # `age_order` numbers the free jobs of each caller, from 1 for the oldest.
        age_order = func.row_number().over(partition_by=JOBS.c.caller, order_by=JOBS.c.sequence)
        free_jobs = select(JOBS.c.sequence, JOBS.c.caller, age_order.label("age_order")).where(is_free).subquery()
        candidates = select(free_jobs).where(free_jobs.c.age_order <= limit)
        running_jobs = (
            select(JOBS.c.caller, func.count().label("jobs")).where(JOBS.c.state == "running").group_by(JOBS.c.caller)
        )
        running: dict[str, int] = {row.caller: row.jobs for row in connection.execute(running_jobs)}
        ranked = sorted(
            (row.age_order + running.get(row.caller, 0), row.sequence) for row in connection.execute(candidates)
        )
        return {sequence: position for position, (_, sequence) in enumerate(ranked[:limit])}

    def _take(
        self, connection: Connection, is_this_job: ColumnElement[bool], replica: str, lost: int, lease_seconds: float
    ) -> Record:
        """Give a job to a replica (a process of the service), which will run it, and return the job.

        The replica holds the job by a lease, a period that it must renew. After it, others may take the job.

        Args:
            connection: the transaction.
            is_this_job: condition that only this job fulfils.
            replica: name of the replica.
            lost: number of attempts that lost their replica so far.
            lease_seconds: duration of the lease [s].

        Returns:
            The job in its new state, with one attempt more.
        """
        now = self._database.now()
        # `WAITING` resets the fields that an earlier attempt has left.
        values = WAITING | {
            "state": "running",
            "started": now,
            "replica": replica,
            "attempt": JOBS.c.attempt + 1,
            "lost": lost,
            "lease_until": now + lease_seconds,
        }
        taking = update(JOBS).where(is_this_job).values(values).returning(*ALL)
        return record_of(connection.execute(taking).mappings().one())

    def _end_update(self, condition: ColumnElement[bool], end: End) -> Update:
        """Return the SQL statement that ends all jobs with a condition, and takes them from their replicas.

        A replica is a process of the service. The bytes of the result or problem are added to the size of the job.

        Args:
            condition: which jobs end.
            end: state, result and problem of the jobs. Its `when` is the time of the end; None for the present time.

        Returns:
            The statement, which is not executed yet.
        """
        end_time = self._database.now() if end.when is None else end.when
        steps_done = JOBS.c.steps_done if end.steps_done is None else end.steps_done
        end_size = len(end.result or b"") + len(end.problem or b"")
        return (
            update(JOBS)
            .where(condition)
            .values(
                state=end.state,
                ended=end_time,
                ended_tick=ticks(self._database),
                steps_done=steps_done,
                seconds_left=None,
                media_type=end.media_type,
                result=end.result,
                problem=end.problem,
                size=JOBS.c.size + end_size,
                replica=None,
                lease_until=None,
            )
        )

    def _give_back(self, connection: Connection, condition: ColumnElement[bool], *, lost: int) -> int:
        """Take running jobs from their replica (a process of the service), and return their number.

        A job with a requested cancellation ends. All others are queued again.

        Args:
            connection: the transaction.
            condition: which running jobs are taken; it holds for running jobs only.
            lost: 1 if their replica is gone without having given them back, otherwise 0.

        Returns:
            The number of jobs that ended or were queued.
        """
        cancelling = self._end_update(condition & JOBS.c.cancel_requested, End(state="cancelled"))
        cancelled_count: int = connection.execute(cancelling).rowcount
        # The jobs that have ended are not running any more, so this update does not queue them.
        queued_values = WAITING | {"state": "queued", "lost": JOBS.c.lost + lost}
        queueing = update(JOBS).where(condition).values(queued_values).values(queued_tick=ticks(self._database))
        queued_count: int = connection.execute(queueing).rowcount
        return cancelled_count + queued_count

    def _has_expired_lease(self) -> ColumnElement[bool]:
        """Return the SQL condition that a job runs on a replica with an expired lease."""
        return (JOBS.c.state == "running") & (JOBS.c.lease_until < self._database.now())


WAITING: Final[JsonRecord] = dict.fromkeys(("started", "steps_done", "seconds_left", "replica", "lease_until"))
"""Members of a waiting job that are reset. Of earlier attempts, only the number is kept."""


def _is_attempt(identifier: str, attempt: int, replica: str) -> ColumnElement[bool]:
    """Return the SQL condition that a job runs in one attempt on one replica.

    Args:
        identifier: id of the job.
        attempt: number of the attempt.
        replica: name of the replica, a process of the service.

    Returns:
        The condition on the table of jobs.
    """
    is_running = (JOBS.c.id == identifier) & (JOBS.c.state == "running")
    is_this_attempt = (JOBS.c.attempt == attempt) & (JOBS.c.replica == replica)
    return is_running & is_this_attempt


def _count_lost(row: JsonObject) -> int:
    """Return how often a job lost the replica (process of the service) that ran it.

    The job is free to be taken. If its state is still running, its lease has expired, so that another replica was lost.

    Args:
        row: the state of the job, and the number of replicas lost before.

    Returns:
        The number of attempts in which the replica was lost.
    """
    earlier: int = row["lost"]
    has_expired_lease = row["state"] == "running"
    if has_expired_lease:
        return earlier + 1
    return earlier


def _end_without_run(row: JsonObject, lost: int, exhausted: bytes) -> End | None:
    """Decide whether a job that may be taken must end without being run: cancelled or failed.

    Args:
        row: the job.
        lost: number of its attempts in which the replica (process of the service) was lost.
        exhausted: problem (JSON text) of a job that has lost its replica too often.

    Returns:
        The end of the job. None if the job is to be run.
    """
    if row["cancel_requested"]:
        return End(state="cancelled")
    if lost >= MOST_LOST:
        return End(state="failed", problem=exhausted)
    return None

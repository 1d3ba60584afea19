"""Who runs what: jobs are claimed, kept by beats, ended, put back, and cancelled.

On a shared database a job that runs is its replica's until a time, by the database's own clock; once that has passed,
any replica may claim it. Each claim is a new attempt, and what an earlier attempt says of the job is not heard.
A store that is not shared is alone with its jobs: they are its own as long as it lives.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from sqlalchemy import ColumnElement, Connection, case, false, func, select, update
from sqlalchemy.sql.dml import Update

from epsilond.accountants.json_types import JsonObject, JsonRecord
from epsilond.app.store.reading import ALL, Reading, one, record_of
from epsilond.app.store.record import AttemptProgress, Beat, End, Record
from epsilond.app.store.tables import JOBS
from epsilond.app.store.ticks import ticks

MOST_LOST: Final = 10
"""After so many attempts whose replica was gone without a word, a job is not tried again: it may be the reason."""
SPARE: Final = 16
"""How many more are looked at than are asked for, as other replicas may be taking the first ones at this moment."""


class Leases(Reading):
    """What replicas do with jobs."""

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
        """Take up to so many jobs of this engine's version to run: queued ones, and those of replicas that are gone.

        No other replica gets the same ones. Those that are `held` run here, though their leases may have passed while
        the database could not be reached; the next beat renews them. A job that has lost its replica too often ends as
        failed, with `exhausted` as its problem; one that was to be cancelled ends.

        Raises:
            StoreFault: the database cannot be used; nothing is claimed.
        """
        while True:  # until there is something to run, or nothing is left: what ends here is not run
            claimed: list[Record] = []
            with self._database.writing() as connection:
                found = self._free(connection, engine_version, limit, held)
                for row in found:
                    lost = row["lost"] + (row["state"] == "running")
                    if row["cancel_requested"]:
                        self._close(connection, row["sequence"], End(state="cancelled"), lost)
                    elif lost >= MOST_LOST:
                        self._close(connection, row["sequence"], End(state="failed", problem=exhausted), lost)
                    else:
                        claimed.append(self._take(connection, row["sequence"], replica, lost, lease_seconds))
            if claimed or not found:
                return claimed

    def beat(self, replica: str, progress: Mapping[str, AttemptProgress], lease_seconds: float) -> Beat:
        """Say how far the jobs of a replica are; they are its own for so many seconds more.

        Raises:
            StoreFault: the database cannot be used; the leases run on as they were.
        """
        lost: set[str] = set()
        cancelled: set[str] = set()
        with self._database.writing() as connection:
            for identifier, reached in sorted(progress.items()):
                values: JsonRecord = {"steps_done": reached.done, "seconds_left": reached.seconds_left}
                values |= {} if reached.of is None else {"steps": reached.of}
                values |= {"lease_until": self._until(lease_seconds)}
                of_it = _attempt(identifier, reached.attempt, replica)
                kept = connection.execute(
                    update(JOBS).where(of_it).values(values).returning(JOBS.c.cancel_requested)
                ).scalar_one_or_none()
                if kept is None:
                    lost.add(identifier)
                elif kept:
                    cancelled.add(identifier)
        return Beat(lost=frozenset(lost), cancelled=frozenset(cancelled))

    def end(self, identifier: str, attempt: int, replica: str, end: End) -> bool:
        """An attempt has ended. Once this returns True, not even a power failure loses its result.

        False if the job is no longer this attempt's of this replica: it ended before, was claimed by another replica,
        or was removed.

        Raises:
            StoreFault: the database cannot be used; try again.
        """
        with self._database.writing() as connection:
            return connection.execute(self._ended(_attempt(identifier, attempt, replica), end)).rowcount > 0

    def release(self, replica: str) -> int:
        """Put what a replica runs back into the queue, and end what was to be cancelled; answers how many it ran.

        Raises:
            StoreFault: the database cannot be used; the jobs wait until their leases have passed.
        """
        with self._database.writing() as connection:
            mine = (JOBS.c.state == "running") & (JOBS.c.replica == replica)
            cancelled = connection.execute(self._ended(mine & JOBS.c.cancel_requested, End(state="cancelled"))).rowcount
            return cancelled + connection.execute(self._requeued(mine)).rowcount

    def recover(self) -> int:
        """At the start of a store that is not shared: what ran was left by a service that is gone, and is queued again.

        Raises:
            StoreFault: the database cannot be used.
        """
        with self._database.writing() as connection:
            left = JOBS.c.state == "running"
            cancelled = connection.execute(self._ended(left & JOBS.c.cancel_requested, End(state="cancelled"))).rowcount
            return cancelled + connection.execute(self._requeued(left).values(lost=JOBS.c.lost + 1)).rowcount

    def cancel(self, owner: str, identifier: str) -> Record | None:
        """End a job that nobody runs; whoever runs one is told at its next beat. Answers the job as it is then.

        None if this owner has no job of this id. One that has ended stays as it is.

        Raises:
            StoreFault: the database cannot be used.
        """
        of_it = (JOBS.c.owner == owner) & (JOBS.c.id == identifier)
        with self._database.writing() as connection:
            connection.execute(
                self._ended(of_it & ((JOBS.c.state == "queued") | self._expired()), End(state="cancelled"))
            )
            connection.execute(update(JOBS).where(of_it, JOBS.c.state == "running").values(cancel_requested=True))
            return one(connection, of_it)

    def _free(self, connection: Connection, engine_version: str, limit: int, held: Collection[str]) -> list[JsonObject]:
        """Jobs that nobody has, in their turns, locked against other replicas, who may have locked the first ones."""
        free = ((JOBS.c.state == "queued") | self._expired()) & (JOBS.c.engine_version == engine_version)
        free = free & JOBS.c.id.not_in(held) if held else free
        turns = self._turns(connection, free, limit + SPARE)
        if not turns:
            return []
        chosen = (
            select(JOBS.c.sequence, JOBS.c.state, JOBS.c.lost, JOBS.c.cancel_requested)
            .where(JOBS.c.sequence.in_(turns), free)
            .order_by(case(turns, value=JOBS.c.sequence))
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        return [dict(row) for row in connection.execute(chosen).mappings()]

    def _turns(self, connection: Connection, free: ColumnElement[bool], limit: int) -> dict[int, int]:
        """The sequences of those who are next, and their turns: one of every caller, each one's oldest first.

        What a caller has running counts as turns that it has had.
        """
        place = func.row_number().over(partition_by=JOBS.c.caller, order_by=JOBS.c.sequence)
        placed = select(JOBS.c.sequence, JOBS.c.caller, place.label("place")).where(free).subquery()
        first = select(placed).where(placed.c.place <= limit)
        running = (
            select(JOBS.c.caller, func.count().label("had")).where(JOBS.c.state == "running").group_by(JOBS.c.caller)
        )
        had: dict[str, int] = {row.caller: row.had for row in connection.execute(running)}
        turns = sorted((row.place + had.get(row.caller, 0), row.sequence) for row in connection.execute(first))
        return {sequence: turn for turn, (_, sequence) in enumerate(turns[:limit])}

    def _take(self, connection: Connection, sequence: int, replica: str, lost: int, lease_seconds: float) -> Record:
        taken = (
            update(JOBS)
            .where(JOBS.c.sequence == sequence)
            .values(
                state="running",
                started=self._database.now(),
                steps_done=None,
                seconds_left=None,
                attempt=JOBS.c.attempt + 1,
                lost=lost,
                replica=replica,
                lease_until=self._until(lease_seconds),
            )
        )
        return record_of(connection.execute(taken.returning(*ALL)).mappings().one())

    def _close(self, connection: Connection, sequence: int, end: End, lost: int) -> None:
        connection.execute(self._ended(JOBS.c.sequence == sequence, end).values(lost=lost))

    def _ended(self, condition: ColumnElement[bool], end: End) -> Update:
        return (
            update(JOBS)
            .where(condition)
            .values(
                state=end.state,
                ended=self._database.now() if end.when is None else end.when,
                ended_tick=ticks(self._database),
                steps_done=JOBS.c.steps_done if end.steps_done is None else end.steps_done,
                seconds_left=None,
                media_type=end.media_type,
                result=end.result,
                problem=end.problem,
                size=JOBS.c.size + len(end.result or b"") + len(end.problem or b""),
                replica=None,
                lease_until=None,
            )
        )

    def _requeued(self, condition: ColumnElement[bool]) -> Update:
        return requeued(condition).values(queued_tick=ticks(self._database))

    def _expired(self) -> ColumnElement[bool]:
        """Whether a job runs on a replica whose lease has passed."""
        if not self.shared:
            return false()
        return (JOBS.c.state == "running") & (JOBS.c.lease_until < self._database.now())

    def _until(self, lease_seconds: float) -> ColumnElement[float] | None:
        return self._database.now() + lease_seconds if self.shared else None


def requeued(condition: ColumnElement[bool]) -> Update:
    """What runs waits again, as if it had never been begun, but for the count of its attempts."""
    waiting = {"started": None, "steps_done": None, "seconds_left": None, "replica": None, "lease_until": None}
    return update(JOBS).where(condition).values(state="queued", **waiting)


def _attempt(identifier: str, attempt: int, replica: str) -> ColumnElement[bool]:
    """Whether a job runs, and this is its attempt."""
    mine = (JOBS.c.attempt == attempt) & (JOBS.c.replica == replica)
    return (JOBS.c.id == identifier) & (JOBS.c.state == "running") & mine

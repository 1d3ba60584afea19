"""What has ended is kept for a time, a number and a size; what nobody will ever run is ended."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, delete, func, select, text

from epsilond.app.store.leases import Leases
from epsilond.app.store.record import End
from epsilond.app.store.tables import JOBS
from epsilond.app.store.ticks import DAY, count, ticks

KEPT: Final = ("sequence", "ended", "ended_tick", "size")
SWEEPS: Final = 0x6570_7369_6C73_7765
"""The advisory lock of who sweeps."""


class Retention(Leases):
    """What the sweep of a service does, at least once an hour."""

    def prune(self, *, days: float, jobs: int, size: int) -> int:
        """Forget what ended before so many days of service, and what is beyond so many jobs, or so many bytes.

        Beyond these, callers have equal shares: what goes first is the oldest of whoever keeps most. Days of service
        are counted here, at most an hour a time, so that a clock that leaps forgets nothing. Answers how many were
        forgotten; none where another replica does it at this moment.

        Raises:
            StoreFault: the database cannot be used.
        """
        newest_first = (JOBS.c.ended_tick.desc(), JOBS.c.ended.desc(), JOBS.c.sequence.desc())
        of_caller = func.row_number().over(partition_by=JOBS.c.caller, order_by=newest_first).label("of_caller")
        ended = select(*(JOBS.c[name] for name in KEPT), of_caller).where(JOBS.c.ended.is_not(None)).subquery()
        in_turn = (ended.c.of_caller, ended.c.ended_tick.desc(), ended.c.ended.desc(), ended.c.sequence.desc())
        ranked = select(
            ended.c.sequence,
            ended.c.ended_tick,
            func.row_number().over(order_by=in_turn).label("place"),
            func.sum(ended.c.size).over(order_by=in_turn).label("total"),
        ).subquery()
        with self._database.writing() as connection:
            if not self._sweeps(connection):
                return 0
            count(self._database, connection)
            old = ranked.c.ended_tick < ticks(self._database) - days * DAY
            beyond = old | (ranked.c.place > jobs) | (ranked.c.total > size)
            gone = delete(JOBS).where(JOBS.c.sequence.in_(select(ranked.c.sequence).where(beyond)))
            return connection.execute(gone).rowcount

    def interrupt(self, *, engine_version: str, problem: bytes) -> int:
        """End the jobs of other engine versions that have waited for a day of service, and that nobody is left to run.

        As long as one job of a version runs, somebody is there who claims the others. Answers how many were ended.

        Raises:
            StoreFault: the database cannot be used.
        """
        other = JOBS.c.engine_version != engine_version
        running = JOBS.alias("running")
        served = select(running.c.sequence).where(
            running.c.state == "running", running.c.engine_version == JOBS.c.engine_version
        )
        with self._database.writing() as connection:
            if not self._sweeps(connection):
                return 0
            left = other & self._expired()
            connection.execute(self._ended(left & JOBS.c.cancel_requested, End(state="cancelled")))
            connection.execute(self._requeued(left).values(lost=JOBS.c.lost + 1))
            waited = (JOBS.c.state == "queued") & (JOBS.c.queued_tick < ticks(self._database) - DAY)
            stale = other & waited & ~served.exists()
            return connection.execute(self._ended(stale, End(state="interrupted", problem=problem))).rowcount

    def _sweeps(self, connection: Connection) -> bool:
        """Whether no other replica sweeps until this transaction ends."""
        if not self.shared:
            return True
        return bool(connection.execute(text(f"SELECT pg_try_advisory_xact_lock({SWEEPS})")).scalar_one())

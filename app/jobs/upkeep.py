"""Periodic work for the jobs: leases are renewed, ends that were not stored are stored, old jobs are removed."""

from __future__ import annotations

from collections.abc import Mapping

import anyio

from epsilond.accountants import ENGINE_VERSION
from epsilond.app.http.problems import Problem, text_of
from epsilond.app.jobs.running import Running
from epsilond.app.jobs.shelf import Shelf
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings

MEGABYTE = 1_048_576
"""Number of bytes."""
BEATS = 4
"""Renewals of a lease in its time, so that three may fail."""
SWEEP_SECONDS = 600.0
"""Longest time between removals of old jobs, in seconds."""
SWEEP_ENDS = 50
"""Ends of jobs after which old jobs are removed too, so that many short jobs do not fill the store."""
OTHER_VERSION = Problem("interrupted", "No service of the version that took the job in is left. Post it again.")


class Upkeep:
    """Periodic work of a process of the service for its stored jobs, such as renewing leases.

    A lease is the time for which a process may run a job before others may take it over. Old jobs are deleted.

    Args:
        settings: durations of leases, and limits on the stored jobs.
        metrics: metrics of the service.
        shelf: the store of jobs.
        running: the jobs that run in this service, by id.
    """

    def __init__(self, settings: Settings, metrics: Metrics, shelf: Shelf, running: Mapping[str, Running]) -> None:
        self._settings = settings
        self._metrics = metrics
        self._shelf = shelf
        self._running = running
        self._ends = 0
        self._many_ended = anyio.Event()

    def count_end(self) -> None:
        """Count a job that has ended."""
        self._ends += 1
        if self._ends % SWEEP_ENDS == 0:
            self._many_ended.set()

    async def beat(self) -> None:
        """Repeat without end: renew the leases of the running jobs in the store, and report their progress.

        A lease is the time for which a replica (process of the service) may run a job. A job that its owner has
        cancelled through another replica is stopped. So is a job that no longer belongs to this replica, for example
        because its lease had expired and another one has claimed it.
        """
        lease = self._settings.lease_seconds
        while True:
            # A lease is renewed several times within its duration, so that some renewals may fail.
            await anyio.sleep(lease / BEATS)
            await self._shelf.store_again()
            reports = {identifier: running.report for identifier, running in self._running.items()}
            beat = await self._shelf.quietly(self._shelf.store.beat, self._shelf.replica, reports, lease)
            if beat is None:
                continue
            for identifier in beat.cancelled & self._running.keys():
                self._running[identifier].stop("cancelled")
            for identifier in beat.lost & self._running.keys():
                self._running[identifier].stop("released")

    async def sweep(self) -> None:
        """Repeat without end: remove old jobs, and end jobs that need an engine version of which no replica is left.

        The number of jobs and the size of the store are reported to the metrics. A round follows the previous one after
        `SWEEP_SECONDS`, or earlier if `SWEEP_ENDS` jobs have ended.
        """
        settings = self._settings
        store = self._shelf.store
        limits = {"days": settings.store_days, "jobs": settings.store_jobs, "size": settings.store_megabytes * MEGABYTE}
        while True:
            # The event is set when many jobs have ended since this moment.
            self._many_ended = anyio.Event()
            await self._shelf.quietly(store.prune, **limits)
            await self._shelf.quietly(store.interrupt, engine_version=ENGINE_VERSION, problem=text_of(OTHER_VERSION))
            counts = await self._shelf.quietly(store.counts)
            self._metrics.record_store(counts, await self._shelf.quietly(store.size))
            with anyio.move_on_after(SWEEP_SECONDS):
                await self._many_ended.wait()

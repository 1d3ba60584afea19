"""What goes on for ever beside the jobs: leases are renewed, ends that were not stored are stored, old jobs removed."""

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
BEATS = 4
"""How often a lease is renewed before it would end."""
SWEEP_SECONDS = 600.0
"""How often old jobs are removed at least."""
SWEEP_ENDS = 50
"""After so many ends they are removed too, so that many jobs in a short time do not fill the store."""
OTHER_VERSION = Problem("interrupted", "No service of the version that took the job in is left. Post it again.")


class Upkeep:
    """Of the jobs that run in one service."""

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
        """Renew the leases, tell how far everything is, and learn what was cancelled elsewhere, for ever."""
        lease = self._settings.lease_seconds
        while True:
            await anyio.sleep(lease / BEATS)
            await self._shelf.store_again()
            told = {identifier: running.told for identifier, running in self._running.items()}
            beat = await self._shelf.quietly(self._shelf.store.beat, self._shelf.replica, told, lease)
            if beat is None:
                continue
            for identifier in beat.cancelled & self._running.keys():
                self._running[identifier].stop("cancelled")
            for identifier in beat.lost & self._running.keys():
                self._running[identifier].stop("released")

    async def sweep(self) -> None:
        """Remove what is old, and count what is left, for ever."""
        chosen, store = self._settings, self._shelf.store
        limits = {"days": chosen.store_days, "jobs": chosen.store_jobs, "size": chosen.store_megabytes * MEGABYTE}
        told = {"engine_version": ENGINE_VERSION, "problem": text_of(OTHER_VERSION)}
        while True:
            self._many_ended = anyio.Event()
            await self._shelf.quietly(store.prune, **limits)
            await self._shelf.quietly(store.interrupt, **told)
            counts = await self._shelf.quietly(store.counts)
            self._metrics.tell_store(counts, await self._shelf.quietly(store.size))
            with anyio.move_on_after(SWEEP_SECONDS):
                await self._many_ended.wait()

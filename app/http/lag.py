"""Lag of the event loop: a task that sleeps a tenth of a second measures how much longer it slept."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from epsilond.app.metrics import Metrics

# Duration of each sleep by which the lag is measured, in seconds.
PAUSE_SECONDS = 0.1
KEPT = 600
"""Number of lags kept: the lags of the last minute."""


class LoopLag:
    """Delays of one event loop: how late it wakes up a sleeping task. They are measured within `running()`.

    All requests of the service share this event loop. A large delay means that some code has kept it busy for too long.

    Args:
        metrics: metrics of the service, which get each delay and the 99th percentile.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._lags: deque[float] = deque(maxlen=KEPT)
        metrics.loop_lag_p99.set_function(lambda: self.p99)

    @property
    def p99(self) -> float:
        """The 99th percentile of the lags of the last minute, in seconds; 0 without lags."""
        lags = sorted(self._lags)
        return lags[(99 * len(lags)) // 100] if lags else 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Measure lags within this context."""
        async with anyio.create_task_group() as watching:
            watching.start_soon(self._watch)
            yield
            watching.cancel_scope.cancel()

    async def _watch(self) -> None:
        """Sleep for `PAUSE_SECONDS` again and again, without end, and record by how much each sleep was longer."""
        loop = asyncio.get_running_loop()
        while True:
            # The sleep ends late by the time for which other tasks have kept the event loop busy.
            due = loop.time() + PAUSE_SECONDS
            await anyio.sleep(PAUSE_SECONDS)
            self.record(max(0.0, loop.time() - due))

    def record(self, seconds: float) -> None:
        """Record one lag: by how many seconds the event loop was late."""
        self._lags.append(seconds)
        self._metrics.loop_lag.observe(seconds)

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
"""Number of lags that are kept: those of about the last minute."""


class LoopLag:
    """Measurement of the delay with which an event loop wakes up a sleeping task. It runs within `running()`.

    All requests of the service share this event loop. A large delay means that some code has kept it busy for too long.
    """

    def __init__(self, metrics: Metrics) -> None:
        """Start without any delay.

        Args:
            metrics: metrics of the service, which get each delay and the 99th percentile.
        """
        self._metrics = metrics
        self._lags: deque[float] = deque(maxlen=KEPT)
        metrics.loop_lag_p99.set_function(lambda: self.p99)

    @property
    def p99(self) -> float:
        """99th percentile of the last `KEPT` lags, in seconds; 0 without lags."""
        lags = sorted(self._lags)
        return lags[(99 * len(lags)) // 100] if lags else 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Measure lags in a task of its own until the context is left."""
        async with anyio.create_task_group() as task_group:
            task_group.start_soon(self._measure_lags)
            yield
            task_group.cancel_scope.cancel()

    async def _measure_lags(self) -> None:
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

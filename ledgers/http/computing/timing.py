"""Timer of a task that is repeated after a fixed time, or earlier if something is due earlier."""

from __future__ import annotations

import time

import anyio


class SweepTimer:
    """Timer of a search that is repeated at fixed intervals, and that can be brought forward.

    The search ends reservations that have expired. It is brought forward if a reservation expires before the interval
    has passed. All methods are called in the event loop.
    """

    def __init__(self, interval: float) -> None:
        """Start the timer.

        Args:
            interval: longest time between two searches, in seconds.
        """
        self._interval = interval
        self._changed = anyio.Event()  # set if the time of the next search was changed
        self._next = time.time() + interval  # time of the next search, in seconds since 1970

    def bring_forward(self, when: float) -> None:
        """Make the next search due at a given time, unless it is due earlier.

        Args:
            when: time in seconds since 1970, at which a reservation expires.
        """
        if when < self._next:
            self._next = when
            self._changed.set()

    async def wait(self) -> None:
        """Wait until the next search is due, and start the time until the one after it.

        If `bring_forward` shortens the time, the wait starts again with the remaining seconds.
        """
        is_due = False
        while not is_due:
            remaining_seconds = max(self._next - time.time(), 0.0)
            with anyio.move_on_after(remaining_seconds) as timeout:
                await self._changed.wait()
            is_due = timeout.cancelled_caught
            if not is_due:  # `bring_forward` ended the wait
                self._changed = anyio.Event()
        self._next = time.time() + self._interval

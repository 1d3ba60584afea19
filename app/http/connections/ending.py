"""The end of a connection whose client is still sending.

The kernel resets a connection that is closed while something unread waits in it, and a client that is reset may never
see the answer it was sent. So what is sent to it ends, what it still sends is thrown away for a while, and then the
connection is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Ending:
    """A transport that uvicorn may close at any time."""

    def __init__(
        self, inner: asyncio.Transport, coming: Callable[[], bool], loop: asyncio.AbstractEventLoop, seconds: float
    ) -> None:
        self.inner = inner
        self.write = inner.write
        self.ends = False
        self._coming = coming
        self._loop = loop
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> object:
        """Everything else is the transport's."""
        return getattr(self.inner, name)

    def is_closing(self) -> bool:
        """Whether nothing more is written to it."""
        return self.ends or self.inner.is_closing()

    def close(self) -> None:
        """Close it once what was written is sent; while the client is sending, wait for it to stop, so long."""
        if self.is_closing():
            return
        if not self._coming() or not self.inner.can_write_eof():
            self.inner.close()
            return
        self.ends = True
        self.inner.write_eof()
        self.inner.resume_reading()
        self._timer = self._loop.call_later(self._seconds, self.inner.abort)

    def finish(self) -> None:
        """Wait for the client no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.ends:
            self.inner.close()

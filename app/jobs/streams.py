"""How many event streams are open: each holds a connection for as long as its simulation takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from epsilond.app.http.problems import Problem
from epsilond.app.metrics import Metrics


class Streams:
    """The open ones of a service."""

    def __init__(self, most: int, metrics: Metrics) -> None:
        self._most = most
        self._open = 0
        metrics.event_streams.set_function(lambda: self._open)

    def require_room(self) -> None:
        """One more may be opened.

        Raises:
            Problem: there are too many.
        """
        if self._open >= self._most:
            raise Problem("too-many-requests", "Too many event streams are open.", headers={"Retry-After": "30"})

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Within this, one is open."""
        self._open += 1
        try:
            yield
        finally:
            self._open -= 1

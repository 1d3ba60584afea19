"""Places for event streams and for requests that wait for jobs: limited in total, and for each caller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from epsilond.app.http.problems import Problem
from epsilond.app.http.record import ServicePart

RETRY = {"Retry-After": "30"}


class Places:
    """A limit on the number of open streams or waiting requests, in total and for each caller. Not thread-safe.

    Each of them keeps a connection open for a long time, so that too many would exhaust the service.
    """

    def __init__(self, most: int, plural: str) -> None:
        """Limit the number of open streams or waiting requests: `most` in total, and half (at least 1) for each caller.

        Args:
            most: largest number in total, at least 1.
            plural: name of the counted things, such as "event streams", for the text of rejections.
        """
        self._most = most
        self._each = max(1, most // 2)
        self._plural = plural
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """The number of places in use."""
        return self._taken.total()

    def has_room(self, identity: str) -> bool:
        """Return whether this caller may take one more place."""
        return self.taken < self._most and self._taken[identity] < self._each

    @contextmanager
    def place(self, identity: str) -> Iterator[None]:
        """Hold a place for one stream or waiting request of a caller, as a context manager, if the limits allow it.

        The place is free again when the context ends, also after an error.

        Args:
            identity: identity of the caller.

        Yields:
            None, once, while the place is held.

        Raises:
            Problem: a limit is reached, in total or for this caller.
        """
        if self.taken >= self._most:
            raise Problem("too-many-requests", f"There are too many {self._plural}.", headers=RETRY)
        if self._taken[identity] >= self._each:
            raise Problem("rate-limited", f"This caller has too many {self._plural}.", headers=RETRY)
        self._taken[identity] += 1
        try:
            yield
        finally:
            self._taken[identity] -= 1
            # Callers without a place are forgotten, so that the counter does not grow without bound.
            if not self._taken[identity]:
                del self._taken[identity]


STREAMS: ServicePart[Places] = ServicePart("streams")
JOB_WAITS: ServicePart[Places] = ServicePart("job_waits")

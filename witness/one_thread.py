"""A limit of one thread for linear algebra, because the last digits of its sums depend on the number of threads.

The limit applies to the whole process. If several threads of a process compute at the same time, the limit is set when
the first starts and removed when the last ends.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import scipy.linalg  # noqa: F401  a limit is set on the libraries that are there: scipy has one of its own
from threadpoolctl import threadpool_limits


class _ThreadLimit:
    """A limit of one thread for linear algebra, in force while any computation is in progress.

    The last digits of sums depend on the number of threads, so one thread makes them reproducible. The limit applies to
    the whole process. The computations in progress are counted. A separate thread holds the limit, because
    threadpoolctl requires that the same thread sets and removes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._computations = 0
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def enter(self) -> None:
        """Register a computation, and set the limit if it is the first. On return the limit is set."""
        with self._lock:
            if self._computations == 0:
                self._start_limit()
            self._computations += 1

    def _start_limit(self) -> None:
        """Start the thread that holds the limit, and wait until the limit is set."""
        is_set = threading.Event()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._hold, args=(is_set, self._end), daemon=True)
        self._thread.start()
        is_set.wait()

    def leave(self) -> None:
        """Unregister a computation, and remove the limit after the last one."""
        with self._lock:
            self._computations -= 1
            if self._computations == 0 and self._thread is not None:
                self._end.set()
                self._thread.join()

    @staticmethod
    def _hold(is_set: threading.Event, end: threading.Event) -> None:
        """Limit libraries of linear algebra to one thread until `end` is set. A separate thread runs this function.

        Args:
            is_set: event that is set once the limit is in force.
            end: event that ends the limit when it is set.
        """
        with threadpool_limits(1):
            is_set.set()
            end.wait()


_limit = _ThreadLimit()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit libraries of linear algebra to one thread within the context, so that sums are reproducible."""
    _limit.enter()
    try:
        with threadpool_limits(1):  # some libraries keep a limit for each thread
            yield
    finally:
        _limit.leave()

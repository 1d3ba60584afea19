"""One thread for the sums of linear algebra, whose last digits depend on the number of threads.

The limit holds for the whole process. Where several threads of one process compute side by side, it is set when the
first begins and lifted when the last has ended, so that none of them computes without.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import scipy.linalg  # noqa: F401  a limit is set on the libraries that are there: scipy has one of its own
from threadpoolctl import threadpool_limits


class _Keeper:
    """Holds the limit in a thread of its own: threadpoolctl lets only the thread that has set one lift it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def enter(self) -> None:
        """One more computes; the limit holds when this returns."""
        with self._lock:
            if self._within == 0:
                held, self._end = threading.Event(), threading.Event()
                self._thread = threading.Thread(target=self._hold, args=(held, self._end), daemon=True)
                self._thread.start()
                held.wait()
            self._within += 1

    def leave(self) -> None:
        """One less."""
        with self._lock:
            self._within -= 1
            if self._within == 0 and self._thread is not None:
                self._end.set()
                self._thread.join()

    @staticmethod
    def _hold(held: threading.Event, end: threading.Event) -> None:
        with threadpool_limits(1):
            held.set()
            end.wait()


_keeper = _Keeper()


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, libraries of linear algebra use one thread."""
    _keeper.enter()
    try:
        with threadpool_limits(1):  # some libraries keep a limit for each thread
            yield
    finally:
        _keeper.leave()

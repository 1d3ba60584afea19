"""Work that several threads hand in is done in groups: one thread does what all have handed in meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Together(Generic[Request, Answer]):
    """A queue without a thread of its own: the caller who has waited longest works for all who wait."""

    def __init__(self, work: Callable[[Sequence[Request]], Sequence[Answer]], *, most: int) -> None:
        """Prepare the queue.

        Args:
            work: returns the answer to each of at most `most` requests. An error that it raises is every caller's.
            most: largest number of requests that are worked on together.
        """
        self._work = work
        self._most = most
        self._pending: list[tuple[Request, Future[Answer], threading.Event]] = []
        self._is_busy = False
        self._lock = threading.Lock()

    def submit(self, request: Request) -> Answer:
        """Return the answer to a request, after whatever is being worked on and what was handed in before."""
        answer, turn = Future[Answer](), threading.Event()
        with self._lock:
            self._pending.append((request, answer, turn))
            leads, self._is_busy = not self._is_busy, True
        if not leads:
            turn.wait()  # for the answer, or for its turn to work
        if not answer.done():
            self._work_on_next()
        return answer.result()

    def _work_on_next(self) -> None:
        """Work on the oldest requests, of which the caller's is the first, and let the next caller work."""
        with self._lock:
            group, self._pending = self._pending[: self._most], self._pending[self._most :]
        try:
            answers = self._work([request for request, _, _ in group])
            for (_, waiting, _), answer in zip(group, answers, strict=True):
                waiting.set_result(answer)
        except BaseException as error:  # noqa: BLE001 (each caller raises it)
            for _, waiting, _ in group:
                if not waiting.done():
                    waiting.set_exception(error)
        finally:
            with self._lock:
                self._is_busy = bool(self._pending)
                turns = [turn for _, _, turn in group] + [turn for _, _, turn in self._pending[:1]]
            for turn in turns:
                turn.set()

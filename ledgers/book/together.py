"""Work that several threads hand in is done in groups: one thread does what all have handed in meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Together(Generic[Request, Answer]):
    """A queue without a thread of its own. Its first waiting caller works for all callers who wait."""

    def __init__(self, work: Callable[[Sequence[Request]], Sequence[Answer]], *, most: int) -> None:
        """Prepare the queue.

        Args:
            work: returns the answer to each of at most `most` requests. An error that it raises is every caller's.
            most: largest number of requests that are worked on together.
        """
        self._work = work
        self._most = most
        self._pending: list[tuple[Request, Future[Answer]]] = []
        self._queue = threading.Lock()
        self._turn = threading.Lock()

    def submit(self, request: Request) -> Answer:
        """Return the answer to a request, after whatever is being worked on and what was handed in before."""
        answer = Future[Answer]()
        with self._queue:
            self._pending.append((request, answer))
        while not answer.done():
            with self._turn:
                if not answer.done():
                    self._work_on_next()
        return answer.result()

    def _work_on_next(self) -> None:
        with self._queue:
            group, self._pending = self._pending[: self._most], self._pending[self._most :]
        try:
            answers = self._work([request for request, _ in group])
        except BaseException as error:  # noqa: BLE001 (each caller raises it)
            for _, waiting in group:
                waiting.set_exception(error)
            return
        for (_, waiting), answer in zip(group, answers, strict=True):
            waiting.set_result(answer)

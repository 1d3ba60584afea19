"""Work of several threads in groups: one thread works on all requests that were submitted meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class _Caller(Generic[Request, Answer]):
    """A caller who waits for the answer to a request.

    Attributes:
        request: the request that is to be answered.
        answer: future of the answer.
        turn: event that ends the wait: the request was answered, or the caller must work on the next requests.
        has_left: whether the caller no longer waits.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.answer = Future[Answer]()
        self.turn = threading.Event()
        self.has_left = False


class Together(Generic[Request, Answer]):
    """Queue that answers several requests in one call of a function, for example in one transaction.

    It has no thread of its own. The caller who has waited longest calls the function for all waiting callers.
    """

    def __init__(self, work: Callable[[Sequence[Request]], Sequence[Answer]], *, most: int) -> None:
        """Prepare a queue that answers requests of several threads together.

        Args:
            work: returns the answer to each of at most `most` requests. If it raises an error, each of their callers
                gets it. If it is interrupted, it is called again for the requests of the other callers.
            most: largest number of requests in one call.
        """
        self._work = work
        self._most = most
        self._pending: list[_Caller[Request, Answer]] = []
        self._leader: _Caller[Request, Answer] | None = None
        """The caller who works or whose turn it is; None while nobody waits."""
        self._lock = threading.Lock()

    def submit(self, request: Request) -> Answer:
        """Wait until the request was answered together with others, and return its answer or raise its error.

        A caller who is interrupted leaves the queue, and the next caller takes over.

        Args:
            request: the request to answer.

        Returns:
            The answer that the work function gave for this request.

        Raises:
            Exception: the error of the work function, which all requests of its call get.
        """
        caller = _Caller[Request, Answer](request)
        try:
            # The first caller without a leader becomes the leader, who works for all waiting callers.
            with self._lock:
                self._pending.append(caller)
                is_leader = self._leader is None
                if is_leader:
                    self._leader = caller
            if not is_leader:
                caller.turn.wait()
            if not caller.answer.done():
                self._work_on_next(caller)
        finally:
            self._leave(caller)
        return caller.answer.result()

    def _work_on_next(self, leader: _Caller[Request, Answer]) -> None:
        """Answer the oldest waiting requests in one call of the work function, and wake their callers.

        The leader is the caller who does this in its own thread; its request is the first of them.

        If the call is interrupted, for example by KeyboardInterrupt, the other requests return to the queue.

        Args:
            leader: the caller; the requests are answered in its thread.
        """
        with self._lock:
            group, self._pending = self._pending[: self._most], self._pending[self._most :]
        try:
            answers = self._work([caller.request for caller in group])
            for caller, answer in zip(group, answers, strict=True):
                caller.answer.set_result(answer)
        except Exception as error:  # noqa: BLE001 (each caller raises it)
            for caller in group:
                if not caller.answer.done():
                    caller.answer.set_exception(error)
        finally:  # after an interruption the others wait for another leader
            with self._lock:
                waiting = [caller for caller in group if caller is not leader and not caller.has_left]
                self._pending = [caller for caller in waiting if not caller.answer.done()] + self._pending
            for caller in waiting:
                if caller.answer.done():
                    caller.turn.set()

    def _leave(self, caller: _Caller[Request, Answer]) -> None:
        """Remove a caller from the queue. If the caller was the leader, the next caller becomes the leader.

        Args:
            caller: the caller, whether it has its answer or was interrupted.
        """
        with self._lock:
            caller.has_left = True
            if caller in self._pending:
                self._pending.remove(caller)
            # The new leader wakes up and works for all that wait.
            if self._leader is caller:
                self._leader = self._pending[0] if self._pending else None
                if self._leader is not None:
                    self._leader.turn.set()

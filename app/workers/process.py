"""A task, and the worker process that computes it.

A task is one computation that waits for a worker, runs in one, or has ended.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, cast

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.workers.work import HEAD, Failed, Outcome, RenderedAnswer, frame

Lane = Literal["read", "question", "job"]
LANES: tuple[Lane, ...] = ("read", "question", "job")
State = Literal["queued", "running", "ended"]
Cause = Literal["crashed", "displaced", "abandoned", "cancelled"]
"""Reason of the death of a worker."""
NICER: Final = 5
"""Niceness of questions above that of the event loop, which must stay quick while every core computes."""
NICER_JOBS: Final = 15
"""Niceness of jobs above that of the event loop: questions get nine tenths of a core that they share with a job."""


@dataclass(frozen=True)
class TurnedAway:
    """The outcome of a task that was removed from a full queue to make room for a task of another caller."""

    problem: Problem

    def get(self) -> RenderedAnswer:
        """Raise the problem."""
        raise self.problem


@dataclass(eq=False, kw_only=True)
class Task:
    """One computation of one caller, which waits for a worker process, runs in one, or has ended.

    Attributes:
        message: the pickled computation.
        caller: identity of the caller.
        lane: queue in which the task waits: that of requests to read, of questions or of jobs.
        state: whether the task waits, runs or has ended.
        outcome: answer or error, which is set at the end; None if the task was stopped.
        queued_seconds: time that the task waited for a worker.
        cpu_seconds: processor time of the worker; for a worker that was killed, the time for which it had the task.
        done: event that is set at the end.
        abandoned: True if no request waits for the task any more.
        background: True if the task continues at the priority of jobs, and no longer counts as one of its own lane.
        deaths: number of workers that died while they had the task.
        since: time of the last change of state, by the monotonic clock.
    """

    message: bytes
    caller: str
    lane: Lane
    state: State = "queued"
    outcome: Outcome | TurnedAway | None = None
    queued_seconds: float = 0.0
    cpu_seconds: float = 0.0
    done: anyio.Event = field(default_factory=anyio.Event)
    abandoned: bool = False
    background: bool = False
    deaths: int = 0
    since: float = field(default_factory=time.monotonic)

    def become(self, state: State) -> float:
        """Change the state of the task, and return the seconds that it has spent in the previous state."""
        now = time.monotonic()
        spent_seconds = now - self.since
        self.since = now
        self.state = state
        return spent_seconds

    def end(self, outcome: Outcome | TurnedAway | None) -> None:
        """End the task with an outcome, or with None if it was stopped, and wake all that wait for it."""
        self.become("ended")
        self.outcome = outcome
        self.message = b""
        self.done.set()


class Process(asyncio.Protocol):
    """A worker process, seen from the service: its present task, and the connection to it.

    The service sends a task as one message. The worker answers with a message that has the outcome and the CPU time.
    The class is an asyncio protocol, so the event loop calls `data_received` and `connection_lost`.
    """

    def __init__(self, identifier: int) -> None:
        """Store the process id of a worker that has no task and has sent no message yet.

        Args:
            identifier: the process id.
        """
        self.identifier = identifier
        self.task: Task | None = None  # the task that the worker computes
        self.low = False  # True if the worker has the priority of jobs, which cannot be raised again
        self.killed = False
        self.gone = False  # True if the process has died; another process may have its identifier
        # Takes the outcome of each task and its processor time in seconds.
        self.on_outcome: Callable[[Process, Outcome, float], None] | None = None
        self.on_death: Callable[[Process], None] | None = None
        self.ready = asyncio.Event()  # set by the first message, and by the death of the worker
        self._received = bytearray()

    def start(self, task: Task) -> None:
        """Send a task to the worker, which must have none."""
        self.task = task
        self._transport.write(frame(task.message))

    def lower_priority(self) -> None:
        """Lower the priority from that of questions to that of jobs, for good."""
        self.low = True
        with suppress(OSError):  # the worker has just died
            niceness = os.getpriority(os.PRIO_PROCESS, self.identifier)
            os.setpriority(os.PRIO_PROCESS, self.identifier, niceness + NICER_JOBS - NICER)

    def kill(self) -> None:
        """End the process now; its death is noted soon after."""
        self.killed = True
        if not self.gone:
            with suppress(ProcessLookupError):  # the worker has died by itself
                os.kill(self.identifier, signal.SIGKILL)
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of the connection."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Append data to the buffer, and pass each complete message on to `on_outcome`.

        Each message is preceded by its length (`HEAD`). The first message of a worker only says that it is ready, and
        `on_outcome` is not set at that time.

        Args:
            data: received bytes. A message may be split over several calls, and one call may bring several messages.
        """
        self._received += data
        while len(self._received) >= HEAD.size:
            end = HEAD.size + HEAD.unpack_from(self._received)[0]
            if len(self._received) < end:
                return
            message = bytes(self._received[HEAD.size : end])
            del self._received[:end]
            if self.on_outcome is not None:
                self.on_outcome(self, *_unpickle_outcome(message))
            self.ready.set()

    def connection_lost(self, _: Exception | None) -> None:
        """Note that the process has died, and call `on_death`."""
        self.gone = True
        self.ready.set()
        if self.on_death is not None:
            self.on_death(self)


def _unpickle_outcome(message: bytes) -> tuple[Outcome, float]:
    """Return the outcome in a message of a worker, and the processor time of the task in seconds."""
    try:
        outcome, seconds = pickle.loads(message)  # noqa: S301 (from our own worker)
    except Exception:  # noqa: BLE001 (a fault of ours; the worker can go on)
        return Failed(traceback.format_exc()), 0.0
    return outcome, seconds

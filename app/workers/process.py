"""A task, and the worker process that computes it.

A task is one computation that waits for a worker, runs in one, or has ended.

A process is the service's end of a worker's wire, which the event loop reads and writes without blocking. What is to be
sent and may be large is pickled in a thread.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import socket
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

import anyio

from epsilond.app.http.problems import Problem
from epsilond.app.workers.work import BEGAN, Computation, Failed, Inbox, Outcome, RenderedAnswer, framed

Lane = Literal["read", "question", "job"]
LANES: tuple[Lane, ...] = ("read", "question", "job")
State = Literal["queued", "running", "ended"]
TRIES: Final[Mapping[Lane, int]] = {"read": 4, "question": 2, "job": 5}
"""Number of workers that may die of a task of each lane; the worker of a long task is more often killed for others."""
STARTS: Final = 8
"""Number of workers that a task is given to at most; one that died before it began is no death of the task."""
Cause = Literal["crashed", "displaced", "abandoned", "cancelled"]
"""Why a worker died."""


@dataclass(frozen=True)
class TurnedAway:
    """What comes of a task that had to leave the queue for another caller's."""

    problem: Problem

    def get(self) -> RenderedAnswer:
        """Raises the problem."""
        raise self.problem


@dataclass(eq=False, kw_only=True)
class Task:
    """One computation of one caller. `outcome` stays None if it was dropped or killed because nobody wants it."""

    work: Computation | bytes
    """The computation, or the bytes it pickles to."""
    caller: str
    lane: Lane
    small: bool = False
    """Whether the computation pickles in no time."""
    state: State = "queued"
    outcome: Outcome | TurnedAway | None = None
    queued_seconds: float = 0.0
    """How long it waited for a worker."""
    cpu_seconds: float = 0.0
    """What the worker spent on it; of a killed one the time that it ran."""
    done: anyio.Event = field(default_factory=anyio.Event)
    abandoned: bool = False
    """Whether nobody waits for it."""
    background: bool = False
    """Whether it runs past its deadline, on nobody's place."""
    late: bool = False
    """Whether it is past its deadline, so that it leaves its place as soon as there is room in the background."""
    deaths: int = 0
    """How many workers have died of it."""
    starts: int = 0
    """How many workers have died that it was given to."""
    since: float = field(default_factory=time.monotonic)
    """When it came into its present state, by the monotonic clock."""

    @property
    def has_failed(self) -> bool:
        """Whether so many workers have died that the task is not tried again."""
        return self.deaths >= TRIES[self.lane] or self.starts >= STARTS

    def become(self, state: State) -> float:
        """Change state; answers the seconds spent in the one before."""
        now = time.monotonic()
        spent, self.since, self.state = now - self.since, now, state
        return spent

    def end(self, outcome: Outcome | TurnedAway | None) -> None:
        """It has ended, and whoever waits for it is told."""
        self.become("ended")
        self.outcome = outcome
        self.work = b""
        self.done.set()


Ended = Callable[["Process", Outcome, float], None]
Gone = Callable[["Process", bool], None]


class Process:
    """A worker that lives. All of it belongs to the event loop's thread."""

    def __init__(self, identifier: int, wire: socket.socket) -> None:
        self.identifier = identifier
        self.task: Task | None = None
        """What it computes."""
        self.low = False
        """Whether it has stepped back to the priority of jobs; there is no way forward."""
        self.killed = False
        self.gone = asyncio.Event()
        """Set when the process has died."""
        self._wire = wire
        self._inbox = Inbox()
        self._unsent: memoryview | None = None
        self._began = False

    def watch(self, ended: Ended, gone: Gone) -> None:
        """Listen to it in the running loop.

        `ended` is called with the outcome of a task and the processor time that it took, `gone` once, when the process
        has died, with whether it had begun with its task.
        """
        self._ended, self._told_gone = ended, gone
        self._loop = asyncio.get_running_loop()
        self._wire.setblocking(False)
        self._loop.add_reader(self._wire, self._read)

    def start(self, task: Task) -> None:
        """Give it a task; it has none."""
        self.task = task
        if isinstance(task.work, bytes):
            self._send(task.work)
        elif task.small:
            self._pickled(task, _message(task.work))
        else:
            try:
                pickled = self._loop.run_in_executor(None, _message, task.work)
            except RuntimeError:  # there is no thread left
                self._pickled(task, _message(task.work))
            else:
                pickled.add_done_callback(lambda done: self._pickled(task, done.result()))

    def step_back(self) -> None:
        """Lower its priority from that of questions to that of jobs."""
        self.low = True
        with suppress(OSError):  # it has just died, which its wire will tell
            now = os.getpriority(os.PRIO_PROCESS, self.identifier)
            os.setpriority(os.PRIO_PROCESS, self.identifier, now + NICER_JOBS - NICER)

    def kill(self) -> None:
        """End the process now; `gone` is told when its wire has ended."""
        self.killed = True
        if not self.gone.is_set():
            with suppress(ProcessLookupError):  # it has died by itself
                os.kill(self.identifier, signal.SIGKILL)

    def _pickled(self, task: Task, message: bytes | Failed) -> None:
        if self.task is not task or self.gone.is_set():  # it was stopped meanwhile, or its process has died
            return
        if isinstance(message, Failed):
            self._loop.call_soon(self._ended, self, message, 0.0)
        else:
            self._send(message)

    def _send(self, message: bytes) -> None:
        self._unsent = memoryview(framed(message))
        self._write()
        if self._unsent is not None:
            self._loop.add_writer(self._wire, self._write)

    def _write(self) -> None:
        """Send as much as the wire takes."""
        if self._unsent is None:
            return
        try:
            sent = self._wire.send(self._unsent)
        except BlockingIOError:
            return
        except OSError:  # it has just died, which the reader will tell
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:] if sent < len(self._unsent) else None
        if self._unsent is None:
            self._loop.remove_writer(self._wire)

    def _read(self) -> None:
        """Take what has come; at the end of the wire the process is dead."""
        try:
            self._inbox.take(self._wire)
        except BlockingIOError:
            return
        except (EOFError, OSError):
            self._die()
            return
        while (message := self._inbox.next()) is not None:
            if message == BEGAN:
                self._began = True
            else:
                self._began = False
                self._ended(self, *_outcome(message))

    def _die(self) -> None:
        self._loop.remove_reader(self._wire)
        self._loop.remove_writer(self._wire)
        self._wire.close()
        self._unsent = None
        self.gone.set()
        self._told_gone(self, self._began)


def _message(work: Computation) -> bytes | Failed:
    """A computation as bytes, or why it has none."""
    try:
        return pickle.dumps(work)
    except Exception:  # noqa: BLE001 (a fault of ours; the process is none the worse)
        return Failed(traceback.format_exc())


def _outcome(answer: bytes) -> tuple[Outcome, float]:
    """What a worker has answered, and the processor time that it took in seconds."""
    try:
        outcome, seconds = pickle.loads(answer)  # noqa: S301 (from our own worker)
    except Exception:  # noqa: BLE001 (a fault of ours; the process is none the worse)
        return Failed(traceback.format_exc()), 0.0
    return outcome, seconds


NICER = 5
"""Niceness of computations that somebody waits for, above that of the event loop."""
NICER_JOBS = 15
"""Niceness of jobs, above that of the event loop."""


class WarmWorkers:
    """The workers without a task, by priority."""

    def __init__(self) -> None:
        self.usual: list[Process] = []
        """Those at the priority of questions."""
        self.low: list[Process] = []
        """Those at the priority of jobs."""

    def put(self, process: Process) -> None:
        """Keep a worker for a next task."""
        (self.low if process.low else self.usual).append(process)

    def take(self, lane: Lane) -> Process | None:
        """Return a worker at the priority of a lane, which is no longer kept; None if there is none yet."""
        if lane == "job" and self.low:
            return self.low.pop()
        if not self.usual:
            return None
        process = self.usual.pop()
        if lane == "job":
            process.step_back()
        return process

    def discard(self, process: Process) -> None:
        """Keep a worker no longer, if it was kept."""
        for kept in (self.usual, self.low):
            if process in kept:
                kept.remove(process)

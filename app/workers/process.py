"""One worker process as the service sees it: its end of the wire, which the event loop reads and writes.

Nothing of it blocks. What is to be sent and may be large is pickled in a thread.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress

from epsilond.app.workers.task import Lane, Task
from epsilond.app.workers.work import BEGAN, Computation, Failed, Inbox, Outcome, framed

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

    def step_back(self, nicer: int) -> None:
        """Let it make way for others, so much more than it does."""
        self.low = True
        with suppress(OSError):  # it has just died, which its wire will tell
            now = os.getpriority(os.PRIO_PROCESS, self.identifier)
            os.setpriority(os.PRIO_PROCESS, self.identifier, now + nicer)

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


def step_back(process: Process) -> None:
    """Lower the priority of a worker from that of questions to that of jobs."""
    process.step_back(NICER_JOBS - NICER)


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
            step_back(process)
        return process

    def discard(self, process: Process) -> None:
        """Keep a worker no longer, if it was kept."""
        for kept in (self.usual, self.low):
            if process in kept:
                kept.remove(process)

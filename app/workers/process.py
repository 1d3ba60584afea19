"""One worker process as the service sees it: its wire, and the thread that sends to it and waits for it."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from selectors import EVENT_READ, PollSelector
from threading import Thread

from epsilond.app.workers.task import Task
from epsilond.app.workers.work import Computation, Failed, Outcome

Ended = Callable[["Process", Outcome, float], None]
Gone = Callable[["Process", bool], None]


class Process:
    """A worker that lives. Pickling, sending and waiting happen in its thread; the callbacks are called there too."""

    def __init__(self, identifier: int, wire: Connection) -> None:
        self.identifier = identifier
        self.task: Task | None = None
        """What it computes."""
        self.low = False
        """Whether it has stepped back to the priority of jobs; there is no way forward."""
        self.killed = False
        self._work: Computation | bytes = b""
        self._wire = wire
        self.dead = False
        self._ear, self._bell = Pipe(duplex=False)

    def watch(self, ended: Ended, gone: Gone) -> None:
        """Start the thread. It calls `ended` with the outcome of a task and the processor time that it took.

        It calls `gone` once, when the process has died, with whether it had begun with its task.
        """
        self._thread = Thread(target=self._serve, args=(ended, gone), name=f"worker {self.identifier}", daemon=True)
        self._thread.start()

    def start(self, task: Task) -> None:
        """Give it a task; it has none."""
        self.task, self._work = task, task.work
        with suppress(OSError):  # it has just died, which its thread will tell
            self._bell.send_bytes(b"!")

    def step_back(self, nicer: int) -> None:
        """Let it make way for others, so much more than it does."""
        self.low = True
        with suppress(OSError):  # it has just died, which its thread will tell
            now = os.getpriority(os.PRIO_PROCESS, self.identifier)
            os.setpriority(os.PRIO_PROCESS, self.identifier, now + nicer)

    def kill(self) -> None:
        """End the process now; its thread tells when it is gone."""
        self.killed = True
        if not self.dead:
            with suppress(ProcessLookupError):  # it has died by itself
                os.kill(self.identifier, signal.SIGKILL)

    def join(self) -> None:
        """Wait until its thread has ended, which it does when the process has."""
        self._thread.join()

    def _serve(self, ended: Ended, gone: Gone) -> None:
        began = False
        listening = PollSelector()
        for end in (self._ear, self._wire):
            listening.register(end, EVENT_READ)
        try:
            while self._wire not in [key.fileobj for key, _ in listening.select()]:
                self._ear.recv_bytes()
                message = self._message()
                if isinstance(message, Failed):
                    ended(self, message, 0.0)
                    continue
                self._wire.send_bytes(message)
                self._wire.recv_bytes()
                began = True
                outcome, seconds = self._read(self._wire.recv_bytes())
                began = False
                ended(self, outcome, seconds)
        except (EOFError, OSError):
            pass
        finally:
            self.dead = True
            listening.close()
            for end in (self._wire, self._ear, self._bell):
                end.close()
            gone(self, began)

    def _message(self) -> bytes | Failed:
        work, self._work = self._work, b""
        if isinstance(work, bytes):
            return work
        try:
            return pickle.dumps(work)
        except Exception:  # noqa: BLE001 (a fault of ours; the process is none the worse)
            return Failed(traceback.format_exc())

    def _read(self, answer: bytes) -> tuple[Outcome, float]:
        try:
            outcome, seconds = pickle.loads(answer)  # noqa: S301 (from our own worker)
        except Exception:  # noqa: BLE001 (a fault of ours; the process is none the worse)
            return Failed(traceback.format_exc()), 0.0
        return outcome, seconds

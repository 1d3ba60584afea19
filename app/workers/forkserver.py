"""The service's end of its forkserver: a thread that has workers made, one after the other, and never gives up."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Event, Thread

import structlog

from epsilond.app.workers.preload import ORDER, PROCESS
from epsilond.app.workers.process import Process
from epsilond.app.workers.work import ONE_THREAD, Wire

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 5.0
"""Seconds between attempts to make a worker, from the first failure on."""
PROGRAM = (
    "import json, sys; control, service, modules, sys.path[:] = json.loads(sys.argv[1]);"
    " from epsilond.app.workers.preload import main; main(control, service, tuple(modules))"
)
"""What the forkserver runs: nothing of the file that the service was started from."""


class ForkServer:
    """Makes workers on demand. It is started with the first one, and again whenever it has died."""

    def __init__(self, modules: tuple[str, ...], memory_megabytes: int, nicer: int) -> None:
        self._modules = modules
        self._order = ORDER.pack(nicer, memory_megabytes)
        self._wanted: SimpleQueue[bool] = SimpleQueue()
        self._stopping = Event()
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log = structlog.get_logger()

    def start(self, born: Callable[[Process], object]) -> None:
        """Start the thread; it calls `born` with each new worker, which is ready to compute."""
        self._thread = Thread(target=self._serve, args=(born,), name="forkserver", daemon=True)
        self._thread.start()

    def want(self) -> None:
        """One worker more; it will come, however long it takes."""
        self._wanted.put(True)

    def stop(self) -> None:
        """Make no worker more; the forkserver ends, and on Linux the kernel kills its workers with it."""
        self._stopping.set()
        self._wanted.put(False)
        server = self._server
        if server is not None:
            server.kill()  # whoever waits for an answer of it gets the end of the file

    def join(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    @property
    def process(self) -> int | None:
        """The process id of the forkserver; None if there is none."""
        return None if self._server is None else self._server.pid

    def _serve(self, born: Callable[[Process], object]) -> None:
        try:
            while self._wanted.get() and not self._stopping.is_set():
                process = self._made()
                if process is not None:
                    born(process)
        finally:
            self._end()

    def _made(self) -> Process | None:
        """A new worker, after as many attempts as it takes; None if it is to stop."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            try:
                return self._forked()
            except (OSError, EOFError, RuntimeError) as error:
                if not self._stopping.is_set():
                    self._log.warning("worker cannot be started", error=str(error) or type(error).__name__)
            self._stopping.wait(pause)
            pause = min(2.0 * pause, LONGEST_PAUSE)
        return None

    def _forked(self) -> Process:
        """A new worker that has said that it is ready.

        Raises:
            OSError: there are no processes or descriptors left.
            EOFError: the worker, or the forkserver, has died.
            RuntimeError: there is no thread left.
        """
        control = self._running()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                identifier = self._ask(control, theirs.fileno())
            Wire(ours).receive()
        except BaseException:
            ours.close()
            raise
        return Process(identifier, ours)

    def _ask(self, control: socket.socket, wire: int) -> int:
        """The process id of a new worker that holds this end of a wire."""
        try:
            socket.send_fds(control, [self._order], [wire])
            told = control.recv(PROCESS.size, socket.MSG_WAITALL)
        except OSError:
            self._end()
            raise
        if len(told) < PROCESS.size:
            self._end()
            raise EOFError("the forkserver has died")
        identifier: int = PROCESS.unpack(told)[0]
        if identifier < 0:
            raise OSError(-identifier, os.strerror(-identifier))
        return identifier

    def _running(self) -> socket.socket:
        """The line to the forkserver, which is started if it does not run."""
        if self._control is not None:
            return self._control
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                said = json.dumps([theirs.fileno(), os.getpid(), self._modules, sys.path])
                self._server = subprocess.Popen(  # noqa: S603 (nothing in it comes from a client)
                    [sys.executable, "-c", PROGRAM, said],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=os.environ | ONE_THREAD,
                    pass_fds=[theirs.fileno()],
                )
        except BaseException:
            ours.close()
            raise
        self._control = ours
        if self._stopping.is_set():  # it was asked to stop before there was anything to kill
            self._server.kill()
        return ours

    def _end(self) -> None:
        """Let go of the forkserver, and bury it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._server is not None:
            with suppress(ProcessLookupError):
                self._server.kill()
            self._server.wait()
            self._server = None

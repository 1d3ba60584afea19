"""Fork servers for services in this process: each a fork of one process that has imported what workers need.

A service that starts alone forks its fork server from itself (`fork_server` of `epsilond.app.workers.forkserver`). A
service in a thread of the tests cannot, and would import everything again, for two CPU seconds.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache

from epsilond.app.workers.preload import PROCESS, main
from epsilond.app.workers.threads import ONE_THREAD
from epsilond.app.workers.work import load
from tests.app.processes import gone

PROGRAM = (
    "import json, sys; orders, modules, sys.path[:] = json.loads(sys.argv[1]);"
    " from tests.app.imported import run; run(orders, tuple(modules))"
)
OF_TESTS = "PYTEST_CURRENT_TEST"
"""A variable that each test changes."""


@dataclass(frozen=True)
class Forked:
    """A fork server, and the service's end of the connection to it: a `ForkedServer` that is no child of this process."""

    pid: int
    control: socket.socket

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        while not gone(self.pid):
            time.sleep(0.001)
        return 0


@dataclass(frozen=True)
class Imported:
    """A process that has imported the modules, in the environment that it was started in."""

    process: subprocess.Popen[bytes]
    orders: socket.socket
    environment: dict[str, str]
    lock: threading.Lock = field(default_factory=threading.Lock)

    def fork(self) -> Forked:
        ours, theirs = socket.socketpair()
        with theirs, self.lock:
            socket.send_fds(self.orders, [b"\n"], [theirs.fileno()])
            return Forked(PROCESS.unpack(self.orders.recv(PROCESS.size))[0], ours)

    def end(self) -> None:
        self.orders.close()
        self.process.wait()


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != OF_TESTS}


@cache
def imported(modules: tuple[str, ...]) -> Imported:
    """Start the process; it ends with this one."""
    ours, theirs = socket.socketpair()
    with theirs:
        command = [sys.executable, "-c", PROGRAM, json.dumps([theirs.fileno(), modules, sys.path])]
        own = environment()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=own | ONE_THREAD, pass_fds=[theirs.fileno()])
    found = Imported(process, ours, own)
    atexit.register(found.end)
    return found


def forked_server(modules: tuple[str, ...]) -> Forked | None:
    """Return a fork server for these modules; None where a test has changed the environment, which workers inherit."""
    process = imported(modules)
    return process.fork() if process.environment == environment() else None


def run(orders: int, modules: tuple[str, ...]) -> None:
    """Import the modules, and fork a fork server for each order, until the connection ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel then reaps the fork servers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    load(modules)
    with socket.socket(fileno=orders) as connection:
        while True:
            order, controls, _, _ = socket.recv_fds(connection, 1, 1)
            if not order:
                return
            own = os.getpid()
            process = os.fork()
            if process == 0:
                connection.close()
                try:
                    main(controls[0], own, modules)
                finally:
                    os._exit(0)
            os.close(controls[0])
            connection.sendall(PROCESS.pack(process))

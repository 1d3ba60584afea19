"""The service's end of its fork server, which makes workers one after another."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn, Protocol

import anyio
import structlog
from anyio import to_thread

from epsilond.app.workers.preload import ORDER, PROCESS, main
from epsilond.app.workers.process import NICER, Process
from epsilond.app.workers.threads import ONE_THREAD

FIRST_PAUSE: Final = 0.1
"""Pause after the first failed attempt to make a worker, in seconds; each further pause is twice as long."""
LONGEST_PAUSE: Final = 5.0
"""Longest pause between attempts, in seconds."""
PROGRAM: Final = (
    "import json, sys; control, service, modules, sys.path[:] = json.loads(sys.argv[1]);"
    " from epsilond.app.workers.preload import main; main(control, service, tuple(modules))"
)
"""Program of the fork server; it imports nothing of the file that started the service."""


class ServerProcess(Protocol):
    """The process of a fork server, which was forked from the service or started as a program.

    A fork server is a process that has imported all modules, and forks itself for each new worker.
    """

    @property
    def pid(self) -> int:
        """The process id."""

    def kill(self) -> None:
        """Kill the process."""

    def wait(self) -> int:
        """Wait until the process has ended, and return its status."""


@dataclass(frozen=True)
class ForkedServer:
    """A fork server that is a fork of the service itself, and the service's end of the connection to it.

    A fork server is a process that has imported all modules, and forks itself for each new worker.

    Attributes:
        pid: process id of the fork server.
        control: the connection to it.
    """

    pid: int
    control: socket.socket

    def kill(self) -> None:
        """Kill the process, if it still runs."""
        with suppress(ChildProcessError, ProcessLookupError):
            if os.waitpid(self.pid, os.WNOHANG) == (0, 0):
                os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until the process has ended, and return its status; 0 if an earlier call has returned the status."""
        with suppress(ChildProcessError):
            return os.waitpid(self.pid, 0)[1]
        return 0


def fork_server(modules: tuple[str, ...]) -> ForkedServer | None:
    """Fork this process into a fork server, which shares its imported modules and therefore needs no second import.

    Call it before the service opens any file: the fork server and its workers inherit every open file of this process.
    Only the service returns from this call. The fork server runs until its connection ends, and then exits.

    Args:
        modules: names of the modules to import before the first fork of a worker.

    Returns:
        The fork server, or None if forking is unsafe: on systems other than Linux, in a process with several threads,
        or if the environment lets numerical libraries use more than one thread.
    """
    if sys.platform != "linux" or threading.active_count() > 1 or not ONE_THREAD.items() <= os.environ.items():
        return None
    ours, theirs = socket.socketpair()
    service = os.getpid()
    gc.freeze()  # garbage collections must not write to the pages that both processes share
    process = os.fork()
    if process == 0:
        _become_fork_server(ours, theirs, service, modules)
    theirs.close()
    return ForkedServer(process, ours)


def _become_fork_server(
    service_end: socket.socket, control: socket.socket, service: int, modules: tuple[str, ...]
) -> NoReturn:
    """Run the fork server in this process, a fork of the service, and exit when its connection ends.

    The process is a copy of the service, so it gives up the resources of the service. It exits in every case, also
    after an error, because it must not go on as a second service.

    Args:
        service_end: copy of the service's end of the connection, which is closed here.
        control: the fork server's end of the connection.
        service: process id of the service.
        modules: names of the modules to import before the first fork of a worker.
    """
    code = 1
    try:
        service_end.close()
        # Standard input and output belong to the service; this process must not use them.
        null_device = os.open(os.devnull, os.O_RDWR)
        for standard_stream in (0, 1):
            os.dup2(null_device, standard_stream)
        os.close(null_device)
        main(control.detach(), service, modules)
        code = 0
    except BaseException:  # noqa: BLE001 (a copy of the service must not go on as a second one)
        traceback.print_exc()
    finally:
        os._exit(code)


class ForkServer:
    """Client of the fork server, which makes workers in the event loop.

    The process of the fork server is started for the first worker, and again after it has died.
    """

    def __init__(self, modules: tuple[str, ...], memory_megabytes: int, forked: ForkedServer | None = None) -> None:
        """Prepare a fork server, without starting it.

        Args:
            modules: names of the modules that every worker imports.
            memory_megabytes: limit of the address space of a worker [MB].
            forked: a running fork server to be used first; None to start one when it is needed.
        """
        self._modules = modules
        self._order = ORDER.pack(NICER, memory_megabytes)
        self._forked = forked
        self._server: ServerProcess | None = None
        self._control: socket.socket | None = None
        self._log = structlog.get_logger()

    @property
    def process(self) -> int | None:
        """The process id of the fork server; None if there is none."""
        return None if self._server is None else self._server.pid

    def is_alive(self) -> bool:
        """Return whether the fork server still runs, that is, whether the connection to it is open.

        The connection ends before the kernel kills the workers. Therefore the result is False as soon as the fork
        server has died, even while some of its workers still exist.

        Returns:
            True if the connection is open. False if it has ended, or if no fork server was started yet.
        """
        if self._control is None:
            return False
        try:
            # An empty read means that the other end is closed. MSG_PEEK leaves received bytes in place.
            return bool(self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def fork(self) -> Process:
        """Return a new worker process that is ready to compute.

        A failed attempt is logged, and repeated after a pause, without limit. The pause doubles up to `LONGEST_PAUSE`.

        Returns:
            The worker, which has no task yet.
        """
        pause = FIRST_PAUSE
        while True:
            try:
                return await self._attempt()
            except (OSError, EOFError, RuntimeError) as error:
                self._log.warning("worker cannot be started", error=str(error) or type(error).__name__)
            await anyio.sleep(pause)
            pause = min(2.0 * pause, LONGEST_PAUSE)

    async def close(self) -> None:
        """Kill the fork server. On Linux the kernel kills its workers with it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._server is not None:
            self._server.kill()
            await to_thread.run_sync(self._server.wait)
            self._server = None

    async def _attempt(self) -> Process:
        """Make one attempt to create a worker. The fork server is started first if it does not run.

        Returns:
            The worker, which has sent its first message and is ready for work.

        Raises:
            OSError: there are no processes or descriptors left.
            EOFError: the worker or the fork server has died.
            RuntimeError: there are no threads left.
        """
        if self._control is None:
            await self.close()  # the fork server may have died
        control = self._control or self._start()
        loop = asyncio.get_running_loop()
        # The worker gets one end of a new connection, over which tasks and outcomes are sent.
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                identifier = await self._order_worker(control, theirs.fileno())
            _, process = await loop.create_unix_connection(partial(Process, identifier), sock=ours)
        except BaseException:
            ours.close()
            raise
        try:
            await process.ready.wait()
        except BaseException:
            process.kill()
            raise
        if process.gone:
            raise EOFError("the worker has died")
        return process

    async def _order_worker(self, control: socket.socket, wire: int) -> int:
        """Ask the fork server for a worker, and return the process id of the worker.

        The order has the limits of the worker, and carries the worker's end of its connection.

        Args:
            control: connection to the fork server.
            wire: file descriptor of the worker's end of its connection to the service.

        Returns:
            The process id of the worker, which is running but not ready yet.

        Raises:
            OSError: the fork failed, or the connection failed; in the latter case the fork server is killed.
            EOFError: the fork server has died.
        """
        try:
            socket.send_fds(control, [self._order], [wire])
            answer = await asyncio.get_running_loop().sock_recv(control, PROCESS.size)
        except OSError:
            await self.close()
            raise
        if not answer:
            await self.close()
            raise EOFError("the fork server has died")
        identifier: int = PROCESS.unpack(answer)[0]
        # The fork server answers a failed fork with the negative error number.
        if identifier < 0:
            raise OSError(-identifier, os.strerror(-identifier))
        return identifier

    def _start(self) -> socket.socket:
        """Start the fork server, the process that forks workers, and return the connection to it.

        The service may have forked a first fork server, before its event loop and threads started. This one is used
        once. If there is none, or it has ended, the fork server is started as a new program.

        Returns:
            The service's end of the connection, which does not block.
        """
        if self._forked is not None:
            self._server = self._forked
            self._control = self._forked.control
            self._forked = None  # cannot be used again after its end
        else:
            self._server, self._control = _spawn(self._modules)
        self._control.setblocking(False)
        return self._control


def _spawn(modules: tuple[str, ...]) -> tuple[ServerProcess, socket.socket]:
    """Start a fork server as a program, and return its process and the service's end of the connection to it.

    The program gets its end of the connection as an inherited file descriptor.

    Args:
        modules: names of the modules to import before the first fork of a worker.

    Returns:
        The process, and the connection, which the caller must close.

    Raises:
        OSError: there are no processes or descriptors left.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            arguments = json.dumps([theirs.fileno(), os.getpid(), modules, sys.path])
            server = subprocess.Popen(  # noqa: S603 (no argument comes from a client)
                [sys.executable, "-c", PROGRAM, arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=os.environ | ONE_THREAD,
                pass_fds=[theirs.fileno()],
            )
    except BaseException:
        ours.close()
        raise
    return server, ours

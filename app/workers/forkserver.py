"""The service's end of its fork server, which makes workers one after another."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from typing import Final

import anyio
import structlog
from anyio import to_thread

from epsilond.app.workers.preload import ORDER, PROCESS
from epsilond.app.workers.process import NICER, Process, receive
from epsilond.app.workers.work import ONE_THREAD

FIRST_PAUSE: Final = 0.1
"""Pause after the first failed attempt to make a worker, in seconds; each further pause is twice as long."""
LONGEST_PAUSE: Final = 5.0
"""Longest pause between attempts, in seconds."""
BUFFER_BYTES: Final = 262_144
"""Bytes of an answer that the event loop reads before it serves other connections."""
PROGRAM: Final = (
    "import json, sys; control, service, modules, sys.path[:] = json.loads(sys.argv[1]);"
    " from epsilond.app.workers.preload import main; main(control, service, tuple(modules))"
)
"""Program of the fork server; it imports nothing of the file that started the service."""


class ForkServer:
    """Makes workers in the event loop. Its process starts with the first worker, and again whenever it has died."""

    def __init__(self, modules: tuple[str, ...], memory_megabytes: int) -> None:
        self._modules = modules
        self._order = ORDER.pack(NICER, memory_megabytes)
        self._server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log = structlog.get_logger()

    @property
    def process(self) -> int | None:
        """The process id of the fork server; None if there is none."""
        return None if self._server is None else self._server.pid

    def is_alive(self) -> bool:
        """Return whether the fork server lives. Its connection ends before the kernel kills its workers."""
        if self._control is None:
            return False
        try:
            return bool(self._control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def fork(self) -> Process:
        """Make a worker that is ready to compute, in as many attempts as it takes."""
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
        """Make a worker.

        Raises:
            OSError: there are no processes or descriptors left.
            EOFError: the worker or the fork server has died.
            RuntimeError: there are no threads left.
        """
        if self._control is None:
            await self.close()  # what is left of a process that died
        control = self._control or self._start()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                identifier = await self._order_worker(control, theirs.fileno())
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=BUFFER_BYTES)
        except BaseException:
            ours.close()
            raise
        try:
            await receive(reader)
        except BaseException:
            writer.close()
            raise
        return Process(identifier, reader, writer)

    async def _order_worker(self, control: socket.socket, wire: int) -> int:
        """Return the process id of a new worker that holds this end of a wire."""
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
        if identifier < 0:
            raise OSError(-identifier, os.strerror(-identifier))
        return identifier

    def _start(self) -> socket.socket:
        """Start the fork server, and return the connection to it."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                arguments = json.dumps([theirs.fileno(), os.getpid(), self._modules, sys.path])
                self._server = subprocess.Popen(  # noqa: S603 (no argument comes from a client)
                    [sys.executable, "-c", PROGRAM, arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env=os.environ | ONE_THREAD,
                    pass_fds=[theirs.fileno()],
                )
        except BaseException:
            ours.close()
            raise
        ours.setblocking(False)
        self._control = ours
        return ours

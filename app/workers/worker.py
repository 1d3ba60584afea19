"""What a worker process does: it reads computations from its wire and writes what came of them.

    service → worker   a pickled computation
    worker → service   READY once, as soon as it lives
                       BEGAN, then the pickled pair (outcome, seconds of processor time), for each computation

If the wire ends, so does the worker.

A message on the wire is eight bytes that say how long it is, and its bytes.
"""

from __future__ import annotations

import pickle
import socket
import struct
import time
import traceback
from functools import partial
from typing import Final

from epsilond.app.workers.work import Answered, Failed, confine, end_with, outcome_of

HEAD: Final = struct.Struct("!Q")
CHUNK: Final = 262_144
"""Most bytes that are taken from a socket at once."""


def framed(message: bytes) -> bytes:
    """A message as it goes over the wire."""
    return HEAD.pack(len(message)) + message


class Inbox:
    """What has come over a wire and was not opened yet."""

    def __init__(self) -> None:
        self._came = bytearray()

    def take(self, wire: socket.socket) -> None:
        """Add what a socket has, at most CHUNK bytes of it; a socket that blocks is waited for.

        Raises:
            EOFError: the other end is closed.
            BlockingIOError: a socket that does not block has nothing.
            OSError: the connection is broken.
        """
        chunk = wire.recv(CHUNK)
        if not chunk:
            raise EOFError("the wire has ended")
        self._came += chunk

    def next(self) -> bytes | None:
        """The oldest message that is complete, which leaves; None if there is none."""
        came = self._came
        if len(came) < HEAD.size:
            return None
        end = HEAD.size + HEAD.unpack_from(came)[0]
        if len(came) < end:
            return None
        with memoryview(came) as whole:
            message = bytes(whole[HEAD.size : end])
        del came[:end]
        return message


class Wire:
    """One end that blocks: a worker's, or the service's before the worker is ready."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._inbox = Inbox()

    def send(self, message: bytes) -> None:
        """Send a message.

        Raises:
            OSError: nobody takes it.
        """
        self._end.sendall(framed(message))

    def receive(self) -> bytes:
        """The next message, which is waited for.

        Raises:
            EOFError: the other end is closed.
            OSError: the connection is broken.
        """
        while (message := self._inbox.next()) is None:
            self._inbox.take(self._end)
        return message


READY = b"ready"
BEGAN = b"began"


def work(wire: Wire, forkserver: int, nicer: int, memory_megabytes: int) -> None:
    """Work until the wire ends. `forkserver` is the process id of the parent, which a worker does not outlive."""
    end_with(forkserver)
    confine(nicer, memory_megabytes)
    try:
        wire.send(READY)
        while True:
            message = wire.receive()
            wire.send(BEGAN)
            wire.send(answer_to(message))
            del message
    except (EOFError, OSError):
        return


def answer_to(message: bytes) -> bytes:
    """The pickled outcome of a pickled computation, and the processor time that it took in seconds."""
    before = time.process_time()
    outcome = outcome_of(partial(unpickled, message))
    try:
        return pickle.dumps((outcome, time.process_time() - before))
    except Exception:  # noqa: BLE001 (what cannot be sent is a fault of ours, as any other)
        return pickle.dumps((Failed(traceback.format_exc()), time.process_time() - before))


def unpickled(message: bytes) -> Answered:
    """Run the computation that the bytes hold."""
    computation = pickle.loads(message)  # noqa: S301 (from the service itself)
    answered: Answered = computation()
    return answered

"""Messages over the socket between the service and a worker: eight bytes that say how long one is, and its bytes."""

from __future__ import annotations

import socket
import struct
from typing import Final

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

"""What bounds a connection, whichever parser reads it.

Uvicorn waits for the head of a request for ever, and for a client that takes nothing of its answer. Its answers to what
is no HTTP, and to one connection too many, are no problems like ours; here they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from epsilond.app.http.connections.ending import Ending
from epsilond.app.http.middleware import HEADERS
from epsilond.app.http.problems import MEDIA_TYPE, Problem, response_of, text_of
from epsilond.app.settings import Settings

ALIVE = "/healthz"
"""Answered whatever happens: a service that is only busy must not be started anew."""
AGAIN_SECONDS = "5"
DRAINED = 16
"""How many times the limit of bodies is read and thrown away of a client that goes on after its answer."""

FIELD = 4
"""Bytes of a field of a head beside its name and value."""


def head_bytes(target: bytes, fields: Iterable[tuple[bytes, bytes]]) -> int:
    """How large a head is, but for its first word and its version."""
    return len(target) + sum(len(name) + len(value) + FIELD for name, value in fields)


class BoundedProtocol(asyncio.Protocol):
    """Stands before one of uvicorn's protocols among the bases of a connection."""

    settings: Settings
    app: ASGIApp
    loop: asyncio.AbstractEventLoop
    transport: Any
    connections: set[Any]
    cycle: Any

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)
        self.app = Bounded(self.app, self.connections, self.settings.connections)
        self._head_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None
        self._rest_timer: asyncio.TimerHandle | None = None
        self._thrown_away = 0
        self._refused = False

    # What a parser tells

    def awaits_head(self) -> bool:
        """Whether nothing is under way but a head, of which nothing, or something, has come."""
        raise NotImplementedError

    def body_coming(self) -> bool:
        """Whether the body of a request has not ended."""
        raise NotImplementedError

    def answering(self) -> bool:
        """Whether an answer has begun and not ended."""
        raise NotImplementedError

    def fed(self, data: bytes) -> None:
        """Take what has come; what is no HTTP is refused by `refuse`."""
        raise NotImplementedError

    # What asyncio and uvicorn call

    def connection_made(self, transport: Any) -> None:
        """Uvicorn's; then the head has so long to come."""
        ending = Ending(transport, self._coming, self.loop, self.settings.body_seconds)
        super().connection_made(ending)  # type: ignore[arg-type]
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Let the parser have it, unless the connection is at its end; a head that has begun has so long to end."""
        if self.transport.is_closing():
            self._thrown_away += len(data)
            if self._thrown_away > DRAINED * self.settings.body_limit_bytes:
                self.transport.finish()
            return
        self.fed(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Uvicorn's."""
        self.transport.finish()
        super().connection_lost(exc)
        self._leave()

    def pause_writing(self) -> None:
        """Uvicorn's; the client has so long to take something of what waits for it."""
        super().pause_writing()
        self._expect_taking(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Uvicorn's; the client takes what it asked for."""
        super().resume_writing()
        self._taking()

    def on_response_complete(self) -> None:
        """Uvicorn's; what the client still sends of a request that is answered has so long to come."""
        super().on_response_complete()  # type: ignore[misc]
        self._stop_rest()
        if self.body_coming() and self.cycle.response_complete and not self.transport.is_closing():
            self._rest_timer = self.loop.call_later(self.settings.body_seconds, self._rest_too_slow, self.cycle)

    def shutdown(self) -> None:
        """Uvicorn's; a connection at its end is closed now."""
        if self.transport.is_closing():
            self.transport.finish()
        else:
            super().shutdown()  # type: ignore[misc]

    def refuse(self) -> None:
        """Answer what is no HTTP with a problem, if there is no other answer under way, and close."""
        self._refused = True
        if not self.answering():
            body = text_of(Problem("bad-request", "This is no HTTP request, or its head is too large."))
            headers = {**HEADERS, "content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
            lines = (f"{name}: {value}\r\n" for name, value in headers.items())
            self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{''.join(lines)}\r\n".encode() + body)
        self.transport.close()
        self._leave()

    # Its own

    def _coming(self) -> bool:
        return self._refused or self.body_coming()

    def _leave(self) -> None:
        """Nothing more is awaited; who answers a request of this connection is told."""
        self._unwatch()
        self._taking()
        self._stop_rest()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _watch(self) -> None:
        """Run the timer exactly while a head is awaited."""
        if not self.awaits_head() or self.transport.is_closing():
            self._unwatch()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.settings.head_seconds, self._head_too_slow)

    def _unwatch(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_too_slow(self) -> None:
        self._head_timer = None
        if self.awaits_head():
            self.transport.close()

    def _rest_too_slow(self, answered: object) -> None:
        self._rest_timer = None
        if self.cycle is answered and self.body_coming():
            self.transport.abort()

    def _stop_rest(self) -> None:
        if self._rest_timer is not None:
            self._rest_timer.cancel()
            self._rest_timer = None

    def _expect_taking(self, waiting: int) -> None:
        self._reader_timer = self.loop.call_later(self.settings.reader_seconds, self._has_taken, waiting)

    def _taking(self) -> None:
        if self._reader_timer is not None:
            self._reader_timer.cancel()
            self._reader_timer = None

    def _has_taken(self, waited: int) -> None:
        """Cut a connection whose client has taken nothing meanwhile."""
        waiting = self.transport.get_write_buffer_size()
        if waiting < waited:
            self._expect_taking(waiting)
        else:
            self._reader_timer = None
            self.transport.abort()


class Bounded:
    """The application while there are not too many connections."""

    def __init__(self, app: ASGIApp, connections: set[object], most: int) -> None:
        self.app = app
        self.connections = connections
        self.most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or say that there is no room, and close."""
        if len(self.connections) <= self.most or scope["path"] == ALIVE:
            await self.app(scope, receive, send)
            return
        headers = {**HEADERS, "Retry-After": AGAIN_SECONDS, "Connection": "close"}
        full = Problem("unavailable", "There are too many connections.", headers=headers)
        await response_of(full)(scope, receive, send)

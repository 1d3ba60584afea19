"""A connection to the service: uvicorn's own, bounded against clients that are slow on purpose, or too many.

Uvicorn waits for the head of a request for ever, and for a client that takes nothing of its answer. Its answers to what
is no HTTP, and to one connection too many, are no problems like ours; here they are.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from epsilond.app.http.observe import HEADERS
from epsilond.app.http.problems import MEDIA_TYPE, Problem, response_of, text_of
from epsilond.app.settings import Settings

ALIVE = "/healthz"
"""Answered whatever happens: a service that is only busy must not be started anew."""
AGAIN_SECONDS = "5"


class Connection(H11Protocol):
    """One connection."""

    settings: Settings

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.app = Bounded(self.app, self.connections, self.settings.connections)
        self._head_timer: asyncio.TimerHandle | None = None
        self._reader_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Uvicorn's; then the head has so long to come."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Uvicorn's; a head that has begun has so long to end."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Uvicorn's."""
        super().connection_lost(exc)
        self._unwatch()
        self._taking()

    def pause_writing(self) -> None:
        """Uvicorn's; the client has so long to take something of what waits for it."""
        super().pause_writing()
        self._expect_taking(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Uvicorn's; the client takes what it asked for."""
        super().resume_writing()
        self._taking()

    def send_400_response(self, msg: str) -> None:
        """A problem, as every other refusal."""
        del msg  # it is the same for all
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # an answer is under way: nothing can be said
            self.transport.close()
            return
        body = text_of(Problem("bad-request", "This is no HTTP request, or its head is too large."))
        headers = {**HEADERS, "content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        for event in (h11.Response(status_code=400, headers=encoded), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch(self) -> None:
        """Run the timer exactly while a head is awaited of which nothing, or something, has come."""
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.settings.head_seconds, self._too_slow)

    def _unwatch(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

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

    def _too_slow(self) -> None:
        self._head_timer = None
        if self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE:
            self.transport.close()


def connection(settings: Settings) -> type[Connection]:
    """The class of connections of these settings, as uvicorn wants it."""
    return type("Connection", (Connection,), {"settings": settings})


class Bounded:
    """The application while there are not too many connections."""

    def __init__(self, app: Any, connections: set[Any], most: int) -> None:
        self.app: ASGIApp = app
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

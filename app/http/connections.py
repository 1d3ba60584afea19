"""Connections read by h11 and uvicorn, bounded against clients that are slow on purpose, or too many.

Uvicorn waits without a limit for the head of a request, and for a client that does not read its answer. Its answers to
malformed requests and to too many connections are not problem documents. This module adds the limits and the documents.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from epsilond.app.http.middleware import HEADERS
from epsilond.app.http.parsing import BoundedParser
from epsilond.app.http.problems import MEDIA_TYPE, Problem, response_of, text_of
from epsilond.app.http.sending import CLOSE, has_length, whole_answer
from epsilond.app.settings import Settings

ALIVE = "/healthz"
"""Path that is answered on any number of connections: a service that is only busy must not be restarted."""
AGAIN_SECONDS = "5"
"""Value of Retry-After where there are too many connections: most connections end within seconds."""


def connection(settings: Settings) -> type[asyncio.Protocol]:
    """Return the class of connections for uvicorn, with the limits of these settings."""
    return type("Connection", (BoundedConnection,), {"settings": settings})


class BoundedConnection(H11Protocol):
    """One connection of a client, with limits on the time for each head, for unread bodies, and for slow readers.

    It also limits the number of connections, and answers malformed requests with problem documents.

    Attributes:
        settings: settings of the service, with the limits.
        transport: asyncio's transport of the connection.
        cycle: uvicorn's present request and response; None before the first request.
    """

    settings: Settings
    transport: Any
    cycle: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.app: Any = BoundedApplication(self.app, self, self.settings.connections)
        self.conn: h11.Connection = BoundedParser(h11.SERVER, self.settings.head_bytes)
        self._unread_bytes = 0
        self._malformed = False

    def connection_made(self, transport: Any) -> None:
        """Accept the connection, and limit the time until its first head has come.

        A head is the first line and the headers of a request. Further timers limit an unfinished body after its answer,
        and a client that reads its answer too slowly.

        Args:
            transport: asyncio's transport of the new connection.
        """
        loop = self.loop
        settings = self.settings
        lingering: Any = LingeringTransport(transport, self._is_sending, loop, settings.body_seconds)
        super().connection_made(lingering)
        self._head_timer = ConditionTimer(loop, settings.head_seconds, lingering.close)
        self._rest_timer = ConditionTimer(loop, settings.body_seconds, lingering.abort)
        self._reader_timer = ConditionTimer(loop, settings.reader_seconds, self._require_progress)
        self._update_timers()

    def data_received(self, data: bytes) -> None:
        """Parse the data; after the connection was closed, discard the data.

        Args:
            data: bytes from the client.
        """
        if not self.transport.is_closing():
            super().data_received(data)
            self._update_timers()

    def on_response_complete(self) -> None:
        """Continue with the next request, and limit the time for the rest of a body that the answer did not use."""
        super().on_response_complete()
        self._update_timers()

    def pause_writing(self) -> None:
        """Stop the application, and limit the time until the client reads."""
        super().pause_writing()
        self._unread_bytes = self.transport.get_write_buffer_size()
        self._reader_timer.run_while(True)

    def resume_writing(self) -> None:
        """Let the application write again."""
        super().resume_writing()
        self._reader_timer.run_while(False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Inform the application, and stop every timer.

        Args:
            exc: the error that ended the connection; None if it was closed.
        """
        self.transport.close_now()
        super().connection_lost(exc)
        self._update_timers()
        self._reader_timer.run_while(False)

    def shutdown(self) -> None:
        """Close the connection after the present answer; at once if it is closing and only waits for the client."""
        if self.transport.is_closing():
            self.transport.close_now()
        else:
            super().shutdown()

    def send_answer(self, cycle: RequestResponseCycle, start: Message, body: bytes) -> None:
        """Send head and body of an answer in one write, and close the connection if the request demands that.

        One write takes less time than uvicorn's own two. The state of uvicorn's objects is then set as after its own
        answer.

        Args:
            cycle: the request and response of uvicorn; nothing of the answer may have been sent.
            start: the ASGI message with the status and the headers, which include Content-Length.
            body: the whole body; it is not sent if the method is HEAD.
        """
        headers = [*cycle.default_headers, *start["headers"]]
        if CLOSE in cycle.scope["headers"] and CLOSE not in headers:
            headers.append(CLOSE)
        cycle.response_started = True  # if it cannot be sent, uvicorn closes the connection
        sent_body = b"" if cycle.scope["method"] == "HEAD" else body
        data = whole_answer(self.conn, start["status"], headers, sent_body)

        # Uvicorn's state of a complete response.
        cycle.waiting_for_100_continue = False
        cycle.response_complete = True
        cycle.message_event.set()
        self.transport.write(data)
        if self.conn.our_state is h11.MUST_CLOSE or not cycle.keep_alive:
            self.conn.send(event=h11.ConnectionClosed())
            self.transport.close()
        cycle.on_response()

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request with a problem document, unless an answer has begun, and close the connection.

        An application that still handles an earlier request of the connection is notified that the client has left.

        Args:
            msg: reason by uvicorn, which is not shown to the client.
        """
        del msg
        self._malformed = True
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):  # no answer has begun
            body = text_of(Problem("bad-request", "This is no HTTP request, or its head is too large."))
            headers = {**HEADERS, "content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
            lines = (f"{name}: {value}\r\n" for name, value in headers.items())
            self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{''.join(lines)}\r\n".encode() + body)
        self.transport.close()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _is_sending(self) -> bool:
        """Return whether the client may still be sending a request: its body is incomplete, or it is malformed."""
        return self._malformed or self.conn.their_state is h11.SEND_BODY

    def _update_timers(self) -> None:
        """Start or stop the timers for the head of a request and for the rest of a body, by the connection's state."""
        is_open = not self.transport.is_closing()
        awaits_head = is_open and self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE
        awaits_rest = is_open and self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete
        self._head_timer.run_while(awaits_head)
        self._rest_timer.run_while(awaits_rest)

    def _require_progress(self) -> None:
        """Abort the connection if its client has read nothing since the timer started; otherwise restart the timer."""
        unread_bytes = self.transport.get_write_buffer_size()
        if unread_bytes < self._unread_bytes:
            self._unread_bytes = unread_bytes
            self._reader_timer.run_while(True)
        else:
            self.transport.abort()


class ConditionTimer:
    """A timer that calls a function once a condition has held for some seconds without interruption.

    Args:
        loop: the event loop.
        seconds: time for which the condition must hold.
        callback: function to call.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, callback: Callable[[], object]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._callback = callback
        self._handle: asyncio.TimerHandle | None = None

    def run_while(self, condition: bool) -> None:
        """Start the timer if the condition begins to hold, and stop it if the condition does not hold."""
        if not condition and self._handle is not None:
            self._handle.cancel()
            self._handle = None
        elif condition and self._handle is None:
            self._handle = self._loop.call_later(self._seconds, self._expire)

    def _expire(self) -> None:
        """Call the function, after marking the timer as stopped."""
        self._handle = None
        self._callback()


class LingeringTransport:
    """A transport with a `close` after which a client that is still sending a request can read the answer.

    The kernel resets a connection that is closed while received data is unread, and the client may then lose the
    answer. So only the sending direction ends at first. Further data from the client is discarded for some seconds.
    """

    def __init__(
        self, inner: asyncio.Transport, is_sending: Callable[[], bool], loop: asyncio.AbstractEventLoop, seconds: float
    ) -> None:
        """Wrap a transport.

        Args:
            inner: the transport of the connection.
            is_sending: returns whether the client may still be sending a request.
            loop: the event loop.
            seconds: time for which data is discarded before the connection is aborted.
        """
        self._inner = inner
        self._is_sending = is_sending
        self._lingering = False
        self._linger_timer = ConditionTimer(loop, seconds, inner.abort)

    def __getattr__(self, name: str) -> object:
        """Return an attribute of the inner transport."""
        return getattr(self._inner, name)

    def is_closing(self) -> bool:
        """Return whether the transport is closing, so that nothing more can be written."""
        return self._lingering or self._inner.is_closing()

    def close(self) -> None:
        """Close the connection after all data is sent.

        If the client is in the middle of a request, only the sending direction is closed at once. The connection is
        closed when the client stops sending, or after some seconds.
        """
        if self.is_closing():
            return
        if not self._is_sending() or not self._inner.can_write_eof():
            self._inner.close()
            return
        # Keep receiving, so that the client can read the answer before the connection ends.
        self._lingering = True
        self._inner.write_eof()
        self._inner.resume_reading()
        self._linger_timer.run_while(True)

    def close_now(self) -> None:
        """Close a lingering connection at once, although the client may still be sending."""
        self._linger_timer.run_while(False)
        if self._lingering:
            self._inner.close()


class BoundedApplication:
    """The ASGI application for one connection, which rejects requests while there are too many connections.

    Rejecting a request closes its connection, so that the number falls again. Requests that check whether the service
    is alive are always answered.
    """

    def __init__(self, app: ASGIApp, connection: BoundedConnection, most: int) -> None:
        """Wrap an ASGI application for one connection.

        Args:
            app: the application.
            connection: the connection, which knows all open connections.
            most: largest number of open connections at which requests are answered.
        """
        self._app = app
        self._connection = connection
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or reject it and close its connection.

        Args:
            scope: ASGI description of the request.
            receive: function that returns the next ASGI message from the client.
            send: function that sends an ASGI message to the client.
        """
        if len(self._connection.connections) <= self._most or scope["path"] == ALIVE:
            await self._app(scope, receive, JoiningSend(self._connection, send))
            return
        headers = {**HEADERS, "Retry-After": AGAIN_SECONDS, "Connection": "close"}
        full = Problem("unavailable", "There are too many connections.", headers=headers)
        await response_of(full)(scope, receive, send)


class JoiningSend:
    """The ASGI `send` function of one answer, which joins the head and a body of one piece into one write.

    Args:
        connection: the connection of the client, which writes joined answers.
        send: uvicorn's own `send`, for all other answers.
    """

    __slots__ = ("_connection", "_cycle", "_send", "_start")

    def __init__(self, connection: BoundedConnection, send: Send) -> None:
        self._connection = connection
        self._cycle: RequestResponseCycle = connection.cycle
        self._send = send
        self._start: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send an ASGI message. A head with Content-Length is kept until the next message, and sent with it.

        If the next message is the whole body, head and body are one write. Otherwise uvicorn sends both as usual.

        Args:
            message: ASGI message of an HTTP answer: its head, or a part of its body.
        """
        start = self._start
        if start is None:
            if message["type"] == "http.response.start" and has_length(message["headers"]):
                self._start = message
            else:
                await self._send(message)
            return

        self._start = None
        is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)
        if is_whole and self._may_write():
            self._connection.send_answer(self._cycle, start, message.get("body", b""))
            return
        await self._send(start)
        await self._send(message)

    def _may_write(self) -> bool:
        """Return whether the client is connected and reads, and no part of the answer was sent."""
        cycle = self._cycle
        return not (cycle.disconnected or cycle.response_started or cycle.flow.write_paused)

"""A connection read by httptools, which is llhttp in C.

A request that asks for another protocol, or has a method that llhttp does not know, is given to h11 with its whole
connection: httptools takes what follows such a head for the other protocol and would lose the request's body.
"""

from __future__ import annotations

from typing import Any, Literal

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from epsilond.app.http.connections.bounds import FIELD, BoundedProtocol
from epsilond.app.http.connections.by_h11 import ByH11

PIPELINED = 64
"""Requests that may wait on one connection for those before them to be answered."""


class TooLarge(Exception):
    """A head is too large, or too many requests wait."""


class ByHttptools(BoundedProtocol, HttpToolsProtocol):
    """One connection."""

    plain: type[ByH11]
    """The class that reads what this one does not."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)
        self._part: Literal["between", "head", "body"] = "between"
        self._read = 0  # bytes of the head's fields
        self._open = 0  # bytes of the segments in which there was nothing but this head
        self._head: list[bytes] | None = None  # these segments, from the head's first byte on
        self._active: RequestResponseCycle | None = None  # what is being answered; `cycle` is what was read last
        self._other_protocol = False
        self._given_away = False

    def awaits_head(self) -> bool:
        """No request is under way but one whose head has not ended."""
        answered = self.cycle is None or self.cycle.response_complete
        return answered and self._part != "body" and not self._given_away

    def body_coming(self) -> bool:
        """The head has come, and the end of the body has not."""
        return self._part == "body"

    def answering(self) -> bool:
        """What was read last was answered, or its answer has begun, or it waits behind another."""
        if self.cycle is None or self.cycle.response_complete:
            return self._part == "body"
        return self._part != "body" or self.cycle.response_started or self.cycle is not self._active

    def fed(self, data: bytes) -> None:
        """Parse it, and look whether a head that has not ended is too large already."""
        self._unset_keepalive_if_required()
        if self._part == "between":
            self._head, self._open = [data], len(data)
        elif self._part == "head":
            self._open += len(data)
            if self._head is not None:
                self._head.append(data)
        try:
            self.parser.feed_data(data)
            if self._part == "head" and self._open > self.settings.head_bytes:
                self.refuse()
        except httptools.HttpParserInvalidMethodError:
            self._give_away()
        except httptools.HttpParserError:
            if self._other_protocol:
                self._give_away()
            else:
                self.refuse()

    def on_message_begin(self) -> None:
        """Uvicorn's; a head begins."""
        self._part, self._read = "head", 0
        if len(self.pipeline) >= PIPELINED:
            raise TooLarge
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Uvicorn's."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Uvicorn's; a field behind the body is counted and forgotten."""
        self._count(len(name) + len(value) + FIELD)
        if self._part == "head":
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Uvicorn's; the request is answered from now on."""
        if self.parser.should_upgrade():
            self._other_protocol = True
            raise NotImplementedError
        self._part, self._head = "body", None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Uvicorn's; the next head in this segment does not begin with it."""
        self._part, self._head, self._open = "between", None, 0
        super().on_message_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._active = cycle
        super()._start_asgi_task(cycle, app)

    def _count(self, length: int) -> None:
        self._read += length
        if self._read > self.settings.head_bytes:
            raise TooLarge

    def _give_away(self) -> None:
        """Let h11 read the connection from this head on."""
        if self._head is None or not (self.cycle is None or self.cycle.response_complete):
            self.refuse()
            return
        self._given_away = True
        self._unwatch()
        self.connections.discard(self)
        other = self.plain(self.config, self.server_state, self.app_state, self.loop)
        self.transport.inner.set_protocol(other)
        other.connection_made(self.transport.inner)
        other.data_received(b"".join(self._head))

    def _leave(self) -> None:
        """As for every connection; `cycle` may wait behind what is being answered."""
        super()._leave()
        self.pipeline.clear()
        if self._active is not None and not self._active.response_complete:
            self._active.disconnected = True
            self._active.message_event.set()

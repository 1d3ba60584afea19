"""The parser of one connection: h11's, with a limit on heads, and with a memory for the last head.

Clients that keep a connection send equal heads again and again. The events of a head depend only on its bytes, so that
an equal head of a complete request is not parsed again. The states of the connection are h11's in any case.
"""

from __future__ import annotations

from typing import NamedTuple

import h11

FIELD_BYTES = 4
"""Bytes of a header field except for its name and value: a colon, a space and the end of the line."""


class ParsedHead(NamedTuple):
    """The parsed head (request line and headers) of an HTTP request, for reuse if the same bytes come again.

    Attributes:
        head: the bytes of the head.
        request: the parsed head, an event of the parser h11.
        body_bytes: length in bytes of the body that the head declares.
    """

    head: bytes
    request: h11.Request
    body_bytes: int

    def matches(self, data: bytes) -> bool:
        """Decide whether data is one complete request with exactly this head and a body of the given length.

        Args:
            data: bytes from the client.
        """
        return len(data) == len(self.head) + self.body_bytes and data.startswith(self.head)


class BoundedParser(h11.Connection):
    """The HTTP parser of h11, with a limit on every head, and with a shortcut for repeated heads.

    h11 itself limits only heads that arrive in several pieces. If a request has exactly the same head as the last one,
    the events of the last one are returned again, without parsing.

    Args:
        role: role of this side of the connection.
        head_bytes: largest head, in bytes.
    """

    def __init__(self, role: type[h11.SERVER], head_bytes: int) -> None:
        super().__init__(role, head_bytes)
        self._head_bytes = head_bytes
        self._last: ParsedHead | None = None  # last head of a request that came in one piece
        self._events: list[h11.Event] = []  # events of a known head and its body to return, in reverse order
        self._piece = b""  # data that may be a whole request; empty for data that is not
        self._request: h11.Request | None = None  # the request that begins with `_piece`
        self._body_bytes = 0  # bytes of its body so far

    def receive_data(self, data: bytes) -> None:
        """Accept bytes from the client. If they are a request with the last head, prepare its events without parsing.

        Clients that keep a connection often send the same head again. Comparing bytes is faster than parsing them.

        Args:
            data: bytes from the client; empty at the end of the connection.
        """
        self._piece = b""
        begins_request = bool(data) and not self._receive_buffer and self.their_state is h11.IDLE
        if begins_request and self._last is not None and self._last.matches(data):
            body = data[len(self._last.head) :]
            body_events: list[h11.Event] = [h11.Data(data=body)] if body else []
            self._events = [h11.EndOfMessage(), *body_events, self._last.request]  # `next_event` pops the last one
            return
        if begins_request:
            self._piece = data
        super().receive_data(data)

    def next_event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        """Return the next event: a prepared one of a repeated head, or the next one that h11 parses.

        A parsed head is checked for its size, and is remembered at the end of its request.

        Returns:
            The event. `NEED_DATA` means that more bytes must arrive, `PAUSED` that the present answer must be sent
            first.

        Raises:
            RemoteProtocolError: the data is malformed, or the head is too large.
        """
        if self._events:
            event = self._events.pop()
            self._process_event(h11.CLIENT, event)
            return event
        parsed = super().next_event()
        if isinstance(parsed, h11.Request):
            self._require_size(parsed)
        if self._piece:
            self._remember_head(parsed)
        return parsed

    def _require_size(self, request: h11.Request) -> None:
        """Reject a request with a head that is too large.

        Args:
            request: the parsed head of a request. Each header counts with `FIELD_BYTES` in addition to its text.

        Raises:
            RemoteProtocolError: the head is too large.
        """
        field_bytes = sum([len(name) + len(value) + FIELD_BYTES for name, value in request.headers])
        if len(request.target) + field_bytes > self._head_bytes:
            raise h11.RemoteProtocolError("the head is too large", error_status_hint=431)

    def _remember_head(self, event: type[h11.NEED_DATA | h11.PAUSED] | h11.Event) -> None:
        """Remember the parsed head of a request, so that a request with the same head need not be parsed.

        Only a request that arrived in one piece and has no Transfer-Encoding is remembered.

        Args:
            event: the next event of the request. The head is remembered at the event that ends the request.
        """
        if isinstance(event, h11.Request):
            is_coded = any(name == b"transfer-encoding" for name, _ in event.headers)
            self._request = None if is_coded else event
            self._body_bytes = 0
            return
        if isinstance(event, h11.Data):
            self._body_bytes += len(event.data)
            return

        # The request has ended. Any other event means that it did not come in one piece.
        is_whole = isinstance(event, h11.EndOfMessage) and not self._receive_buffer
        if is_whole and self._request is not None:
            head = self._piece[: len(self._piece) - self._body_bytes]
            if len(head) <= self._head_bytes:  # `_require_size` does not count white space around values
                self._last = ParsedHead(head, self._request, self._body_bytes)
        self._piece = b""

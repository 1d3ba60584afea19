"""A connection read by h11, which is all Python and always there."""

from __future__ import annotations

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from epsilond.app.http.connections.bounds import BoundedProtocol, head_bytes


class ByH11(BoundedProtocol, H11Protocol):
    """One connection."""

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)
        self.conn = BoundedH11(h11.SERVER, self.settings.head_bytes)

    def awaits_head(self) -> bool:
        """A cycle has begun on both sides, and nothing more."""
        return self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE

    def body_coming(self) -> bool:
        """The head has come, and the end of the body has not."""
        return self.conn.their_state is h11.SEND_BODY

    def answering(self) -> bool:
        """The head of an answer was sent."""
        return self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE)

    def fed(self, data: bytes) -> None:
        """Uvicorn's own."""
        H11Protocol.data_received(self, data)

    def send_400_response(self, msg: str) -> None:
        """A problem, as every other refusal."""
        del msg  # it is the same for all
        self.refuse()


class BoundedH11(h11.Connection):
    """H11's side of a connection. It bounds a head that has not ended; here those that come whole are bounded too."""

    def __init__(self, role: type[h11.SERVER], most: int) -> None:
        super().__init__(role, most)
        self._most = most

    def next_event(self) -> type[h11.NEED_DATA | h11.PAUSED] | h11.Event:
        """H11's.

        Raises:
            RemoteProtocolError: this is no HTTP, or the head is too large.
        """
        event = super().next_event()
        if type(event) is h11.Request and head_bytes(event.target, event.headers) > self._most:
            raise h11.RemoteProtocolError("the head is too large", error_status_hint=431)
        return event

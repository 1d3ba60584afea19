"""Compression of answers with gzip, for clients that accept it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALLEST = 1_024
"""Smallest answer in bytes that is compressed; shorter answers fit in a packet uncompressed."""
AT_ONCE = 32_768
"""Largest answer in bytes that the event loop compresses, in a millisecond or two; a thread compresses larger ones."""
LEVEL = 6
GZIP = 16 + zlib.MAX_WBITS
"""Window bits by which zlib writes the header and the trailer of gzip."""
OFFERS = 512
"""Number of characters of Accept-Encoding that are read; the rest, with an offer cut off there, is taken as absent."""
COMPRESSIBLE = (b"application/json", b"application/problem+json", b"text/", b"image/svg+xml")


def compress(body: bytes) -> bytes:
    """Return bytes in the format gzip."""
    return zlib.compress(body, LEVEL, GZIP)


def takes_gzip(headers: Mapping[str, str]) -> bool:
    """Decide whether a client accepts gzip, by the header Accept-Encoding (RFC 9110, 12.5.3).

    The client accepts it if the header lists `gzip` with a weight `q` above zero. If `gzip` is not listed, the weight
    of `*` decides.

    Args:
        headers: headers of the request by name, in lower case.

    Returns:
        True if an answer compressed with gzip may be sent.
    """
    offers = headers.get("accept-encoding", "")
    if len(offers) > OFFERS:
        offers = offers[:OFFERS].rpartition(",")[0]  # the last offer may lack its weight
    is_accepted: dict[str, bool] = {}
    for offer in offers.lower().split(","):
        coding, *parameters = [text.strip() for text in offer.split(";")]
        is_accepted[coding] = not any(_is_zero_weight(parameter) for parameter in parameters)
    return is_accepted.get("gzip", is_accepted.get("*", False))


def _is_zero_weight(parameter: str) -> bool:
    """Return whether a parameter of an offer is a weight of zero: `q=0`, `q=0.0` and so on.

    Args:
        parameter: one parameter of a coding in Accept-Encoding, without a semicolon.
    """
    return parameter.replace(" ", "").rstrip("0") in ("q=", "q=0.")


class Compress:
    """ASGI middleware that compresses answers with gzip for clients that accept it.

    Large answers are compressed in a thread, so that the event loop is not blocked.

    Attributes:
        app: the application behind this layer, which makes the answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and compress the body of its answer if it comes in one piece of at least `SMALLEST`."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        await self.app(scope, receive, _CompressingSend(scope, send))


class _CompressingSend:
    """The ASGI `send` function of one answer, which compresses a body that comes in one piece of sufficient size."""

    def __init__(self, scope: Scope, send: Send) -> None:
        """Prepare to send the answer to one request. No message of the answer has been sent yet.

        Args:
            scope: scope of the request. Its headers show whether the client accepts gzip.
            send: sends a message to the client.
        """
        self._scope = scope
        self._send = send
        self._start_message: Message | None = None

    async def __call__(self, message: Message) -> None:
        """Send a message; the start of a compressible answer is sent with the body, on which its headers depend.

        Args:
            message: an ASGI message of the answer: its head, or a part of its body.
        """
        if message["type"] == "http.response.start" and _may_be_compressed(message):
            self._start_message = message
            return
        # This message follows a start that was kept. Send both, compressed if this is the whole body.
        if self._start_message is not None:
            start = self._start_message
            self._start_message = None
            is_whole = not message.get("more_body", False)
            if is_whole and len(message.get("body", b"")) >= SMALLEST:
                message = await self._compress(start, message)
            await self._send(start)
        await self._send(message)

    async def _compress(self, start: Message, message: Message) -> Message:
        """Return the body's message, compressed if the client accepts gzip.

        Args:
            start: the message with the head of the answer. Its Vary, encoding and length are changed in place.
            message: the message with the whole body.

        Returns:
            A new message if the body was compressed, otherwise the given one.
        """
        headers = MutableHeaders(scope=start)
        # An answer depends on this header even if it is not compressed, and caches must know that.
        if "accept-encoding" not in headers.get("vary", "").lower():
            headers.add_vary_header("Accept-Encoding")
        if not takes_gzip(Headers(scope=self._scope)):
            return message
        body = await _compress_off_loop(message["body"])
        headers["content-encoding"] = "gzip"
        headers["content-length"] = str(len(body))
        return {**message, "body": body}


def _may_be_compressed(start: Message) -> bool:
    """Decide whether an answer is a text that is neither an event stream nor encoded already.

    Args:
        start: the ASGI message with the head of the answer.

    Returns:
        True if the answer may be compressed.
    """
    headers = dict(start["headers"])
    media_type = headers.get(b"content-type", b"")
    is_stream = media_type.startswith(b"text/event-stream")
    is_encoded = b"content-encoding" in headers
    return media_type.startswith(COMPRESSIBLE) and not is_stream and not is_encoded


async def _compress_off_loop(body: bytes) -> bytes:
    """Return the body in gzip. A thread compresses bodies above `AT_ONCE`, so that the event loop is not blocked."""
    return compress(body) if len(body) <= AT_ONCE else await to_thread.run_sync(compress, body)

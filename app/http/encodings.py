"""Answers compressed for clients that take gzip: small ones at once, large ones in a thread, streams never.

Documents that are served again and again are compressed once (`document`) and pass through here as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from anyio import to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALLEST = 1_024
"""Bytes; a shorter answer fits in a packet as it is."""
AT_ONCE = 32_768
"""Bytes; a longer answer is compressed in a thread. Up to here it takes a millisecond or two."""
LEVEL = 6
GZIP = 16 + zlib.MAX_WBITS
"""To zlib: with the head and the end of gzip."""
OFFERS = 512
"""Characters of Accept-Encoding that are read; whatever stands behind them is taken as absent."""
COMPRESSIBLE = ("application/json", "application/problem+json", "text/", "image/svg+xml")


def compressed(body: bytes) -> bytes:
    """The bytes as gzip."""
    return zlib.compress(body, LEVEL, GZIP)


def takes_gzip(headers: Mapping[str, str]) -> bool:
    """Whether a client that sends these headers takes gzip: it names it, or anything, with a weight above zero."""
    weights, offers = {}, headers.get("accept-encoding", "")
    if len(offers) > OFFERS:
        offers = offers[:OFFERS].rpartition(",")[0]  # the last one may lack its weight
    for offer in offers.lower().split(","):
        coding, *parameters = (part.strip() for part in offer.split(";"))
        weights[coding] = not any(part.replace(" ", "").rstrip("0") in ("q=", "q=0.") for part in parameters)
    return weights.get("gzip", weights.get("*", False))


class Compress:
    """The middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back, compressed if it comes in one piece and is worth it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        wanted = takes_gzip(Headers(scope=scope))
        held: Message | None = None

        async def compressing(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _compressible(message):
                held = message  # its headers depend on what follows
                return
            if held is not None:
                start, held = held, None
                if not message.get("more_body", False) and len(message.get("body", b"")) >= SMALLEST:
                    headers = MutableHeaders(scope=start)
                    if "accept-encoding" not in headers.get("vary", "").lower():
                        headers.add_vary_header("Accept-Encoding")
                    if wanted:
                        message = {**message, "body": await _small(message["body"])}
                        headers["content-encoding"] = "gzip"
                        headers["content-length"] = str(len(message["body"]))
                await send(start)
            await send(message)

        await self.app(scope, receive, compressing)


def _compressible(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    kind = headers.get("content-type", "")
    return (
        "content-encoding" not in headers and kind.startswith(COMPRESSIBLE) and not kind.startswith("text/event-stream")
    )


async def _small(body: bytes) -> bytes:
    return compressed(body) if len(body) <= AT_ONCE else await to_thread.run_sync(compressed, body)

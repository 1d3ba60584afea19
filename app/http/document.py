"""What the service serves again and again: bytes made once, compressed once, with a tag to ask about them.

A document is made outside the event loop, when the service starts or when it is first asked for. After that, an answer
costs the loop a look at two headers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.middleware import SMALLEST, compressed, takes_gzip

KEPT = "no-cache"
"""Kept by clients, who ask each time whether it is still the same: a new release changes it."""
K = TypeVar("K")


class Document:
    """One document, plain and compressed. Its tag is weak: it stands for both."""

    def __init__(self, body: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> None:
        self.body = body
        small = compressed(body) if len(body) >= SMALLEST else body
        self.gzip = small if len(small) < len(body) else None
        self.etag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
        self.media_type = media_type
        self.headers = {
            "cache-control": KEPT,
            **(headers or {}),
            "etag": self.etag,
            **({"vary": "Accept-Encoding"} if self.gzip is not None else {}),
        }

    def response(self, request: Request) -> Response:
        """The document as this client can take it; 304 if it has it."""
        if _names(request.headers.get("if-none-match", ""), self.etag):
            return Response(status_code=304, headers=self.headers)
        if self.gzip is not None and takes_gzip(request.headers):
            encoded = {**self.headers, "content-encoding": "gzip"}
            return Response(self.gzip, headers=encoded, media_type=self.media_type)
        return Response(self.body, headers=self.headers, media_type=self.media_type)


class Documents(Generic[K]):
    """Documents by a key, each made when it is first asked for, in a thread, and kept. Keys come from our lists."""

    def __init__(self, make: Callable[[K], Document]) -> None:
        self._make = make
        self._made: dict[K, Document] = {}
        self._one_at_a_time = anyio.Lock()

    async def of(self, key: K) -> Document:
        """The document of a key.

        Raises:
            Exception: what making it raises; it is tried again when it is next asked for.
        """
        if key not in self._made:
            async with self._one_at_a_time:
                if key not in self._made:
                    self._made[key] = await to_thread.run_sync(self._make, key)
        return self._made[key]


def json_document(body: bytes) -> Document:
    """A document in JSON."""
    return Document(body, "application/json")


def _names(tags: str, etag: str) -> bool:
    """Whether a list of tags names this one, compared weakly (RFC 9110)."""
    given = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
    return "*" in given or etag.removeprefix("W/") in given

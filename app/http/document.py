"""Documents that are served repeatedly: made once, compressed once, and with an entity tag for revalidation.

A document is made outside the event loop, when the service starts or on the first request. After that, an answer costs
the loop a look at two headers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.compression import SMALLEST, compress, takes_gzip

KEPT = "no-cache"
"""Value of Cache-Control: clients keep a document and revalidate it each time, because a new release changes it."""
K = TypeVar("K")


class Document:
    """A document that the service sends, plain or compressed.

    Attributes:
        body: the content in bytes.
        gzip: the compressed content; None if compression does not make it smaller.
        etag: entity tag, a hash of the content. A client sends it with a later request, and gets status 304 if the
            content is the same. It is weak, because it denotes both forms.
        media_type: media type of the content, such as text/html.
        headers: headers of every answer.
    """

    def __init__(self, body: bytes, media_type: str, headers: Mapping[str, str] | None = None) -> None:
        """Compress the content, and compute its entity tag.

        Args:
            body: the content in bytes.
            media_type: media type of the content.
            headers: further headers of every answer; None for none.
        """
        self.body = body
        self.gzip = _compress_if_smaller(body)
        self.etag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
        self.media_type = media_type
        self.headers = {"cache-control": KEPT, **(headers or {}), "etag": self.etag}
        if self.gzip is not None:
            self.headers["vary"] = "Accept-Encoding"

    def response(self, request: Request) -> Response:
        """Return the document in a form that this client accepts, or 304 if the client has it.

        Args:
            request: the HTTP request. Its headers state the accepted forms and the content that the client has.

        Returns:
            The whole document, compressed if the client accepts that; or an empty response with status 304.
        """
        if _names_tag(request.headers.get("if-none-match", ""), self.etag):
            return Response(status_code=304, headers=self.headers)
        if self.gzip is not None and takes_gzip(request.headers):
            encoded = {**self.headers, "content-encoding": "gzip"}
            return Response(self.gzip, headers=encoded, media_type=self.media_type)
        return Response(self.body, headers=self.headers, media_type=self.media_type)


class Documents(Generic[K]):
    """A cache of documents, such as pages; each is made in a thread on the first request for it.

    Documents are never dropped.

    Args:
        make: makes the document of a key. Keys must come from a fixed list, not from clients.
    """

    def __init__(self, make: Callable[[K], Document]) -> None:
        self._make = make
        self._documents: dict[K, Document] = {}
        self._making_lock = anyio.Lock()

    async def of(self, key: K) -> Document:
        """Return the document of a key, which is made at the first call. Simultaneous calls make it only once.

        Args:
            key: key of the document.

        Returns:
            The document; later calls with this key return the same object.

        Raises:
            Exception: any exception of making the document. The next call tries again.
        """
        # The test is repeated inside the lock, because another call may have made the document meanwhile.
        if key not in self._documents:
            async with self._making_lock:
                if key not in self._documents:
                    self._documents[key] = await to_thread.run_sync(self._make, key)
        return self._documents[key]


def json_document(body: bytes) -> Document:
    """Return a document in JSON."""
    return Document(body, "application/json")


def _compress_if_smaller(body: bytes) -> bytes | None:
    """Return the body in gzip; None if it has less than `SMALLEST` bytes or does not become smaller."""
    if len(body) < SMALLEST:
        return None
    compressed = compress(body)
    return compressed if len(compressed) < len(body) else None


def _names_tag(tags: str, etag: str) -> bool:
    """Return whether a list of entity tags contains this tag, by weak comparison (RFC 9110)."""
    tag_names = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
    return "*" in tag_names or etag.removeprefix("W/") in tag_names

"""GET /: the page that shows what the service knows, and its files under /explorer. No other host is asked."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Awaitable, Callable, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

PAGE = "index.html"
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    "": "text/plain; charset=utf-8",
}
POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'"
)
"""No script or style stands in the page itself, so that none that is injected runs."""

Endpoint = Callable[[Request], Awaitable[Response]]


def add(app: FastAPI) -> None:
    """Add the page at / and each of its files, read and compressed once."""
    for name, content in sorted(_walk(files("epsilond.app.explorer"))):
        app.add_api_route("/" if name == PAGE else f"/explorer/{name}", _file(name, content), include_in_schema=False)


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """Every file of a kind that is served, by its path from the folder."""
    for each in folder.iterdir():
        if each.is_dir():
            yield from _walk(each, f"{prefix}{each.name}/")
        elif PurePosixPath(each.name).suffix in MEDIA_TYPES:
            yield f"{prefix}{each.name}", each.read_bytes()


def _file(name: str, content: bytes) -> Endpoint:
    digest = hashlib.sha256(content).hexdigest()[:32]
    headers = {
        "content-type": MEDIA_TYPES[PurePosixPath(name).suffix],
        "cache-control": "no-cache",  # kept, and asked about each time: a new release shows at once
        "content-security-policy": POLICY,
        "vary": "Accept-Encoding",
    }
    plain = (content, headers | {"etag": f'"{digest}"'})
    small = (gzip.compress(content, mtime=0), headers | {"etag": f'"{digest}-gzip"', "content-encoding": "gzip"})

    async def file(request: Request) -> Response:
        body, chosen = small if accepts_gzip(request.headers.get("accept-encoding", "")) else plain
        if is_known(chosen["etag"], request.headers.get("if-none-match", "")):
            return Response(
                status_code=304, headers={key: value for key, value in chosen.items() if key not in _OF_BODY}
            )
        return Response(body, headers=chosen)

    return file


_OF_BODY = frozenset({"content-type", "content-encoding"})


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header takes gzip."""
    for item in header.lower().split(","):
        name, *weights = (part.strip() for part in item.split(";"))
        if name in {"gzip", "*"}:
            return not any(weight.replace(" ", "") in {"q=0", "q=0.0", "q=0.00", "q=0.000"} for weight in weights)
    return False


def is_known(etag: str, header: str) -> bool:
    """Whether an If-None-Match header names this entity (RFC 9110, 13.1.2: compared weakly)."""
    return any(each.strip().removeprefix("W/") in {etag, "*"} for each in header.split(","))

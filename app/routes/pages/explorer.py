"""GET / and /ledgers: the pages that show what the service knows and holds, with their files under /explorer.

No other host is asked.
"""

from __future__ import annotations

from functools import partial

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.files import PackageFiles

POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'"
)
"""No script or style stands in a page itself, so that none that is injected runs."""
LEDGERS = "/ledgers"
"""The page of ledgers; which of them is shown stands behind #."""


def add(app: FastAPI) -> None:
    """Add the pages and their files; they are kept by browsers and asked about each time, for a new release."""
    files = PackageFiles("epsilond.app", "explorer", {"cache-control": "no-cache", "content-security-policy": POLICY})
    app.add_api_route("/", files.index, include_in_schema=False)
    app.add_api_route(LEDGERS, partial(_page, files, "ledgers.html"), include_in_schema=False)
    files.add(app, "/explorer")


async def _page(files: PackageFiles, name: str, request: Request) -> Response:
    return await files.file(request, name)

"""GET / and /ledgers: the pages that show the service's algorithms and ledgers, with their files under /explorer.

No other host is used.
"""

from __future__ import annotations

from functools import partial

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.files import PackageFiles, files_of

POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'"
)
"""Content security policy of the pages. They contain no inline scripts or styles, so that injected ones do not run."""
LEDGERS = "/ledgers"
"""Path of the page of ledgers; its fragment, after #, selects the ledger."""


def add(app: FastAPI) -> None:
    """Add the pages and their files. Browsers keep them and revalidate them each time, for a new release."""
    paths = files_of("epsilond.app", "explorer") | files_of("epsilond.ledgers.pages", "explorer")
    files = PackageFiles(paths, {"cache-control": "no-cache", "content-security-policy": POLICY})
    app.add_api_route("/", files.index, include_in_schema=False)
    app.add_api_route(LEDGERS, partial(_page, files, "ledgers.html"), include_in_schema=False)
    files.add(app, "/explorer")


async def _page(files: PackageFiles, name: str, request: Request) -> Response:
    return await files.file(request, name)

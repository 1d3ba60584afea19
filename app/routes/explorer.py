"""GET /: the page that shows what the service knows, and its files under /explorer. No other host is asked."""

from __future__ import annotations

from fastapi import FastAPI

from epsilond.app.http.files import PackageFiles

POLICY = (
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'"
)
"""No script or style stands in the page itself, so that none that is injected runs."""


def add(app: FastAPI) -> None:
    """Add the page at /, and its files; they are kept by browsers and asked about each time, for a new release."""
    files = PackageFiles("epsilond.app", "explorer", {"cache-control": "no-cache", "content-security-policy": POLICY})
    app.add_api_route("/", files.index, include_in_schema=False)
    files.add(app, "/explorer")

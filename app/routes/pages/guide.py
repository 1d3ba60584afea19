"""GET /guide/: the documents, as `scripts/guide` builds them into the package. No other host is used."""

from __future__ import annotations

from fastapi import FastAPI

from epsilond.app.http.guide import Guide


def add(app: FastAPI) -> None:
    """Add the pages and their files."""
    guide = Guide.of_package("epsilond.app")
    app.add_api_route("/guide", guide.enter, include_in_schema=False)
    app.add_api_route("/guide/{path:path}", guide.page, include_in_schema=False)

"""Answers of the service's own, which change from one moment to the next."""

from __future__ import annotations

from starlette.responses import Response

from epsilond.app.workers.work import render


def json_response(answer: object, status: int = 200) -> Response:
    """An answer that is to be asked for anew each time."""
    return Response(render(answer), status, media_type="application/json", headers={"cache-control": "no-cache"})

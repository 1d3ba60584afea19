"""What the routes of a list of algorithms share: the type of an endpoint, and a 404 that knows the names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.responses import Response

from epsilond.app.catalogue import unknown

Endpoint = Callable[..., Awaitable[Response]]


def unknown_name_route(names: set[str]) -> Endpoint:
    """405 for an algorithm that is served by another method, 404 with near names otherwise."""

    async def unknown_name(name: str) -> Response:
        if name in names:
            raise HTTPException(405)
        raise unknown("algorithm", name, names)

    return unknown_name

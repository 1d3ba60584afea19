"""Shared parts of the routes of algorithms: the type of an endpoint, and a 404 that lists near names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.responses import Response

from epsilond.app.catalogue import unknown

Endpoint = Callable[..., Awaitable[Response]]


def unknown_name_route(names: set[str]) -> Endpoint:
    """Make the endpoint for the requests that no algorithm's own route takes.

    The name may be known, and the method wrong: this gives status 405. An unknown name gives 404 and similar names.

    Args:
        names: names of the served algorithms.

    Returns:
        The endpoint, which takes the name from the path.
    """

    async def unknown_name(name: str) -> Response:
        """Reject the request: with 405 if an algorithm has this name, and otherwise with 404."""
        if name in names:
            raise HTTPException(405)
        raise unknown("algorithm", name, names)

    return unknown_name

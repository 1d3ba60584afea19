"""Clients that leave before they are answered."""

from __future__ import annotations

from starlette.requests import Request

from epsilond.app.http.problems import Problem


async def wait_for_departure(request: Request) -> None:
    """Wait until the client disconnects. The body has been read, and no other message can come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def client_gone() -> Problem:
    """Return a new problem of a client that has left; a raised exception keeps its frames alive and is not reused."""
    return Problem("client-closed-request", "The client went away.")

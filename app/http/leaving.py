"""Clients that leave before they are answered."""

from __future__ import annotations

from starlette.requests import Request

from epsilond.app.http.problems import Problem


async def gone(request: Request) -> None:
    """Until the client disconnects. The body has been read, so nothing else can come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def client_gone() -> Problem:
    """The problem of a client that has left; a fresh one, for a raised exception holds on to what raised it."""
    return Problem("client-closed-request", "The client went away.")

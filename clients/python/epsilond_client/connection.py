"""Where the service is, and the key it asks for."""

from __future__ import annotations

import httpx

from .client import AuthenticatedClient, Client

LONGEST_ANSWER = 60.0
"""Seconds; the service itself gives up a computation after 30, unless it was told otherwise."""


def connect(
    base_url: str, *, api_key: str | None = None, timeout: float = LONGEST_ANSWER
) -> AuthenticatedClient | Client:
    """A client of the service at `base_url`; `api_key` is sent as a bearer token.

    `with connect(…) as client:` and `async with connect(…) as client:` keep one connection and close it.

    Args:
        base_url: such as `http://127.0.0.1:8000`.
        api_key: where the service asks for one.
        timeout: seconds until `httpx.TimeoutException` is raised.
    """
    options = {"timeout": httpx.Timeout(timeout), "raise_on_unexpected_status": True}
    if api_key is None:
        return Client(base_url, **options)  # type: ignore[arg-type]
    return AuthenticatedClient(base_url, token=api_key, **options)  # type: ignore[arg-type]

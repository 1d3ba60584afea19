"""/v1/api-keys, for operators: list keys, or revoke a key. Answers never contain a key or its full digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated

from fastapi import FastAPI
from fastapi import Path as InPath
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.callers.caller import caller_of
from epsilond.app.callers.keyring import KEYRING, Keyring, KeyState
from epsilond.app.callers.scopes import ScopeName
from epsilond.app.http.answers import json_response
from epsilond.app.http.problems import Problem

PATH = "/v1/api-keys"
TAGS: list[str | Enum] = ["service"]
RETRY = {"Retry-After": "60"}
Identifier = Annotated[
    str,
    InPath(
        description="id of the key: the first 12 hexadecimal digits of its SHA-256",
        pattern=r"^[0-9a-f]{12}$",
        examples=["0123456789ab"],
    ),
]


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """An API key, without the key."""

    id: str
    name: str
    scopes: tuple[ScopeName, ...]
    expires: str | None = None
    """Time of expiry; absent if there is none."""
    revoked: str | None = None
    """Time of the revocation; absent if the key was not revoked."""
    last_used: str | None = None
    """Time of the last use in this service process; absent if there was none since its start."""

    @classmethod
    def of(cls, state: KeyState) -> ApiKey:
        """Return the description of a key of the keyring.

        Args:
            state: the key's line in the file of keys, and the time of its last use.

        Returns:
            The description, which contains neither the key nor its digest, except the 12 digits of the digest in `id`.
        """
        line = state.line
        return cls(
            id=line.id,
            name=line.name,
            scopes=tuple(sorted(line.allowed)),
            expires=_text(line.expires),
            revoked=_text(line.revoked),
            last_used=_text(state.last_used),
        )


@dataclass(frozen=True, kw_only=True)
class ApiKeyList:
    """Every key of the service's file, in its order; none if it has no file."""

    api_keys: Sequence[ApiKey]


def add(app: FastAPI) -> None:
    """Add the routes by which operators list and revoke API keys.

    The description of each route in the OpenAPI document comes from its endpoint.

    Args:
        app: the application, which is changed.
    """
    app.add_api_route(
        PATH,
        list_api_keys,
        operation_id="list_api_keys",
        summary="The API keys, for operators",
        response_model=ApiKeyList,
        response_description="The keys' names, scopes and dates, without the keys and without their digests",
        tags=TAGS,
    )
    app.add_api_route(
        f"{PATH}/{{id}}",
        revoke_api_key,
        methods=["DELETE"],
        operation_id="revoke_api_key",
        summary="Revoke an API key, for operators",
        response_model=ApiKey,
        response_description="The key is revoked",
        tags=TAGS,
    )


async def list_api_keys(request: Request) -> Response:
    """List all keys of the file, also expired and revoked ones."""
    keyring = _keyring(request)
    states = keyring.states() if keyring is not None else ()
    return json_response(ApiKeyList(api_keys=tuple(map(ApiKey.of, states))))


async def revoke_api_key(request: Request, id: Identifier) -> Response:  # noqa: A002 (the name of the path parameter)
    """Revoke a key: at once in this service, and within two seconds in others that read the same file.

    \f

    Args:
        request: the HTTP request.
        id: id of the key.

    Returns:
        The response with the key's state after its revocation, without the key itself.

    Raises:
        Problem: there is no such key, the caller lacks the scope, or the file of keys cannot be changed.
    """
    keyring = _keyring(request)
    # Without a file of keys, there is no key to revoke.
    if keyring is None:
        raise _unknown_key()
    try:
        state = await keyring.revoke(id)
    except (OSError, ValueError):
        detail = (
            "The key is revoked in this service process until it ends; its file cannot be changed from here: change it."
        )
        raise Problem("unavailable", detail, headers=RETRY) from None
    if state is None:
        raise _unknown_key()
    return json_response(ApiKey.of(state))


def _unknown_key() -> Problem:
    """Return the error for an id that no API key of the service has."""
    return Problem("not-found", "There is no API key of this id.")


def _keyring(request: Request) -> Keyring | None:
    """Check that the caller has the scope `admin`, and return the API keys of the service.

    Args:
        request: the HTTP request of the caller.

    Returns:
        The keyring; None if the service has no file of keys.

    Raises:
        Problem: the caller lacks the scope.
    """
    caller_of(request).require_scope("admin")
    return KEYRING.of(request)


def _text(moment: datetime | None) -> str | None:
    """Format a time as RFC 3339 text, such as `2026-01-31T12:00:00Z`.

    Args:
        moment: a time with its offset from UTC; None if there is none.

    Returns:
        The time in the same offset, without fractions of a second; None for None.
    """
    if moment is None:
        return None
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")

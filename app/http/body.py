"""Incoming requests: a body of bounded size and time, declared as JSON, the preferences, and the shortest route.

The content of the body is read elsewhere. Of Prefer (RFC 7240), `wait` and `respond-async` are honoured.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from inspect import signature
from typing import Annotated, Any
from urllib.request import parse_http_list

from fastapi import Depends, Header
from fastapi.routing import APIRoute
from pydantic import ConfigDict, WrapValidator
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from epsilond.app.http.handlers import answer_problem
from epsilond.app.http.problems import TABLE, Problem
from epsilond.app.settings import SETTINGS, Settings

WAIT = re.compile(r'wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:;.*)?', re.IGNORECASE)
AT_ONCE = re.compile(r"respond-async\s*(?:;.*)?", re.IGNORECASE)


@dataclass(frozen=True)
class Preferences:
    """Wishes of a client about its answer, from headers of the request: the longest wait, and an idempotency key.

    Attributes:
        wait: longest wait in seconds that the request prefers; None for the longest that the service allows.
        key: idempotency key, by which a repeated request returns the job of the first one; None without one.
        most: longest wait in seconds that this service grants to a request that states a wait.
    """

    wait: int | None = None
    key: str | None = None
    most: float = 0.0

    def seconds(self, settings: Settings) -> float:
        """Return the longest time in seconds to wait for an answer: the granted one, or the deadline of the service."""
        if self.granted is None:
            return settings.deadline_seconds
        return float(self.granted)

    @property
    def granted(self) -> int | None:
        """The seconds of waiting that are granted; None if the request states no wait."""
        if self.wait is None:
            return None
        return min(self.wait, int(self.most))

    @property
    def applied(self) -> Mapping[str, str]:
        """The response header Preference-Applied (RFC 7240) with the granted wait; empty if no wait was requested."""
        return {} if self.granted is None else {"preference-applied": f"wait={self.granted}"}


def wait_of(headers: Sequence[str]) -> int | None:
    """Return the longest wait in seconds that a client states in Prefer headers (RFC 7240), such as `wait=10`.

    An answer that takes longer becomes a job, which the client can follow.

    Args:
        headers: values of the Prefer headers.

    Returns:
        The value of the first valid `wait`. Without one: 0 if there is a `respond-async`, and None otherwise.
    """
    preferences = [preference for header in headers for preference in parse_http_list(header)]
    for preference in preferences:
        match = WAIT.fullmatch(preference)
        if match is not None:
            plain_digits, quoted_digits = match.groups()
            return int(plain_digits or quoted_digits)
    responds_at_once = any(AT_ONCE.fullmatch(preference) for preference in preferences)
    return 0 if responds_at_once else None


Prefer = Annotated[
    list[str] | None,
    Header(
        alias="Prefer",
        description="RFC 7240. `wait=S`: wait at most S seconds, then answer with a job; `respond-async`: do not wait",
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        description="name of this request, chosen by the caller. If the request became a job, repeating it returns "
        "this job while it is kept. An interrupted job is replaced by a new one",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
    ),
]


STATED_IN = ("prefer", "idempotency-key")
"""Headers that state preferences."""


async def preferences_of(
    request: Request, prefer: Prefer = None, idempotency_key: IdempotencyKey = None
) -> Preferences:
    """Return the preferences of a request for its answer. FastAPI calls this as a dependency.

    Args:
        request: the HTTP request, which leads to the settings of the service.
        prefer: values of the Prefer headers.
        idempotency_key: value of the Idempotency-Key header.

    Returns:
        The wait that the client prefers, the idempotency key, and the longest wait that the service grants.
    """
    return Preferences(wait_of(prefer or ()), idempotency_key, SETTINGS.of(request).job_wait_seconds)


async def _waits(request: Request, prefer: Prefer = None) -> Preferences:
    """Return the preferred wait of a request that only reads state. FastAPI calls this as a dependency."""
    return Preferences(wait_of(prefer or ()), None, SETTINGS.of(request).job_wait_seconds)


def default_preferences(request: Request) -> Preferences | None:
    """Return the default preferences for a request that states none, or None if its headers must be read."""
    if any(name in request.headers for name in STATED_IN):
        return None
    return Preferences(most=SETTINGS.of(request).job_wait_seconds)


OfQuestion = Annotated[Preferences, Depends(preferences_of)]
"""Parameter of an endpoint that starts a computation."""
OfLook = Annotated[Preferences, Depends(_waits)]
"""Parameter of an endpoint that only reads state."""


DRAINED = 16
"""Largest body, as a multiple of the limit, that is read and discarded to its end before the request is rejected."""
Handler = Callable[[Request], Coroutine[object, object, Response]]
Endpoint = Callable[..., Awaitable[Response]]
Direct = Callable[[Request, bytes, Preferences], Awaitable[Response]]


CONFIG = "__pydantic_config__"
"""Attribute in which pydantic looks for its configuration of a dataclass."""


class BytesRoute(APIRoute):
    """A route with an endpoint that gets the body of a request as the received bytes, without FastAPI's parsing.

    It rejects a body that is too large, too slow, empty, or not declared as JSON, before the endpoint is called.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **described: Any) -> None:
        """Make a route, and defer building the pydantic models of its answers, so that the service starts sooner.

        The models are built when the OpenAPI document is requested. For this, each answer class without a pydantic
        configuration gets one.

        Args:
            path: path of the route.
            endpoint: function that answers its requests.
            **described: further arguments of `fastapi.routing.APIRoute`.
        """
        responses = (described.get("responses") or {}).values()
        for model in (described.get("response_model"), *(response.get("model") for response in responses)):
            if is_dataclass(model) and not hasattr(model, CONFIG):
                setattr(model, CONFIG, ConfigDict(defer_build=True))
        super().__init__(path, endpoint, **described)

    def get_route_handler(self) -> Handler:
        """Return FastAPI's handler, with the received bytes in place of its own parsing.

        Returns:
            The handler. For an endpoint without a body, it is FastAPI's own handler.
        """
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def handle_bounded(request: Request) -> Response:
            """Read the body within its limits, and pass it on as bytes in place of parsed JSON."""
            request._body = request._json = await read_json(request)  # noqa: SLF001 (where starlette keeps it)
            return await handle(request)

        return handle_bounded

    @property
    def directly(self) -> Direct | None:
        """A function that calls the endpoint without FastAPI.

        FastAPI's work takes longer than an answer from the cache. The value is None if the endpoint has other
        parameters than the request, the body and the preferences.
        """
        bodies, dependencies = self.dependant.body_params, self.dependant.dependencies
        if len(bodies) != 1 or [dependency.call for dependency in dependencies] != [preferences_of]:
            return None
        # FastAPI passes arguments by the names of the endpoint's parameters.
        request_name = str(self.dependant.request_param_name)
        body_name = str(bodies[0].name)
        preferences_name = str(dependencies[0].name)
        if set(signature(self.endpoint).parameters) != {request_name, body_name, preferences_name}:
            return None
        endpoint: Endpoint = self.endpoint

        async def direct(request: Request, body: bytes, preferences: Preferences) -> Response:
            return await endpoint(**{request_name: request, body_name: body, preferences_name: preferences})

        return direct


def unread(declared: object) -> object:
    """Return the annotation of a body that the endpoint gets as bytes, and that OpenAPI describes as `declared`."""
    return Annotated[declared, WrapValidator(lambda body, _: body)]


async def read_json(request: Request) -> bytes:
    """Return the whole body of a request that declares it as JSON.

    Args:
        request: the HTTP request; its body has not been read.

    Returns:
        The received bytes. They are not parsed, so that they may be invalid JSON.

    Raises:
        Problem: the body is too large, too slow, empty, or not declared as JSON.
    """
    body = await read_bytes(request)
    require_json(request)
    return body


async def read_bytes(request: Request) -> bytes:
    """Return the whole body of a request, and never keep more of it in memory than the limit.

    A body over the limit is read up to `DRAINED` times the limit, and discarded, before the request is rejected. If the
    service answered earlier, the connection would be reset and the client might not see the answer. A body that is
    declared as longer, or a client that waits for a go-ahead (Expect), is rejected at once.

    Args:
        request: the HTTP request; its body has not been read.

    Returns:
        The received bytes, at least one.

    Raises:
        Problem: the body is empty, over the limit, or does not arrive in time; or the client has disconnected.
    """
    settings = SETTINGS.of(request)
    limit = settings.body_limit_bytes
    declared = request.headers.get("content-length", "")
    declared_bytes = int(declared) if declared.isdecimal() else 0
    if declared_bytes > limit and (declared_bytes > DRAINED * limit or "expect" in request.headers):
        raise too_large(limit)
    body = BoundedBody(limit)
    try:
        async with asyncio.timeout(settings.body_seconds):
            await body.receive(request)
    except TimeoutError:
        if not body.is_too_large:
            detail = f"The body did not arrive within {settings.body_seconds:g} s."
            raise Problem("body-timeout", detail, headers={"Connection": "close"}) from None
    except ClientDisconnect:
        raise Problem("client-closed-request", "The client went away.") from None
    if body.is_too_large:
        raise too_large(limit)
    if not body.content:
        raise Problem("malformed-json", "The request has no body; a JSON object is needed.")
    return bytes(body.content)


class BoundedBody:
    """A request body of which at most `limit` bytes are kept in memory.

    A client can therefore not fill the memory with a large body, and the service can still read the body to its end.

    Args:
        limit: largest number of bytes to keep.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._received_bytes = 0
        self.content = bytearray()
        """The received bytes; incomplete if the body is too large."""

    @property
    def is_too_large(self) -> bool:
        """True if more bytes than the limit have come."""
        return self._received_bytes > self._limit

    async def receive(self, request: Request) -> None:
        """Read the body to its end, but not beyond `DRAINED` times the limit.

        Args:
            request: the HTTP request; its body has not been read.

        Raises:
            ClientDisconnect: the client has disconnected.
        """
        async for chunk in request.stream():
            self._received_bytes += len(chunk)
            if not self.is_too_large:
                self.content += chunk
            elif self._received_bytes > DRAINED * self._limit:
                return


def too_large(limit: int) -> Problem:
    """Return the problem of a body over the limit, which closes the connection because unread bytes may remain."""
    return Problem("too-large", f"The body is larger than {limit} bytes.", headers={"Connection": "close"})


def require_json(request: Request) -> None:
    """Reject a request with a body that is not declared as application/json in UTF-8.

    A browser cannot send this media type from a foreign page without the permission of the service.

    Args:
        request: the HTTP request, of which only the header Content-Type is read.

    Raises:
        Problem: the body is declared as another media type, or not at all.
    """
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    if media_type.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Problem("unsupported-media-type", "Send Content-Type: application/json.")


class Shortcut:
    """The innermost ASGI layer of the service, which answers POST requests to simple endpoints without FastAPI.

    FastAPI's routing takes longer than an answer from the cache. An endpoint is simple if its path has no parameters
    and it takes only the request, the body and the preferences.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._routes: dict[str, tuple[BytesRoute, Direct]] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a POST request to a simple endpoint without FastAPI, and pass any other request on.

        A request with preferences in its headers is passed on too, because FastAPI checks these headers.

        Args:
            scope: ASGI description of the request, to which the matched route is added.
            receive: function that returns the next ASGI message from the client.
            send: function that sends an ASGI message to the client.
        """
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        # The routes are complete only when the first request comes.
        if self._routes is None:
            self._routes = direct_routes(scope["app"])
        match = self._routes.get(scope["path"])
        request = Request(scope, receive, send)
        preferences = None if match is None else default_preferences(request)
        if match is None or preferences is None:
            await self.app(scope, receive, send)
            return
        scope["route"], endpoint = match
        try:
            response = await endpoint(request, await read_json(request), preferences)
        except tuple(TABLE) as error:
            response = await answer_problem(request, error)
        await response(scope, receive, send)


def direct_routes(app: Starlette) -> dict[str, tuple[BytesRoute, Direct]]:
    """Return the simple POST routes of an application by path, each with the function that calls its endpoint.

    A route is simple if its path has no parameters, and its endpoint takes only the request, the body and preferences.

    Args:
        app: the application with all its routes. Of several routes with one path, the first is used.

    Returns:
        The route and the function, by path.
    """
    routes: dict[str, tuple[BytesRoute, Direct]] = {}
    for route in app.routes:
        if isinstance(route, BytesRoute) and "{" not in route.path and route.methods == {"POST"}:
            endpoint = route.directly
            if endpoint is not None:
                routes.setdefault(route.path, (route, endpoint))
    return routes

"""How a body comes in: bounded, in time, and declared as JSON. What it says is read elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from inspect import signature
from typing import Annotated, Any

from fastapi.routing import APIRoute
from pydantic import WrapValidator
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from epsilond.app.http.prefer import Preferences, preferences_of, unstated
from epsilond.app.http.problems import Problem

DRAINED = 16
"""How many times the limit a body may be for the rest of it to be read and thrown away before it is refused."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Endpoint = Callable[..., Awaitable[Response]]
Direct = Callable[[Request, bytes, Preferences], Awaitable[Response]]


class BytesRoute(APIRoute):
    """A route whose endpoint gets its body as the bytes that came. It declares the body `unread`.

    Raises, besides what the endpoint raises:
        Problem: the body is too large, too slow, empty, or not declared as JSON.
    """

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, with the bytes in place of its own parsing."""
        handle, directly = super().get_route_handler(), self.directly
        if self.body_field is None:
            return handle

        async def bounded(request: Request) -> Response:
            body = await read(request)
            require_json(request)
            preferences = None if directly is None else unstated(request)
            if directly is not None and preferences is not None:
                return await directly(request, body, preferences)
            request._body = request._json = body  # noqa: SLF001 (where starlette keeps what it has read)
            return await handle(request)

        return bounded

    @property
    def directly(self) -> Direct | None:
        """The endpoint where it takes the request, its body and its preferences alone, to be called without FastAPI.

        FastAPI would look for each header, read the media type again and validate bytes that are not to be validated,
        which takes longer than an answer from the cache.
        """
        wanted = self.dependant
        names = [wanted.request_param_name, *(one.name for one in wanted.body_params)]
        names += [one.name for one in wanted.dependencies]
        plain = len(wanted.body_params) == 1 and [one.call for one in wanted.dependencies] == [preferences_of]
        if not plain or set(signature(self.endpoint).parameters) != set(names):
            return None
        endpoint: Endpoint = self.endpoint
        request_name, body_name, preferences_name = map(str, names)

        async def direct(request: Request, body: bytes, preferences: Preferences) -> Response:
            return await endpoint(**{request_name: request, body_name: body, preferences_name: preferences})

        return direct


def unread(declared: Any) -> Any:
    """The annotation of a body that stands in the OpenAPI document as `declared`, and comes as bytes."""
    return Annotated[declared, WrapValidator(lambda body, _: body)]


async def read(request: Request) -> bytes:
    """The whole body, of which never more than the limit is kept.

    A client that is still sending would find its connection reset and never see the answer. So what is beyond the limit
    is read too, up to a bound, and thrown away; a client that asks before it sends is answered at once.

    Raises:
        Problem: it is empty, over the limit, or does not arrive in time.
    """
    settings = request.app.state.settings
    limit, declared = settings.body_limit_bytes, request.headers.get("content-length", "")
    length = int(declared) if declared.isdecimal() else 0
    if length > limit and (length > DRAINED * limit or "expect" in request.headers):
        raise too_large(limit)
    body, received = bytearray(), 0
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for chunk in request.stream():
                received += len(chunk)
                if received <= limit:
                    body += chunk
                elif received > DRAINED * limit:
                    break
    except TimeoutError:
        if received > limit:
            raise too_large(limit) from None
        raise Problem(
            "body-timeout",
            f"The body did not arrive within {settings.body_seconds:g} s.",
            headers={"Connection": "close"},
        ) from None
    except ClientDisconnect:
        raise Problem("client-closed-request", "The client went away.") from None
    if received > limit:
        raise too_large(limit)
    if not body:
        raise Problem("malformed-json", "The request has no body; a JSON object is needed.")
    return bytes(body)


def too_large(limit: int) -> Problem:
    """The rest of the body may not have been read, so the connection cannot serve another request."""
    return Problem("too-large", f"The body is larger than {limit} bytes.", headers={"Connection": "close"})


def require_json(request: Request) -> None:
    """Accept application/json alone, in UTF-8.

    Raises:
        Problem: the body is declared as anything else, or not at all.
    """
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    if media_type.strip().lower() != "application/json" or charset not in ("", "charset=utf-8"):
        raise Problem("unsupported-media-type", "Send Content-Type: application/json.")

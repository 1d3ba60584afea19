"""How a body comes in: bounded, in time, and declared as JSON. What it says is read elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import anyio
from fastapi.routing import APIRoute
from pydantic import WrapValidator
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from epsilond.app.http.problems import Problem

DRAINED = 16
"""How many times the limit a body may be for the rest of it to be read and thrown away before it is refused."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class BytesRoute(APIRoute):
    """A route whose endpoint gets its body as the bytes that came. It declares the body `unread`.

    Raises, besides what the endpoint raises:
        Problem: the body is too large, too slow, empty, or not declared as JSON.
    """

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, with the bytes in place of its own parsing."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def bounded(request: Request) -> Response:
            body = await read(request)
            require_json(request)
            request._body = request._json = body  # noqa: SLF001 (where starlette keeps what it has read)
            return await handle(request)

        return bounded


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
        with anyio.fail_after(settings.body_seconds):
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

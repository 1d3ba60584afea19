"""How a body comes in: bounded, declared as JSON, parsed strictly, validated, its faults told as pointers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Annotated, Any

import anyio
from anyio import to_thread
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError, WrapValidator
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from epsilond.accountants.errors import InvalidInput
from epsilond.app.http.faults import faults_of
from epsilond.app.http.problems import Problem
from epsilond.calibrators.strict_json import parse

LONG_BODY = 65_536
"""Bytes; a longer body is parsed in a thread, so that the event loop goes on."""
DRAINED = 16
"""How many times the limit a body may be for the rest of it to be read and thrown away before it is refused."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class StrictRoute(APIRoute):
    """A route whose JSON body is read and checked by us before FastAPI sees it.

    Raises, besides what the endpoint raises:
        Problem: the body is too large, too slow, empty, or not declared as JSON.
        Malformed: it is not JSON.
        InvalidInput: it holds what no request may, or what its type does not allow.
    """

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, with the parsed body in place of its own parsing."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        body_type = self.body_field.field_info.annotation

        async def strictly(request: Request) -> Response:
            body = await read(request)
            require_json(request)
            parsed = parse(body) if len(body) < LONG_BODY else await to_thread.run_sync(parse, body)
            request._body, request._json = body, parsed  # noqa: SLF001 (where starlette keeps what it has read)
            try:
                return await handle(request)
            except RequestValidationError as error:
                inner = [{**item, "loc": item["loc"][1:]} for item in error.errors() if item["loc"][0] == "body"]
                if not inner:
                    raise
                raise InvalidInput(*faults_of(inner, body_type)) from None

        return strictly


def unread(declared: Any) -> Any:
    """The annotation of a body that stands in the OpenAPI document as `declared`, and comes as it was parsed."""
    return Annotated[declared, WrapValidator(lambda parsed, _: parsed)]


class Reader:
    """Reads a parsed body as a type which is known only once the path or the body itself is looked at.

    Such a route declares its body `unread`, and reads it with this.
    """

    def __init__(self, declared: Any) -> None:
        self._declared = declared

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self._declared)

    def __call__(self, body: Any) -> Any:
        """The body as a value of the type.

        Raises:
            InvalidInput: it is none; pointers lead into the body.
        """
        try:
            return self._adapter.validate_python(body)
        except ValidationError as error:
            raise InvalidInput(*faults_of([dict(item) for item in error.errors()], self._declared)) from None


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

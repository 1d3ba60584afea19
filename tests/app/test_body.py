"""Which endpoints are called with the bytes of a body, past what FastAPI reads, and that they answer alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import httpx
import pytest
from fastapi import Body, FastAPI
from starlette.requests import Request
from starlette.responses import Response

from epsilond.app.http.body import BytesRoute, OfLook, OfQuestion, unread
from tests.app.conftest import problem

TOY = "/v1/calibrations/toy"
if TYPE_CHECKING:
    Bytes = bytes
else:
    Bytes = Annotated[unread(int), Body()]


async def plain(request: Request, wanted: Bytes, preferences: OfQuestion) -> Response:
    raise NotImplementedError


async def in_path(request: Request, name: str, wanted: Bytes, preferences: OfQuestion) -> Response:
    raise NotImplementedError


async def with_query(request: Request, wanted: Bytes, preferences: OfQuestion, most: int = 1) -> Response:
    raise NotImplementedError


async def looking(request: Request, wanted: Bytes, preferences: OfLook) -> Response:
    raise NotImplementedError


async def without_preferences(request: Request, wanted: Bytes) -> Response:
    raise NotImplementedError


async def without_body(request: Request, preferences: OfQuestion) -> Response:
    raise NotImplementedError


ENDPOINTS = (plain, in_path, with_query, looking, without_preferences, without_body)


def test_only_an_endpoint_of_request_body_and_preferences_is_called_directly() -> None:
    app = FastAPI()
    app.router.route_class = BytesRoute
    for endpoint in ENDPOINTS:
        app.add_api_route("/{name}" if endpoint is in_path else f"/{endpoint.__name__}", endpoint, methods=["POST"])
    routes = {route.name: route for route in app.routes if isinstance(route, BytesRoute)}
    assert {name for name, route in routes.items() if route.directly is not None} == {"plain"}
    assert set(routes) == {endpoint.__name__ for endpoint in ENDPOINTS}


@pytest.mark.parametrize("headers", [{"prefer": "wait=600"}, {"prefer": "nothing"}, {"idempotency-key": "once"}])
def test_stated_preferences_are_read_and_the_answer_is_the_same(client: httpx.Client, headers: dict[str, str]) -> None:
    body = {"epsilon": 2.25, "delta": 1e-6, "clients": 10}
    bare, stated = client.post(TOY, json=body), client.post(TOY, json=body, headers=headers)
    assert (bare.status_code, stated.status_code, bare.content) == (200, 200, stated.content)
    applied = "wait=600" if headers.get("prefer") == "wait=600" else None
    assert (bare.headers.get("preference-applied"), stated.headers.get("preference-applied")) == (None, applied)
    others = {"x-request-id", "date", "preference-applied", "x-cache"}
    assert {k: v for k, v in bare.headers.items() if k not in others} == {
        k: v for k, v in stated.headers.items() if k not in others
    }


def test_a_preference_that_cannot_be_read_is_refused(client: httpx.Client) -> None:
    body = {"epsilon": 2.25, "delta": 1e-6, "clients": 10}
    problem(client.post(TOY, json=body, headers={"idempotency-key": "two words"}), 422, "invalid-input")

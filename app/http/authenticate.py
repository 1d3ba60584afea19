"""Credentials: a middleware that lets through whoever has a key, or everybody to what is open."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from epsilond.app.http.keys import CALLER, Caller, Keys
from epsilond.app.http.problems import Problem, response_of

OPEN = frozenset({"/", "/healthz", "/readyz", "/openapi.json", "/docs", "/problems", "/favicon.ico"})
OPEN_BELOW = ("/docs/", "/problems/", "/explorer/")
"""What says nothing of anybody: probes, documents, and the page that people type their key into."""
METRICS = "/metrics"
CHALLENGE = 'Bearer realm="epsilond"'


class Authenticate:
    """The middleware. It stands inside the observer, so that a refusal is counted and logged like any answer."""

    def __init__(self, app: ASGIApp, keys: Keys, *, metrics_open: bool) -> None:
        self.app = app
        self.keys = keys
        self.open = OPEN | ({METRICS} if metrics_open else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its caller, or refuse it before anything of it is read."""
        if scope["type"] != "http" or scope["path"] in self.open or scope["path"].startswith(OPEN_BELOW):
            await self.app(scope, receive, send)
            return
        try:
            caller = self._caller(Headers(scope=scope).getlist("authorization"))
            await caller.request()
        except Problem as problem:
            await response_of(problem)(scope, receive, send)
            return
        scope[CALLER] = caller
        await self.app(scope, receive, send)

    def _caller(self, given: list[str]) -> Caller:
        scheme, _, key = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() != "bearer" or not key.strip():
            headers = {"WWW-Authenticate": CHALLENGE}
            raise Problem("unauthorized", "Send Authorization: Bearer, with an API key.", headers=headers)
        caller = self.keys.caller(key.strip())
        if caller is None:
            headers = {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'}
            raise Problem("unauthorized", "This API key is not known.", headers=headers)
        return caller

"""Credentials: a middleware that finds out who asks and whether they may, or that nobody is asked who they are."""

from __future__ import annotations

from functools import partial

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from epsilond.app.callers.caller import AGAIN, CALLER, Budgets, Caller, address_of
from epsilond.app.callers.keyring import Keyring
from epsilond.app.callers.oidc import Tokens
from epsilond.app.callers.scopes import METRICS, needed
from epsilond.app.http.problems import Problem, response_of
from epsilond.app.http.record import record_in

OPEN = frozenset(
    {"/", "/ledgers", "/healthz", "/readyz", "/openapi.json", "/docs", "/guide", "/problems", "/favicon.ico"}
)
OPEN_BELOW = ("/docs/", "/guide/", "/problems/", "/explorer/")
"""What says nothing of anybody: probes, documents, and the pages that people type their key into."""
CHALLENGE = 'Bearer realm="epsilond"'


class Authenticate:
    """The middleware. It stands inside the observer, so that a refusal is counted and logged like any answer."""

    def __init__(
        self, app: ASGIApp, budgets: Budgets, keyring: Keyring | None, tokens: Tokens | None, *, metrics_open: bool
    ) -> None:
        self.app = app
        self.budgets = budgets
        self.keyring = keyring
        self.tokens = tokens
        self.asked = keyring is not None or tokens is not None
        self.open = OPEN | ({METRICS} if metrics_open else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its caller, or refuse it before anything of it is read."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, address = scope["path"], address_of(scope)
        record = record_in(scope)
        record.caller = address
        if not self.asked:
            scope[CALLER] = Caller.at(address, self.budgets)
        elif path not in self.open and not path.startswith(OPEN_BELOW):
            given = Headers(scope=scope).getlist("authorization")
            try:
                caller = await self._caller(given)
                record.caller, record.caller_label = caller.shown, caller.label
                await caller.request()
                caller.require_scope(*needed(path))
            except Problem as problem:
                await response_of(problem)(scope, receive, send)
                return
            scope[CALLER], scope[AGAIN] = caller, partial(self._again, given, path, caller.name)
        await self.app(scope, receive, send)

    async def _caller(self, given: list[str]) -> Caller:
        """Whoever these credentials name.

        Raises:
            Problem: there are none, or they are not taken, or it cannot be found out.
        """
        scheme, _, text = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        credentials = text.strip()
        if scheme.lower() != "bearer" or not credentials:
            headers = {"WWW-Authenticate": CHALLENGE}
            raise Problem("unauthorized", f"Send Authorization: Bearer, with {self._what}.", headers=headers)
        caller = None
        if self.keyring is not None:
            caller = self.keyring.caller(credentials)
        if caller is None and self.tokens is not None and credentials.count(".") == 2:
            caller = await self.tokens.caller(credentials)
        if caller is None:
            raise self._refusal
        return caller

    async def _again(self, given: list[str], path: str, name: str) -> Caller:
        """Whoever was let in to this path, as these credentials are taken now.

        Raises:
            Problem: they are not, or are somebody else's by now, or do not open the path.
        """
        caller = await self._caller(given)
        if caller.name != name:
            raise self._refusal
        caller.require_scope(*needed(path))
        return caller

    @property
    def _refusal(self) -> Problem:
        headers = {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'}
        detail = f"These credentials are unknown, expired or revoked: send {self._what}."
        return Problem("unauthorized", detail, headers=headers)

    @property
    def _what(self) -> str:
        kinds = ["an API key"] if self.keyring is not None else []
        return " or ".join([*kinds, "a token of the identity provider"] if self.tokens is not None else kinds)

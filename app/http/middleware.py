"""The layers around every request, from the outside in: observation, compression (`compression`) and authentication.

`Observe` is outside the framework's own error handling, so that an unforeseen error becomes a problem like any other.
`Authenticate` is inside it, so that a refusal is counted and logged like any answer. Documents that are served again
and again are compressed once (`document`), and `Compress` passes them on as they are.
"""

from __future__ import annotations

import re
import secrets
import time
from functools import cache, partial

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from epsilond.app.callers.caller import AGAIN, CALLER, Budgets, Caller, address_of
from epsilond.app.callers.keyring import Keyring
from epsilond.app.callers.oidc import Tokens
from epsilond.app.callers.scopes import METRICS, required_scopes
from epsilond.app.http.problems import Problem, problem_of, response_of
from epsilond.app.http.record import RECORD, RequestRecord, record_in
from epsilond.app.metrics import Metrics

SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
NAMED = re.compile(r"(/v1/(?:calibrations|risk-bounds)/)([^/{]+)(.*)")
"""Paths of routes that are generated from lists. Metrics take the name in the path as a label of its own."""
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths of probes. Probes come every second and are logged at debug level only."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
LOGGED_IF_KNOWN = ("theorem", "cache", "caller", "problem", "cpu_milliseconds", "queued_milliseconds")
"""Fields of a request's record that a log line includes if they are known."""
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer that does not set them itself."""
CSP = b"content-security-policy"
PAGE_POLICY = (
    b"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self';"
    b" frame-ancestors 'none'"
)
"""Content security policy of the service's HTML pages: browsers run only code and styles from files of the service."""


def template(scope: Scope) -> tuple[str, str | None]:
    """Return the labels of a request for metrics: the path of its route, and the name of the algorithm in it.

    Both are those of the matched route, so that no text of the request enters the metrics.

    Args:
        scope: ASGI scope of the request, after routing.

    Returns:
        The path with `{name}` in place of the algorithm, or "unmatched"; and the algorithm, None if the path has none.
    """
    route = scope.get("route")
    path = getattr(route, "path_format", None)
    if path is None:
        return "unmatched", None
    # The name of the algorithm becomes a label of its own.
    match = NAMED.fullmatch(path)
    if match is None:
        return path, None
    before, algorithm, after = match.groups()
    return f"{before}{{name}}{after}", algorithm


RawHeader = tuple[bytes, bytes]
"""Name and value of a header in latin-1."""


class Observe:
    """The outermost ASGI layer, which logs and counts each request, and adds an id and security headers to its answer.

    It also answers HEAD like GET without a body, and turns unforeseen exceptions into problem documents.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, hsts_seconds: int = 0) -> None:
        """Prepare the headers of all answers, and the metrics that requests update.

        Args:
            app: the ASGI application inside.
            metrics: metrics of the service.
            hsts_seconds: time for which browsers shall use HTTPS only (strict transport security), in seconds; 0 for no
                such header.
        """
        self.app = app
        transport_security = {"strict-transport-security": f"max-age={hsts_seconds}"} if hsts_seconds else {}
        self.headers = HEADERS | transport_security
        self._raw_headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        self.metrics = metrics
        # The metric of each combination of labels is looked up once.
        self.requests = cache(metrics.requests.labels)
        self.caller_requests = cache(metrics.caller_requests.labels)
        self._timings_by_route = {
            "/v1/calibrations/{name}": metrics.calibrations,
            "/v1/risk-bounds/{name}": metrics.risk_bounds,
        }
        self.log = structlog.get_logger()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request in every case, and record it in the log and the metrics.

        The id of the request is that of its header X-Request-ID if valid, otherwise random. An unforeseen exception is
        logged, and answered as an internal error unless an answer has begun.

        Args:
            scope: ASGI scope of the connection. Other connections than HTTP are passed on unchanged.
            receive: function that returns the next message from the client.
            send: function that sends a message to the client.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent_id = Headers(scope=scope).get("x-request-id", "")
        record = RequestRecord(sent_id if SANE_ID.fullmatch(sent_id) else secrets.token_hex(16))
        method = scope["method"]
        is_head = method == "HEAD"
        scope = {**scope, RECORD: record, "method": "GET" if is_head else method}

        async def send_observed(message: Message) -> None:
            """Send a message of the answer, after adding headers to its head and removing the body for HEAD."""
            if message["type"] == "http.response.start":
                record.started = True
                record.status = message["status"]
                message["headers"] = self._complete_headers(list(message["headers"]), record)
            elif is_head:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self.app(scope, receive, send_observed)
        except Exception as error:  # the log has the traceback, and the answer has no details
            self.log.exception("unexpected", id=record.id)
            if not record.started:
                await response_of(problem_of(error))(scope, receive, send_observed)
        finally:
            self._record_answer(scope, record, method)

    def _complete_headers(self, headers: list[RawHeader], record: RequestRecord) -> list[RawHeader]:
        """Add the request's id and the security headers to the headers of an answer, and return them.

        Args:
            headers: headers of the answer, changed in place. A security header that is already there is kept.
            record: record of the request, with its id.

        Returns:
            The same list, with the added headers.
        """
        present = dict(headers)
        headers.append((b"x-request-id", record.id.encode("latin-1")))
        if present.get(b"content-type", b"").startswith(b"text/html") and CSP not in present:
            headers.append((CSP, PAGE_POLICY))
            present[CSP] = PAGE_POLICY
        headers.extend([(name, value) for name, value in self._raw_headers if name not in present])
        return headers

    def _record_answer(self, scope: Scope, record: RequestRecord, method: str) -> None:
        """Write the log line of a request that has ended, with or without an answer, and update the metrics.

        Requests to the paths of probes (`QUIET`: health, readiness and metrics) are logged at debug level only.

        Args:
            scope: ASGI scope of the request.
            record: id, status, caller, times and problem of the request.
            method: HTTP method that the client sent.
        """
        route, name = template(scope)
        seconds = time.perf_counter() - record.began

        # Labels of metrics have few values: clients can send any method.
        method = method if method in METHODS else "OTHER"
        self.requests(method, route, record.status).observe(seconds)
        self.caller_requests(record.caller_label).inc()
        if record.problem is not None:
            self.metrics.problems.labels(record.problem, record.caller_label).inc()
        if name is not None and route in self._timings_by_route:
            self._timings_by_route[route].labels(name, record.status).observe(seconds)

        line: dict[str, object] = {"id": record.id, "method": method, "path": route, "status": record.status}
        optional = {"algorithm": name} | {field: getattr(record, field) for field in LOGGED_IF_KNOWN}
        line |= {key: value for key, value in optional.items() if value is not None}
        log = self.log.debug if route in QUIET else self.log.info
        log("request", **line, milliseconds=round(1000 * seconds, 3))


OPEN = frozenset(
    {"/", "/ledgers", "/healthz", "/readyz", "/openapi.json", "/docs", "/guide", "/problems", "/favicon.ico"}
)
OPEN_BELOW = ("/docs/", "/guide/", "/problems/", "/explorer/")
"""Paths that reveal nothing about callers: documents, and pages in which people enter their key."""
CHALLENGE = 'Bearer realm="epsilond"'


class Authenticate:
    """The ASGI layer that identifies the caller and checks the caller's rights before the body of a request is read.

    Callers need an API key or a token. If the service has neither, no credentials are required.

    Args:
        app: the ASGI application inside.
        budgets: limits on the requests and the computing time of each caller.
        keyring: the API keys of the service; None without keys.
        tokens: checks of tokens of an identity provider; None without one.
        metrics_open: whether the metrics need no credentials.
    """

    def __init__(
        self, app: ASGIApp, budgets: Budgets, keyring: Keyring | None, tokens: Tokens | None, *, metrics_open: bool
    ) -> None:
        self.app = app
        self.budgets = budgets
        self.keyring = keyring
        self.tokens = tokens
        self.needs_credentials = keyring is not None or tokens is not None
        self.open = OPEN | ({METRICS} if metrics_open else set())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its caller, or reject it before its body is read.

        If the service has neither keys nor tokens, the network address identifies the caller. Otherwise the credentials
        do. Open paths are passed on without a caller.

        Args:
            scope: ASGI scope of the request, to which the caller is added.
            receive: ASGI function that receives the body.
            send: ASGI function that sends the answer.
        """
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        address = address_of(scope)
        record_in(scope).caller = address
        is_open = path in self.open or path.startswith(OPEN_BELOW)

        if not self.needs_credentials:
            scope[CALLER] = Caller.at(address, self.budgets)
        elif not is_open:
            try:
                await self._identify_caller(scope)
            except Problem as problem:
                await response_of(problem)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _identify_caller(self, scope: Scope) -> None:
        """Add the caller to the scope of a request, and count the request.

        Args:
            scope: ASGI scope of the request, which is changed in place.

        Raises:
            Problem: the credentials are not accepted, the caller has sent too many requests, or its key does not allow
                requests to this path.
        """
        path, record = scope["path"], record_in(scope)
        credentials = Headers(scope=scope).getlist("authorization")
        caller = await self._caller_with(credentials)
        # The caller is recorded before its limits and rights are checked, so that rejections are logged with it.
        record.caller = caller.shown
        record.caller_label = caller.label
        await caller.count_request()
        caller.require_scope(*required_scopes(path))
        scope[CALLER] = caller
        scope[AGAIN] = partial(self._check_again, credentials, path, caller.name)

    async def _caller_with(self, header_values: list[str]) -> Caller:
        """Return the caller with the credentials in the Authorization headers, of which there must be exactly one.

        The credentials are an API key of the service, or a token that the identity provider has signed.

        Args:
            header_values: values of the Authorization headers.

        Returns:
            The caller, with its rights and limits.

        Raises:
            Problem: the credentials are missing or not accepted, or the identity provider cannot be reached.
        """
        header = header_values[0] if len(header_values) == 1 else ""
        scheme, _, text = header.partition(" ")
        credentials = text.strip()
        if scheme.lower() != "bearer" or not credentials:
            headers = {"WWW-Authenticate": CHALLENGE}
            raise Problem(
                "unauthorized", f"Send Authorization: Bearer, with {self._accepted_credentials}.", headers=headers
            )
        caller = None
        if self.keyring is not None:
            caller = self.keyring.caller(credentials)
        may_be_token = credentials.count(".") == 2  # a JSON Web Token has three parts
        if caller is None and self.tokens is not None and may_be_token:
            caller = await self.tokens.caller(credentials)
        if caller is None:
            raise self._credentials_problem
        return caller

    async def _check_again(self, header_values: list[str], path: str, name: str) -> Caller:
        """Check the credentials of a long request again, and return its caller.

        Args:
            header_values: values of the Authorization headers.
            path: path of the request.
            name: name of the caller at the first check.

        Returns:
            The caller with its present rights.

        Raises:
            Problem: the credentials are not accepted any more, belong to another caller, or lack the scope that the
                path requires.
        """
        caller = await self._caller_with(header_values)
        if caller.name != name:
            raise self._credentials_problem
        caller.require_scope(*required_scopes(path))
        return caller

    @property
    def _credentials_problem(self) -> Problem:
        """Problem that answers credentials which are not accepted."""
        headers = {"WWW-Authenticate": f'{CHALLENGE}, error="invalid_token"'}
        detail = f"These credentials are unknown, expired or revoked: send {self._accepted_credentials}."
        return Problem("unauthorized", detail, headers=headers)

    @property
    def _accepted_credentials(self) -> str:
        """Kinds of credentials that the service accepts, in words."""
        kinds = []
        if self.keyring is not None:
            kinds.append("an API key")
        if self.tokens is not None:
            kinds.append("a token of the identity provider")
        return " or ".join(kinds)

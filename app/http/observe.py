"""Around every request: its id, one log line, the metrics, the security headers, HEAD, and the last resort.

It stands outside the framework's own error handling, so that what nobody foresaw becomes a problem like any other.
"""

from __future__ import annotations

import re
import time
import uuid

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from epsilond.app.http.problems import problem_of, response_of
from epsilond.app.http.record import RECORD, RequestRecord
from epsilond.app.metrics import Metrics

SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
NAMED = re.compile(r"(/v1/(?:calibrations|risk-bounds)/)([^/{]+)(.*)")
"""Routes generated from the lists carry their name in the path; it is a label of its own."""
QUIET = frozenset({"/healthz", "/readyz", "/metrics"})
"""Probes come every second; they are logged at debug level only."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
TOLD = ("theorem", "cache", "caller", "problem", "cpu_milliseconds", "queued_milliseconds")
"""What a log line has of a request's record, where it is known."""
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
"""Of every answer that does not say otherwise."""
PAGE_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)
"""Of an HTML page of ours: its code and styles are files of ours, and a browser runs no other."""


def template(scope: Scope) -> tuple[str, str | None]:
    """The route's path with its name taken out, and the name: of what was matched, never of what was sent."""
    route = scope.get("route")
    path = getattr(route, "path_format", None)
    if path is None:
        return "unmatched", None
    named = NAMED.fullmatch(path)
    return (named[1] + "{name}" + named[3], named[2]) if named else (path, None)


class Observe:
    """The middleware."""

    def __init__(self, app: ASGIApp, metrics: Metrics, hsts_seconds: int = 0) -> None:
        self.app = app
        self.headers = HEADERS | ({"strict-transport-security": f"max-age={hsts_seconds}"} if hsts_seconds else {})
        self.raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        self.metrics = metrics
        self.by_algorithm = {
            "/v1/calibrations/{name}": metrics.calibrations,
            "/v1/risk-bounds/{name}": metrics.risk_bounds,
        }
        self.log = structlog.get_logger()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens, and tell of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        record = RequestRecord(given if SANE_ID.fullmatch(given) else uuid.uuid4().hex)
        bodiless = scope["method"] == "HEAD"
        scope = {**scope, RECORD: record, "method": "GET" if bodiless else scope["method"]}

        async def observed(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.started, record.status = True, message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = record.id
                if headers.get("content-type", "").startswith("text/html"):
                    headers.setdefault("content-security-policy", PAGE_POLICY)
                there = {name for name, _ in headers.raw}
                headers.raw.extend(one for one in self.raw if one[0] not in there)
            elif bodiless:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self.app(scope, receive, observed)
        except Exception as error:  # the last resort: logged whole, answered without a word of it
            self.log.exception("unexpected", id=record.id)
            if not record.started:
                await response_of(problem_of(error))(scope, receive, observed)
        finally:
            self.tell(scope, record, "HEAD" if bodiless else scope["method"])

    def tell(self, scope: Scope, record: RequestRecord, method: str) -> None:
        """One line and the figures."""
        route, name = template(scope)
        seconds = time.perf_counter() - record.began
        method = method if method in METHODS else "OTHER"
        self.metrics.requests.labels(method, route, record.status).observe(seconds)
        self.metrics.caller_requests.labels(record.caller_label).inc()
        if record.problem is not None:
            self.metrics.problems.labels(record.problem, record.caller_label).inc()
        if name is not None and route in self.by_algorithm:
            self.by_algorithm[route].labels(name, record.status).observe(seconds)
        line: dict[str, object] = {"id": record.id, "method": method, "path": route, "status": record.status}
        extra = {"algorithm": name} | {field: getattr(record, field) for field in TOLD}
        line |= {key: value for key, value in extra.items() if value is not None}
        log = self.log.debug if route in QUIET else self.log.info
        log("request", **line, milliseconds=round(1000 * seconds, 3))

"""Liveness, readiness and metrics."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import FastAPI, Query
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from epsilond.accountants import ENGINE_VERSION, VERSION
from epsilond.accountants.json_types import JsonRecord
from epsilond.accountants.numerics.compiled import reason_for_absence
from epsilond.app.health import HEALTH
from epsilond.app.http.problems import Problem
from epsilond.app.metrics import METRICS

Verbose: TypeAlias = Annotated[
    str | None, Query(description="add the version and the engine to the answer; it needs no value")
]


def add(app: FastAPI) -> None:
    """Add /healthz, /readyz and /metrics."""
    kinds: JsonRecord = {"tags": ["service"], "response_class": PlainTextResponse}
    app.add_api_route("/healthz", healthz, operation_id="healthz", summary="Is the process alive?", **kinds)
    app.add_api_route(
        "/readyz", readyz, operation_id="readyz", summary="Whether the service can answer requests", **kinds
    )
    app.add_api_route("/metrics", metrics, operation_id="metrics", summary="Figures for Prometheus", **kinds)


async def healthz(verbose: Verbose = None) -> Response:
    """Answer as long as the process runs. With `?verbose`, name the version and the engine."""
    return PlainTextResponse("ok\n" if verbose is None else f"ok\nversion: {VERSION}\nengine: {_engine()}\n")


def _engine() -> str:
    """Name the engine that answers, and say why if it is not the compiled kernel."""
    reason = reason_for_absence()
    return f"{ENGINE_VERSION}{f' ({reason})' if reason else ''}"


async def readyz(request: Request) -> Response:
    """Answer 503 while no worker is warm, the store is unreachable, or the service is stopping."""
    reasons = HEALTH.of(request).reasons()
    if reasons:
        raise Problem("unavailable", " ".join(reasons), headers={"Retry-After": "1"})
    return PlainTextResponse("ready\n")


async def metrics(request: Request) -> Response:
    """Return latencies, problems, CPU time by caller, and the state of workers, cache and event loop."""
    figures = METRICS.of(request)
    await figures.refresh()
    return Response(generate_latest(figures.registry), media_type=CONTENT_TYPE_LATEST)

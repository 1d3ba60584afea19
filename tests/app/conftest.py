"""A real server over the toys, on a free port of the loopback; most tests share one."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI

from app import serve
from app.main import create_app
from app.settings import Settings
from tests.app import toy_simulations, toys


@contextmanager
def serving(settings: Settings, app: FastAPI | None = None) -> Iterator[httpx.Client]:
    """A client of a server of its own, ready to compute: of the toys, unless another application is given."""
    app = app or create_app(
        calibrators=toys.CALIBRATORS,
        theorems=toys.THEOREMS,
        theorem_home="tests.app.toys",
        settings=settings,
        kinds=toy_simulations.KINDS,
        figures="tests.app.toy_simulations",
    )
    server = serve.server(app, settings)
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        wait_until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20.0) as client:
            wait_until(lambda: client.get("/readyz").status_code == 200)
            yield client
    finally:
        server.should_exit = True
        thread.join(20.0)
    assert not thread.is_alive()


def wait_until(true: Callable[[], Any], seconds: float = 30.0) -> None:
    """Wait for something to become true."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.01)


@pytest.fixture(scope="session", autouse=True)
def quiet() -> None:
    """No logs; those of a server of its own process are read in test_serve."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@pytest.fixture(scope="session")
def client(quiet: None) -> Iterator[httpx.Client]:
    """A client of the shared server."""
    with serving(Settings(workers=1, spare_workers=0, port=0, deadline_seconds=10.0, store_path=":memory:")) as served:
        yield served


@pytest.fixture
def metric(client: httpx.Client) -> Callable[[str], float]:
    """The value of a sample at /metrics, 0 if it is not there."""

    def read(sample: str) -> float:
        return sample_of(client, sample)

    return read


def sample_of(client: httpx.Client, sample: str) -> float:
    """The value of a sample at /metrics, 0 if it is not there."""
    lines = (line.rpartition(" ") for line in client.get("/metrics").text.splitlines())
    return next((float(value) for name, _, value in lines if name == sample), 0.0)


def problem(response: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """The problem that a response is, with all that every problem has in common checked."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["x-content-type-options"] == "nosniff"
    body: dict[str, Any] = response.json()
    assert body["type"] == f"/problems/{slug}"
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert "Traceback" not in response.text
    return body

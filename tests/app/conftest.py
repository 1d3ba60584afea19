"""A real server over the toys, on a free port of the loopback; the tests of a file share one."""

from __future__ import annotations

import logging
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from fastapi import FastAPI

from epsilond.accountants.json_types import JsonRecord
from epsilond.app import serve
from epsilond.app.document import document
from epsilond.app.main import create_app
from epsilond.app.settings import Settings
from epsilond.app.workers.pool import POOL
from tests.app import toy_simulations, toys
from tests.app.imported import forked_server
from tests.app.postgresql import postgresql_server, postgresql_url  # noqa: F401 (fixtures)

SERVERS: dict[str, serve.Server] = {}
"""Those that run, by the address of their clients."""
PATIENCE = 600.0
"""Seconds after which a test may say that something hangs: far more than anything here takes on the slowest machine."""
PATIENT = Settings(
    workers=1,
    spare_workers=0,
    port=0,
    store_path=":memory:",
    ledgers_in_memory=True,
    deadline_seconds=PATIENCE,
    job_wait_seconds=PATIENCE,
)
"""Of a server that is slow only where the machine is."""
STARTS = 3
"""How often a shared server may try to start."""
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.1
"""Seconds between two looks at what a test waits for: the pause grows, since looking takes CPU time from what is awaited."""
CONTRACTS: list[JsonRecord] = []
"""The OpenAPI document of the toys, once one of their applications has made it; it depends on no setting."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is expensive to collect is collected only where slow tests are to run."""
    left_out = collection_path.name == "test_contract_at_length.py" and "not slow" in config.option.markexpr
    return True if left_out else None


def application(settings: Settings) -> FastAPI:
    """The toys, served."""
    app = create_app(
        calibrators=toys.CALIBRATORS,
        theorems=toys.THEOREMS,
        theorem_home="tests.app.toys",
        settings=settings,
        kinds=toy_simulations.KINDS,
        figures="tests.app.toy_simulations",
    )
    if not CONTRACTS:
        CONTRACTS.append(document(app))
    app.openapi_schema = CONTRACTS[0]
    return app


@contextmanager
def serving(settings: Settings, app: FastAPI | None = None, *, reconciled: bool = True) -> Iterator[httpx.Client]:
    """A client of a server of its own, ready to compute: of the toys, unless another application is given.

    Where the log of its ledgers is not `reconciled`, it answers but does not say that it is ready.
    """
    app = app or application(settings)
    server, pool = serve.server(app, settings), POOL.within(app)
    pool.forked = forked_server(pool._modules)
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    try:
        wait_until(lambda: server.started, while_true=thread.is_alive)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
            SERVERS[str(client.base_url)] = server
            probed = "/readyz" if reconciled else "/healthz"
            wait_until(lambda: client.get(probed).status_code == 200, while_true=thread.is_alive)
            yield client
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
    assert not thread.is_alive()


def connected(client: httpx.Client, raw: socket.socket) -> bool:
    """Whether the client's server holds this connection."""
    held = list(SERVERS[str(client.base_url)].server_state.connections)
    return raw.getsockname() in [protocol.client for protocol in held]


def ready(process: subprocess.Popen[str], url: str) -> None:
    """Wait until a service in a process of its own is ready to compute, or has ended."""

    def answers() -> bool:
        try:
            return probe.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    with httpx.Client(base_url=url, timeout=PATIENCE) as probe:
        wait_until(answers, while_true=lambda: process.poll() is None)


def wait_until(true: Callable[[], Any], while_true: Callable[[], bool] = lambda: True) -> None:
    """Wait for something to become true, as long as it can: while what makes it true is there."""
    until, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
    while not true():
        assert while_true(), "what would make it true has ended"
        assert time.monotonic() < until, "it never came true"
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE)


@pytest.fixture(scope="session", autouse=True)
def quiet() -> None:
    """No logs; those of a server of its own process are read in test_serve."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


@pytest.fixture(scope="module")
def client(quiet: None) -> Iterator[httpx.Client]:
    """A client of the file's server; one that fails to start is tried again, and takes no other file's tests along."""
    with ExitStack() as stack:
        yield started(stack)


def started(stack: ExitStack) -> httpx.Client:
    """The client of a server that runs until the stack is closed."""
    for _ in range(STARTS - 1):
        try:
            return stack.enter_context(serving(PATIENT))
        except (AssertionError, httpx.TransportError):
            continue
    return stack.enter_context(serving(PATIENT))


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

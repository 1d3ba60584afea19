"""Connections that are slow on purpose, too many, or speak no HTTP."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from epsilond.app.settings import Settings
from tests.app.conftest import PATIENCE, connected, problem, sample_of, serving, wait_until

SECONDS = 1.0


@pytest.fixture(scope="module")
def tight(quiet: None) -> Iterator[httpx.Client]:
    chosen = Settings(
        workers=1,
        spare_workers=0,
        port=0,
        store_path=":memory:",
        event_streams=1,
        head_bytes=2000,
        head_seconds=SECONDS,
        reader_seconds=SECONDS,
        hsts_seconds=3600,
    )
    with serving(chosen) as served:
        yield served


@pytest.fixture(scope="module")
def narrow(quiet: None) -> Iterator[httpx.Client]:
    """Few connections, which may be slow."""
    chosen = Settings(workers=1, spare_workers=0, port=0, store_path=":memory:", connections=4, head_seconds=PATIENCE)
    with serving(chosen) as served:
        yield served


def opened(client: httpx.Client) -> socket.socket:
    raw = socket.create_connection((client.base_url.host, client.base_url.port or 80))
    raw.settimeout(PATIENCE)
    return raw


def until_closed(raw: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    found = b""
    while part := raw.recv(65536):
        found += part
    return found


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_head_that_does_not_come_is_not_awaited(tight: httpx.Client, sent: bytes) -> None:
    with opened(tight) as raw:
        raw.sendall(sent)
        assert until_closed(raw) == b""


def test_the_second_head_of_a_connection_neither(tight: httpx.Client) -> None:
    with opened(tight) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while not answer.endswith(b"ok\n"):
            answer += raw.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200")
        raw.sendall(b"GET /heal")
        assert until_closed(raw) == b""


def test_what_is_no_http_is_a_problem(tight: httpx.Client) -> None:
    for sent in (b"hello\r\n\r\n", b"GET / HTTP/1.1\r\nHost: x\r\nX: " + 3000 * b"y"):
        with opened(tight) as raw:
            raw.sendall(sent)
            head, _, body = until_closed(raw).partition(b"\r\n\r\n")
        answer = httpx.Response(
            int(head.split(b" ")[1]),
            headers=[tuple(line.split(b": ", 1)) for line in head.split(b"\r\n")[1:]],  # type: ignore[misc]
            content=body,
        )
        problem(answer, 400, "bad-request")
        assert answer.headers["connection"] == "close"


def test_one_connection_too_many(narrow: httpx.Client) -> None:
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(opened(narrow))
        with httpx.Client(base_url=narrow.base_url, timeout=PATIENCE) as one_more:
            refused = one_more.get("/v1/algorithms")
            problem(refused, 503, "unavailable")
            assert int(refused.headers["retry-after"]) > 0
            assert refused.headers["connection"] == "close"
            assert one_more.get("/healthz").status_code == 200
    wait_until(lambda: narrow.get("/v1/algorithms").status_code == 200)


def test_a_client_that_takes_nothing_is_cut(tight: httpx.Client) -> None:
    """What it asked for is more than the kernel holds. Had it not been cut, all of it would come in the end."""
    asked, size = 30, len(tight.get("/docs/swagger-ui-bundle.js").content)
    with opened(tight) as raw:
        raw.sendall(asked * b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n")
        came = len(raw.recv(1))
        wait_until(lambda: not connected(tight, raw))
        try:
            while part := raw.recv(1_048_576):
                came += len(part)
        except ConnectionResetError:
            pass
        assert 0 < came < asked * size


def test_event_streams_are_counted(tight: httpx.Client) -> None:
    body = {"kind": "dice", "blocks": 1, "seconds": 60.0}
    where = tight.post("/v1/simulations", json=body).headers["location"]
    with tight.stream("GET", f"{where}/events") as first:
        assert first.status_code == 200
        lines = first.iter_lines()  # held: when it is let go, the stream is closed
        assert next(lines)
        assert sample_of(tight, "epsilond_event_streams") == 1
        refused = tight.get(f"{where}/events")
        problem(refused, 429, "too-many-requests")
        assert int(refused.headers["retry-after"]) > 0
    wait_until(lambda: sample_of(tight, "epsilond_event_streams") == 0)
    assert tight.delete(where).json()["status"] == "cancelled"


def test_strict_transport_only_where_it_is_set(tight: httpx.Client, client: httpx.Client) -> None:
    assert tight.get("/healthz").headers["strict-transport-security"] == "max-age=3600"
    assert "strict-transport-security" not in client.get("/healthz").headers

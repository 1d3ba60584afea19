"""Connections that are slow on purpose, too many, or speak no HTTP."""

from __future__ import annotations

import json
import re
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import httpx
import pytest

from epsilond.app.settings import Settings
from tests.app.conftest import PATIENCE, connected, problem, sample_of, serving, wait_until
from tests.app.toys import TOY

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
        body_seconds=SECONDS,
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


def answer_of(raw: socket.socket) -> httpx.Response:
    """The one answer that comes until the other side closes."""
    head, _, body = until_closed(raw).partition(b"\r\n\r\n")
    headers = [tuple(line.split(b": ", 1)) for line in head.split(b"\r\n")[1:]]
    return httpx.Response(int(head.split(b" ")[1]), headers=headers, content=body)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "segments",
    [
        [b"hello\r\n\r\n"],
        [b"GET / HTTP/1.1\r\nHost: x\r\nX: " + 3000 * b"y"],
        [b"GET / HTTP/1.1\r\nHost: x\r\nX: " + 3000 * b"y" + b"\r\n\r\n"],
        [b"GET /" + 3000 * b"y" + b" HTTP/1.1\r\nHost: x\r\n\r\n"],
        [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nX: " + 3000 * b"y" + b"\r\n\r\n", b"body"],
        [b"GET / HTTP/1.1\r\nHost: x\r\n" + 300 * b"X: yyyy\r\n" + b"\r\n"],
        [b"GET / HTTP/1.1\r\nHost: x\r\nX: "] + 40_000 // 500 * [500 * b"y"],
        [b"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"no size\r\n"],
        [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
    ],
)
def test_what_is_no_http_is_a_problem(tight: httpx.Client, segments: list[bytes]) -> None:
    with opened(tight) as raw:
        for segment in segments:
            with suppress(OSError):  # it may be refused before all of it is sent
                raw.sendall(segment)
        answer = answer_of(raw)
    problem(answer, 400, "bad-request")
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("pieces", [1, 3])
def test_a_request_that_asks_for_another_protocol_is_answered_in_this_one(tight: httpx.Client, pieces: int) -> None:
    body = json.dumps(dict(TOY.example)).encode()
    asked = (
        b"POST /v1/calibrations/toy HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    with opened(tight) as raw:
        for place in range(pieces):
            raw.sendall(asked[place * len(asked) // pieces : (place + 1) * len(asked) // pieces])
        answer = b""
        while b"\r\n\r\n" not in answer or not answer.endswith(b"}"):
            answer += raw.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200")
        assert b'"parameters"' in answer
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert until_closed(raw).endswith(b"ok\n")


def test_a_method_that_nobody_knows_is_refused_as_any_other(tight: httpx.Client) -> None:
    problem(tight.request("FROBNICATE", "/v1/algorithms"), 405, "method-not-allowed")


@pytest.mark.parametrize("field", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_slow_body_that_goes_on_gets_its_answer(tight: httpx.Client, field: str) -> None:
    """Bytes come before and after its time is up; what was answered arrives nevertheless."""
    asked = f"POST /v1/calibrations/toy HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{field}\r\n\r\n"
    piece = b" " if "Length" in field else b"1\r\n \r\n"
    with opened(tight) as raw:
        raw.sendall(asked.encode())
        ready: list[object] = []
        while not ready:
            raw.sendall(piece)
            ready = select.select([raw], [], [], 0.05)[0]
        for _ in range(10):
            raw.sendall(piece)  # neither refused nor reset
        answer = answer_of(raw)
    problem(answer, 408, "body-timeout")
    assert answer.headers["connection"] == "close"


def test_the_rest_of_a_body_is_not_awaited_for_ever(tight: httpx.Client) -> None:
    """The answer does not need it: nothing is there."""
    with opened(tight) as raw:
        raw.sendall(b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        assert raw.recv(65536).startswith(b"HTTP/1.1 404")
        wait_until(lambda: not connected(tight, raw))


def test_requests_that_come_at_once_are_answered_in_order(tight: httpx.Client) -> None:
    paths = ["healthz", "v1/algorithms", "nothing", "healthz"]
    with opened(tight) as raw:
        raw.sendall("".join(f"GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths[:-1]).encode())
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        came = until_closed(raw)
    assert re.findall(rb"HTTP/1.1 (\d+) ", came) == [b"200", b"200", b"404", b"200"]


def test_who_leaves_with_requests_waiting_leaves_nothing_behind(tight: httpx.Client) -> None:
    body = {"kind": "dice", "blocks": 1, "seconds": 60.0}
    where = tight.post("/v1/simulations", json=body).headers["location"]
    with opened(tight) as raw:
        raw.sendall(f"GET {where}/events HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert raw.recv(1)
    wait_until(lambda: sample_of(tight, "epsilond_event_streams") == 0)
    assert tight.delete(where).json()["state"] == "cancelled"


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
    assert tight.delete(where).json()["state"] == "cancelled"


def test_strict_transport_only_where_it_is_set(tight: httpx.Client, client: httpx.Client) -> None:
    assert tight.get("/healthz").headers["strict-transport-security"] == "max-age=3600"
    assert "strict-transport-security" not in client.get("/healthz").headers

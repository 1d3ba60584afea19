"""The proxy, by a real nginx where one is installed: what it asks again, and what it says where nobody answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.deploy.proxy import NGINX, PATIENCE, free_port, nginx

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed: deploy/nginx.conf is not tried")


class Replica(BaseHTTPRequestHandler):
    """Answers with what it was asked, or refuses."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Say which it is, and who asks."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(self.command)  # type: ignore[attr-defined]
        status = 503 if self.server.stopping else 200  # type: ignore[attr-defined]
        body = self.headers["X-Forwarded-For"].encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 503:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 (so it is called)

    def log_message(self, *_: object) -> None:
        """In silence."""


@contextmanager
def replica(*, stopping: bool = False) -> Iterator[ThreadingHTTPServer]:
    """One that runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Replica)
    server.asked, server.stopping = [], stopping  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def proxy(folder: Path, first: int, second: int) -> Iterator[httpx.Client]:
    """A client of the proxy before these two ports."""
    with (
        nginx(folder, (first, second)) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client,
    ):
        yield client


def test_who_asks_is_told_by_the_proxy_alone(tmp_path: Path) -> None:
    with replica() as one, replica() as other, proxy(tmp_path, one.server_port, other.server_port) as client:
        told = client.get("/v1/theorems", headers={"X-Forwarded-For": "10.1.2.3"})
        assert told.text == "127.0.0.1"
        assert client.get("/metrics").status_code == 404


def test_a_question_is_asked_of_the_other_where_one_stops_or_is_gone(tmp_path: Path) -> None:
    with (
        replica(stopping=True) as one,
        replica() as other,
        proxy(tmp_path, one.server_port, other.server_port) as client,
    ):
        assert [client.get("/v1/jobs/a").status_code for _ in range(4)] == [200] * 4
        assert one.asked  # type: ignore[attr-defined]
    with replica() as other, proxy(tmp_path, free_port(), other.server_port) as client:
        assert [client.get("/v1/jobs/a").status_code for _ in range(4)] == [200] * 4
        assert (
            client.post(
                "/v1/plans",
                json={
                    "relation": "replace-one",
                    "unit": "record",
                    "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
                },
            ).status_code
            == 200
        )  # nothing had been sent to the one that is gone


def test_what_was_posted_is_sent_once_and_its_refusal_passed_on(tmp_path: Path) -> None:
    with (
        replica(stopping=True) as one,
        replica(stopping=True) as other,
        proxy(tmp_path, one.server_port, other.server_port) as client,
    ):
        refused = client.post(
            "/v1/plans",
            json={
                "relation": "replace-one",
                "unit": "record",
                "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
            },
        )
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert len(one.asked) + len(other.asked) == 1  # type: ignore[attr-defined]


def test_where_no_replica_answers_the_proxy_says_so(tmp_path: Path) -> None:
    with proxy(tmp_path, free_port(), free_port()) as client:
        for response in (
            client.get("/v1/jobs/a"),
            client.post(
                "/v1/plans",
                json={
                    "relation": "replace-one",
                    "unit": "record",
                    "observers": ["server", "shuffled-server", "released-models", "final-model", "other-clients"],
                },
            ),
        ):
            assert response.status_code == 503
            assert int(response.headers["retry-after"]) > 0
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json()["type"] == "/problems/unavailable"

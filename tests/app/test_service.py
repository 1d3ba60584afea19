"""Probes, headers, ids, documents, and the server's own life in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.app.conftest import PATIENCE, ready, wait_until
from tests.app.processes import descendants

ROOT = Path(__file__).parents[2]
SERVE = """
from epsilond.app.serve import serve
from tests.app import toys

if __name__ == "__main__":
    serve("127.0.0.1", {port}, calibrators=toys.CALIBRATORS, theorems=toys.THEOREMS, theorem_home="tests.app.toys")
"""


def test_probes(client: httpx.Client) -> None:
    assert client.get("/healthz").text == "ok\n"
    assert client.get("/readyz").text == "ready\n"
    metrics = client.get("/metrics")
    assert metrics.headers["content-type"].startswith("text/plain; version=")
    assert "process_resident_memory_bytes" in metrics.text


@pytest.mark.parametrize("path", ["/healthz", "/v1/theorems", "/docs", "/31337"])
def test_head_is_get_without_a_body(client: httpx.Client, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert head.status_code == get.status_code
    assert head.content == b""
    assert head.headers["content-length"] == str(len(get.content))


@pytest.mark.parametrize("path", ["/healthz", "/v1/algorithms", "/31337", "/docs", "/problems"])
def test_security_headers(client: httpx.Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["cache-control"]
    assert "server" not in headers


def test_answers_are_not_stored(client: httpx.Client) -> None:
    answer = client.post("/v1/calibrations/toy", json={"epsilon": 1, "clients": 1})
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(("given", "kept"), [("a-1.B_2", True), ("a b", False), ("x" * 65, False), ('"}\u00e9', False)])
def test_request_ids(client: httpx.Client, given: str, kept: bool) -> None:
    answered = client.get("/healthz", headers={"x-request-id": given.encode("latin-1")}).headers["x-request-id"]
    assert (answered == given) is kept
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", answered)


def test_the_page_asks_no_other_host(client: httpx.Client) -> None:
    page = client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert not re.search(r"(src|href|url)\s*[=:]\s*[\"'](https?:)?//", page.text)
    for asset in re.findall(r"docs/[a-z0-9.-]+", page.text):
        response = client.get(f"/{asset}")
        assert response.status_code == 200
        assert len(response.content) > 100
    assert client.get("/openapi.json").json()["openapi"].startswith("3.1")


@pytest.fixture
def server() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The service as `serve` starts it, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {
        **os.environ,
        "EPSILOND_WORKERS": "1",
        "EPSILOND_SPARE_WORKERS": "0",
        "EPSILOND_STORE_PATH": ":memory:",
        "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
    }
    script = ["-c", SERVE.format(port=port)]
    process = subprocess.Popen([sys.executable, *script], env=environ, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    url = f"http://127.0.0.1:{port}"
    try:
        ready(process, url)
        yield process, url
    finally:
        process.kill()
        process.communicate()


def test_sigterm_drains_and_the_logs_tell_no_values(server: tuple[subprocess.Popen[str], str], tmp_path: Path) -> None:
    process, url = server
    diary = tmp_path / "diary"
    headers = {"x-request-id": "drained"}
    answers: list[httpx.Response] = []

    def ask() -> None:
        body = {"seconds": 1.0, "diary": str(diary)}
        answers.append(httpx.post(f"{url}/v1/calibrations/busy", json=body, headers=headers, timeout=PATIENCE))

    with httpx.Client(base_url=url, timeout=PATIENCE) as client:
        client.get("/v1/theorems?paper=secret-31337")
        client.post("/v1/calibrations/toy", json={"epsilon": 1, "clients": 1, "secret-31337": 1})
        client.post("/v1/calibrations/toy", json={"epsilon": 500, "clients": 1})
    asking = threading.Thread(target=ask)
    asking.start()
    wait_until(diary.exists)
    children = descendants(process.pid)
    assert len(children) > 1  # the forkserver and its workers
    # As a supervisor does that signals the whole group.
    for pid in (process.pid, *children):
        os.kill(pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=PATIENCE)
    asking.join()
    assert answers[0].status_code == 200
    assert process.returncode in (0, -signal.SIGTERM)
    wait_until(lambda: not any(Path(f"/proc/{child}").exists() for child in children))

    lines = [json.loads(line) for line in output.splitlines()]
    assert "secret-31337" not in output
    requests = [line for line in lines if line["event"] == "request"]
    last = next(line for line in requests if line["id"] == "drained")
    assert last.keys() == {
        "event", "level", "timestamp", "id", "method", "path", "status", "algorithm", "cache", "milliseconds",
        "caller", "cpu_milliseconds", "queued_milliseconds",
    }  # fmt: skip
    assert last["caller"] == "127.0.0.1"
    refused = next(line for line in requests if line["status"] == 422)
    assert refused["problem"] == "invalid-input"
    assert last["path"] == "/v1/calibrations/{name}"
    assert (last["status"], last["algorithm"], last["cache"]) == (200, "busy", "miss")
    unexpected = next(line for line in lines if line["event"] == "unexpected")
    assert "secret-of-the-mathematics" in unexpected["exception"]
    assert unexpected["id"] in {line["id"] for line in requests}
    assert any("Shutting down" in line["event"] for line in lines)

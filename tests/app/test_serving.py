"""The server's own: whom it believes, how late its loop is, and what it says of a port that is not to be had."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from epsilond.app import serve
from epsilond.app.http.lag import LoopLag
from epsilond.app.metrics import Metrics
from epsilond.app.settings import Settings
from epsilond.commands.exits import BAD_INPUT
from tests.app.conftest import PATIENCE, application, sample_of, serving, wait_until

ROOT = Path(__file__).parents[2]
FORWARDED = {"x-forwarded-for": "203.0.113.7, 198.51.100.9", "x-forwarded-proto": "https"}


async def seen(request: Request) -> Response:
    """Who asks, as the service sees it."""
    assert request.client is not None
    return JSONResponse([request.client.host, request.url.scheme])


@pytest.mark.parametrize(
    ("trusted", "expected"),
    [
        ("", ["127.0.0.1", "http"]),
        ("10.0.0.0/8", ["127.0.0.1", "http"]),
        ("127.0.0.1", ["198.51.100.9", "https"]),
        ("127.0.0.0/8, 198.51.100.0/24", ["203.0.113.7", "https"]),
    ],
)
def test_only_trusted_proxies_say_who_asks(trusted: str, expected: list[str]) -> None:
    chosen = Settings(workers=1, spare_workers=0, port=0, store_path=":memory:", trusted_proxies=trusted)
    app = application(chosen)
    app.add_route("/seen", seen)
    with serving(chosen, app) as client:
        assert client.get("/seen", headers=FORWARDED).json() == expected
        assert client.get("/seen").json() == ["127.0.0.1", "http"]


@pytest.mark.parametrize("what", ["file", "others", "below a file"])
def test_a_folder_of_keys_that_cannot_be_used_is_told_before_anything_listens(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    if what == "others":
        folder.mkdir()
        (folder / "keys.json").write_text("{}", encoding="utf-8")
    else:
        folder.touch()
    named = str(folder / "below") if what == "below a file" else str(folder)
    environ = {**os.environ, "EPSILOND_STORE_PATH": str(tmp_path / "jobs.sqlite"), "EPSILOND_LEDGER_KEYS": named}
    command = [sys.executable, "-m", "epsilond", "serve", "--port", "0"]
    done = subprocess.run(command, cwd=ROOT, env=environ, timeout=PATIENCE, capture_output=True, text=True, check=False)
    assert done.returncode == BAD_INPUT
    assert done.stderr.startswith("error: EPSILOND_LEDGER_KEYS: the ")
    assert "Traceback" not in done.stdout + done.stderr
    assert "listening" not in done.stdout


def test_a_port_that_is_taken_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"^EPSILOND_PORT: port {port} of 127.0.0.1 is taken$"):
            serve.open_listeners("127.0.0.1", port)
        environ = {**os.environ, "EPSILOND_STORE_PATH": ":memory:"}
        command = [sys.executable, "-m", "epsilond", "serve", "--port", str(port)]
        ended = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"error: EPSILOND_PORT: port {port} of 127.0.0.1 is taken\n"


def test_an_address_that_is_another_machine() -> None:
    with pytest.raises(ValueError, match=r"^EPSILOND_HOST: .*203\.0\.113\.9"):
        serve.open_listeners("203.0.113.9", 0)


def test_a_name_with_two_addresses_is_listened_at_on_both() -> None:
    sockets = serve.open_listeners("", 0)
    try:
        families = {one.family for one in sockets}
        assert socket.AF_INET in families
        assert len(families) == len(sockets)
    finally:
        for one in sockets:
            one.close()


def test_what_stands_at_the_start_is_no_garbage() -> None:
    before = gc.get_freeze_count()
    chosen = Settings(workers=1, spare_workers=0, port=0, store_path=":memory:")
    (bound,) = serve.open_listeners("127.0.0.1", 0)
    server = serve.server(application(chosen), chosen)
    server.is_only_server = True
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        wait_until(lambda: server.started and gc.get_freeze_count() > before, while_true=thread.is_alive)
        assert httpx.get(f"http://127.0.0.1:{bound.getsockname()[1]}/healthz", timeout=PATIENCE).text == "ok\n"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        gc.unfreeze()


def test_the_lag_of_the_loop_is_seen(client: httpx.Client) -> None:
    wait_until(lambda: sample_of(client, "epsilond_event_loop_lag_seconds_count") >= 3)
    assert sample_of(client, "epsilond_event_loop_lag_p99_seconds") >= 0.0


def test_the_lag_that_is_told_is_nearly_the_worst() -> None:
    lag = LoopLag(Metrics())
    assert lag.p99 == 0.0
    for place in range(600):
        lag.record(1.0 if place % 150 == 0 else 0.001)
    assert lag.p99 == 0.001
    for _ in range(7):
        lag.record(2.0)
    assert lag.p99 == 2.0

"""What a restart leaves: every finished result, nothing running, no process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

from epsilond.app.jobs.store import Store
from epsilond.app.serve import serve
from epsilond.app.settings import Settings
from tests.app.conftest import PATIENCE, PATIENT, ready, serving, wait_until
from tests.app.test_service import ROOT
from tests.app.test_simulations import LONG, PATH, WAIT, events, gone, process_of, running
from tests.app.toy_simulations import KINDS

SERVE = """
from epsilond.app.serve import serve
from tests.app import toy_simulations, toys

if __name__ == "__main__":
    serve("127.0.0.1", {port}, calibrators=toys.CALIBRATORS, theorems=toys.THEOREMS, theorem_home="tests.app.toys",
        kinds=toy_simulations.KINDS, figures="tests.app.toy_simulations")
"""


@dataclass
class Served:
    """A service in a process of its own."""

    process: subprocess.Popen[str]
    client: httpx.Client

    def children(self) -> list[int]:
        """Its workers, whichever thread started them."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(child) for task in tasks for child in task.read_text().split()]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of services that follow one another over one file."""
    return PATIENT.model_copy(update={"store_path": str(tmp_path / "jobs.sqlite")})


@pytest.fixture
def apart(settings: Settings) -> Iterator[Served]:
    """The service as `serve` starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environ = {
        **os.environ,
        "EPSILOND_WORKERS": "1",
        "EPSILOND_SPARE_WORKERS": "0",
        "EPSILOND_STORE_PATH": settings.store_path,
        "EPSILOND_LOG_LEVEL": "error",
        "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
    }
    process = subprocess.Popen([sys.executable, "-c", SERVE.format(port=port)], env=environ, cwd=ROOT, text=True)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
        try:
            ready(process, str(client.base_url))
            yield Served(process, client)
        finally:
            process.kill()
            process.wait()


def require_kept(client: httpx.Client, done: dict[str, Any], *left: str) -> None:
    """Fail unless what was done is as it was, and what was left is interrupted."""
    key = {"idempotency-key": "k"}
    assert client.get(done["links"]["self"]).json() == done
    assert client.post(PATH, json={"kind": "dice", "seed": 3}, headers=key).json() == done
    for each in left:
        document = client.get(each).json()
        assert document["status"] == "interrupted"
        assert document["problem"]["type"] == "/problems/interrupted"
        assert [event for event, _, _ in events(client.get(f"{each}/events"))] == ["interrupted"]
    statuses = [each["status"] for each in client.get(PATH).json()["simulations"]]
    assert statuses == [*["interrupted"] * len(left), "done"]


def begun(client: httpx.Client, diary: Path) -> tuple[dict[str, Any], str, str]:
    """One simulation that is done, one that runs and one that waits."""
    done = client.post(PATH, json={"kind": "dice", "seed": 3}, headers=WAIT | {"idempotency-key": "k"}).json()
    assert done["status"] == "done"
    spinning = running(client, LONG, diary)
    return done, spinning, client.post(PATH, json={"kind": "coin", "seed": 4}).headers["location"]


def followed(url: str, begun: Event) -> list[str]:
    """The kinds of events told until the stream ends, each once in a row; `begun` is set once the first can come."""
    with httpx.stream("GET", url, timeout=PATIENCE) as response:
        begun.set()
        response.read()
        return [kind for kind, _ in groupby(kind for kind, _, _ in events(response))]


def test_a_stop_interrupts_and_loses_no_result(settings: Settings, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool, serving(settings) as client:
        done, spinning, queued = begun(client, tmp_path / "diary")
        url = str(client.base_url)
        listening = Event()
        following = pool.submit(followed, f"{url}{spinning}/events", listening)
        body, headers = {"kind": "coin", "seed": 5}, {"prefer": "wait=600"}
        waiting = pool.submit(httpx.post, f"{url}{PATH}", json=body, headers=headers, timeout=2 * PATIENCE)
        wait_until(lambda: len(client.get(PATH, params={"status": "queued"}).json()["simulations"]) == 2)
        assert listening.wait(PATIENCE)
    assert gone(process_of(tmp_path / "diary"))
    assert following.result() == ["progress", "interrupted"]
    assert (waiting.result().status_code, waiting.result().json()["status"]) == (200, "interrupted")
    with serving(settings) as client:
        require_kept(client, done, spinning, queued, waiting.result().json()["links"]["self"])


def test_the_advice_after_an_interruption_can_be_followed(settings: Settings, tmp_path: Path) -> None:
    key, body = {"idempotency-key": "again"}, LONG | {"diary": str(tmp_path / "diary")}
    with serving(settings) as client:
        interrupted = client.post(PATH, json=body, headers=key).headers["location"]
    with serving(settings) as client:
        assert client.get(interrupted).json()["status"] == "interrupted"
        assert client.post(PATH, json=LONG | {"seed": 1}, headers=key).status_code == 422
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: client.post(PATH, json=body, headers=key), range(4)))
        assert {answer.status_code for answer in answers} == {202}
        (anew,) = {answer.headers["location"] for answer in answers}
        assert anew != interrupted
        assert client.get(interrupted).json()["status"] == "interrupted"
        assert client.delete(anew).json()["status"] == "cancelled"


def test_a_kill_loses_no_result_and_leaves_no_process(apart: Served, settings: Settings, tmp_path: Path) -> None:
    done, spinning, queued = begun(apart.client, tmp_path / "diary")
    children = apart.children()
    assert process_of(tmp_path / "diary") in children
    apart.process.kill()
    apart.process.wait()
    wait_until(lambda: all(map(gone, children)))
    with serving(settings) as client:
        require_kept(client, done, spinning, queued)


def test_a_file_that_is_taken_is_told_at_start(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilond.app.logs.configure", lambda _: None)
    taken = Store.open(settings)
    with pytest.raises(ValueError, match="EPSILOND_STORE_PATH: another service keeps its simulations in"):
        serve(settings=settings, kinds=KINDS)
    taken.close()

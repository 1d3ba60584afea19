"""What a restart leaves: every finished result, nothing running, no process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.app.conftest import wait_until
from tests.app.test_service import ROOT
from tests.app.test_simulations import LONG, PATH, WAIT, events, gone, process_of, running

SERVE = """
from app.serve import serve
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

    def end(self, name: signal.Signals) -> list[int]:
        """Send it a signal and wait for its end; answers the workers it had."""
        children = self.children()
        self.process.send_signal(name)
        self.process.wait(timeout=20)
        self.client.close()
        return children


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Served]]:
    """Starts a service over one store, again and again."""
    made: list[Served] = []

    def started() -> Served:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environ = {
            **os.environ,
            "EPSILOND_WORKERS": "1",
            "EPSILOND_SPARE_WORKERS": "0",
            "EPSILOND_STORE_PATH": str(tmp_path / "jobs.sqlite"),
            "EPSILOND_LOG_LEVEL": "error",
            "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}",
        }
        script = SERVE.format(port=port)
        process = subprocess.Popen([sys.executable, "-c", script], env=environ, cwd=ROOT, text=True)
        served = Served(process, httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30.0))
        made.append(served)

        def ready() -> bool:
            try:
                return served.client.get("/readyz").status_code == 200
            except httpx.TransportError:
                return False

        wait_until(ready)
        return served

    yield started
    for served in made:
        served.process.kill()
        served.process.wait()
        served.client.close()


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGKILL])
def test_a_restart_loses_no_result_and_leaves_no_process(
    start: Callable[[], Served], name: signal.Signals, tmp_path: Path
) -> None:
    first = start()
    key = {"idempotency-key": "k"}
    done = first.client.post(PATH, json={"kind": "dice", "seed": 3}, headers=WAIT | key).json()
    assert done["status"] == "done"
    spinning = running(first.client, LONG, tmp_path / "diary")
    queued = first.client.post(PATH, json={"kind": "coin", "seed": 4}).headers["location"]
    worker = process_of(tmp_path / "diary")
    children = first.end(name)
    assert worker in children
    wait_until(lambda: all(map(gone, children)), seconds=10.0)

    second = start()
    assert second.client.get(done["links"]["self"]).json() == done
    assert second.client.post(PATH, json={"kind": "dice", "seed": 3}, headers=key).json() == done
    for left in (spinning, queued):
        document = second.client.get(left).json()
        assert document["status"] == "interrupted"
        assert document["problem"]["type"] == "/problems/interrupted"
        assert [event for event, _, _ in events(second.client.get(f"{left}/events"))] == ["interrupted"]
    statuses = [each["status"] for each in second.client.get(PATH).json()["simulations"]]
    assert statuses == ["interrupted", "interrupted", "done"]
    wait_until(lambda: all(map(gone, second.end(signal.SIGTERM))))


def test_those_who_wait_are_told_when_the_service_stops(start: Callable[[], Served], tmp_path: Path) -> None:
    served = start()
    location = running(served.client, LONG, tmp_path / "diary")
    with served.client.stream("GET", f"{location}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        served.process.send_signal(signal.SIGTERM)
        assert [line for line in lines if line.startswith("event")] == ["event: interrupted"]
    served.process.wait(timeout=20)
    wait_until(lambda: gone(process_of(tmp_path / "diary")))


def test_a_store_that_is_taken_is_told_at_start(start: Callable[[], Served], tmp_path: Path) -> None:
    start()
    environ = {**os.environ, "EPSILOND_STORE_PATH": str(tmp_path / "jobs.sqlite"), "PYTHONPATH": str(ROOT)}
    second = subprocess.run(
        [sys.executable, "-c", SERVE.format(port=0)], env=environ, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    assert "EPSILOND_STORE_PATH: another service keeps its simulations in" in second.stderr

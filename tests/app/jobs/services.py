"""The service in a process of its own, which can be stopped and killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from epsilond.app.workers.threads import ONE_THREAD
from tests.app.conftest import PATIENCE, ready
from tests.app.processes import descendants
from tests.app.test_service import ROOT

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
        """Its workers, and what starts them."""
        return descendants(self.process.pid)

    def kill(self) -> None:
        """As power failures do."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """As supervisors do; answers its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def apart(**settings: str | float) -> Iterator[Served]:
    """The service as the command `serve` starts it, with one worker and these EPSILOND_ settings."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chosen = {"workers": 1, "spare_workers": 0, "job_wait_seconds": PATIENCE, "log_level": "error"} | settings
    environ = {
        **os.environ,
        **ONE_THREAD,  # its workers are then forks of it
        **{f"EPSILOND_{name.upper()}": str(value) for name, value in chosen.items()},
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

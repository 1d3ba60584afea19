"""Services over one store that are started, killed and started again, and whoever kills them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import httpx

from tests.app.chaos.clients import Seen
from tests.app.processes import descendants, gone

ROOT = Path(__file__).parents[3]
READY_SECONDS = 600.0
END_SECONDS = 10.0
"""How long a process may outlive the service that started it."""
MEAN_SECONDS: Mapping[str, float] = {"worker": 3.0, "connection": 4.0, "replica": 15.0}
"""Mean time between two kills of a kind."""
SETTINGS: Mapping[str, str] = {
    "EPSILOND_WORKERS": "1",
    "EPSILOND_SPARE_WORKERS": "0",
    "EPSILOND_DEADLINE_SECONDS": "5",
    "EPSILOND_STORE_JOBS": "1000000",  # no job is removed before the last look at it
    "EPSILOND_CALLER_JOBS": "1000",
    "EPSILOND_CALLER_CPU_SECONDS_PER_MINUTE": "0",
    "EPSILOND_LOG_LEVEL": "error",
}


def serve_home(home: str) -> None:
    """Serve the simulations of a module, or the whole service for an empty name."""
    from epsilond.app.serve import serve

    if home:
        module = import_module(home)
        serve(kinds=module.KINDS, figures=home)
    else:
        serve()


@dataclass
class Replica:
    """One service, started again and again over one store."""

    home: str
    port: int
    settings: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    workers: set[int] = field(default_factory=set)
    """Every process that it ever started."""
    largest: float = 0.0
    """Largest resident memory of the service itself, in MB."""

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and do not wait for it."""
        environ = {**os.environ, **SETTINGS, **self.settings, "EPSILOND_PORT": str(self.port), "PYTHONPATH": str(ROOT)}
        program = f"from tests.app.chaos.replicas import serve_home; serve_home({self.home!r})"
        self.process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environ)

    def wait_until_ready(self) -> None:
        """Wait for its first answer.

        Raises:
            RuntimeError: it has ended, or does not answer.
        """
        assert self.process is not None
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz", timeout=90.0).status_code == 200:
                    return
            time.sleep(0.1)
        raise RuntimeError("a service did not get ready")

    def look(self) -> list[int]:
        """Return the processes that it has started; they and its memory are remembered."""
        assert self.process is not None
        found = descendants(self.process.pid)
        self.workers.update(found)
        with suppress(OSError):
            pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
            self.largest = max(self.largest, pages * os.sysconf("SC_PAGE_SIZE") / 1e6)
        return found

    def end(self, name: signal.Signals) -> int:
        """Send it a signal, wait for its end, and return how many of its processes are left."""
        assert self.process is not None
        self.look()
        self.process.send_signal(name)
        while self.process.poll() is None:
            self.look()
            time.sleep(0.01)
        until = time.monotonic() + END_SECONDS
        while (left := sum(not gone(worker) for worker in self.workers)) and time.monotonic() < until:
            time.sleep(0.05)
        return left


@contextmanager
def running(replicas: Sequence[Replica]) -> Iterator[None]:
    """Run the services, all ready, and end them."""
    try:
        for replica in replicas:
            replica.start()
        for replica in replicas:
            replica.wait_until_ready()
        yield
    finally:
        for replica in replicas:
            if replica.process is not None and replica.process.poll() is None:
                replica.end(signal.SIGTERM)


class Killer:
    """Kills workers, connections of the database and whole services at random times."""

    def __init__(self, seed: int, replicas: Sequence[Replica], seen: Seen, end_connection: Callable[[], int]) -> None:
        self.random = random.Random(seed)
        self.replicas, self.seen, self.end_connection = replicas, seen, end_connection
        self.due = {kind: self._next(kind) for kind in MEAN_SECONDS}

    def run(self, seconds: float) -> None:
        """Kill for so long."""
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            for replica in self.replicas:
                replica.look()
            for kind, due in self.due.items():
                if now > due:
                    {"worker": self._worker, "connection": self._connection, "replica": self._replica}[kind]()
                    self.due[kind] = self._next(kind)
            time.sleep(0.05)

    def _next(self, kind: str) -> float:
        return time.monotonic() + self.random.expovariate(1 / MEAN_SECONDS[kind])

    def _worker(self) -> None:
        with suppress(ProcessLookupError, IndexError):
            os.kill(self.random.choice(self.random.choice(self.replicas).look()), signal.SIGKILL)
            self.seen.counts["workers killed"] += 1

    def _connection(self) -> None:
        self.seen.counts["connections of the database ended"] += self.end_connection()

    def _replica(self) -> None:
        replica, name = self.random.choice(self.replicas), self.random.choice((signal.SIGTERM, signal.SIGKILL))
        left = replica.end(name)
        self.seen.counts["services ended"] += 1
        if left:
            self.seen.fault(f"{left} processes were left after {name.name}")
        replica.start()

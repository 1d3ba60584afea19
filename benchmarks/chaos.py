"""Minutes of mixed simulations with everything going wrong: python -m benchmarks.chaos --minutes 10.

A service runs over one store. Clients post simulations, wait for some, follow some, cancel some and remove some; all
the while workers are killed, and the service itself is stopped or killed and started again. It must hold that

- a result that was once seen is served for as long as it is not removed, byte by byte;
- equal requests have equal results, whatever was killed on the way;
- nothing stays unfinished, and no process is left, once the service is gone;
- memory stays bounded.

The figures are printed; the exit code is 1 if anything of this failed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx

from benchmarks.environments import ROOT

PATH = "/v1/simulations"
JOBS = "/v1/jobs"
SEEDS = 6
CLIENTS = 4
SECONDS_OF_CALM, SECONDS_OF_LIFE = 3.0, 15.0
"""Mean times between two kills of a worker, and between two ends of the service."""
SERVE = "import sys; from benchmarks.chaos import serve_home; serve_home(sys.argv[1])"
ENDED = ("done", "failed", "cancelled", "interrupted")


def serve_home(home: str) -> None:
    """The service over the kinds of simulation of a module, as the environment says."""
    from epsilond.app.serve import serve

    module = import_module(home)
    figures = home if hasattr(module, "draw") else "epsilond.witness.figures"
    serve(calibrators=(), theorems=(), kinds=module.KINDS, figures=figures)


def descendants_of(process: int) -> list[int]:
    """The processes that this one has started, with those that they have started: the forkserver and its workers."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants_of(child)]
    return found


def family(process: int) -> list[int]:
    """A process and all that it and its children have started."""
    return [process, *descendants_of(process)]


def alive(process: int) -> bool:
    """Whether a process runs: a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def megabytes_of(process: int) -> float:
    """Resident memory, 0 if it is gone."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return 0.0


@dataclass
class Service:
    """The service, started again and again over one store."""

    home: str
    store: str
    port: int
    process: subprocess.Popen[bytes] | None = None
    workers: set[int] = field(default_factory=set)
    """Every worker it ever had."""
    peaks: list[tuple[float, float]] = field(default_factory=list)
    """Of each life of the service: the largest resident memory of it, and of a worker."""

    def start(self) -> None:
        """Start it, and wait until it answers."""
        environ = {
            **os.environ,
            "EPSILOND_PORT": str(self.port),
            "EPSILOND_WORKERS": "1",
            "EPSILOND_SPARE_WORKERS": "0",
            "EPSILOND_JOB_QUEUE": "8",
            "EPSILOND_STORE_PATH": self.store,
            "EPSILOND_LOG_LEVEL": "error",
            "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        }
        self.process = subprocess.Popen([sys.executable, "-c", SERVE, self.home], cwd=ROOT, env=environ)
        self.peaks.append((0.0, 0.0))
        until = time.monotonic() + 120.0
        while time.monotonic() < until:
            with suppress(httpx.TransportError):
                if httpx.get(f"http://127.0.0.1:{self.port}/readyz").status_code == 200:
                    return
            if self.process.poll() is not None:
                raise RuntimeError("the service did not start")
            time.sleep(0.05)
        raise RuntimeError("the service did not get ready")

    def look(self) -> list[int]:
        """Its workers now; their memory and its own are remembered."""
        assert self.process is not None
        children = descendants_of(self.process.pid)
        self.workers.update(children)
        own, largest = self.peaks[-1]
        biggest = max((megabytes_of(child) for child in children), default=0.0)
        self.peaks[-1] = (max(own, megabytes_of(self.process.pid)), max(largest, biggest))
        return children

    def end(self, name: signal.Signals) -> int:
        """Send it a signal, wait for its end, and answer how many processes are left soon after."""
        assert self.process is not None
        self.look()
        self.process.send_signal(name)
        while self.process.poll() is None:
            self.look()
            time.sleep(0.01)
        until = time.monotonic() + 10.0
        while (left := sum(map(alive, self.workers))) and time.monotonic() < until:
            time.sleep(0.05)
        return left


@dataclass
class Ledger:
    """What clients have seen."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    results: dict[str, str] = field(default_factory=dict)
    """Of each simulation that was seen done and not removed: the digest of its result."""
    by_request: dict[str, str] = field(default_factory=dict)
    """Of each request: the digest of its result, which every simulation of it must have."""
    posted: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def see(self, document: Mapping[str, Any]) -> None:
        """Take note of a simulation as it was served."""
        with self.lock:
            self.posted.add(document["id"])
            if document["state"] != "done" or "result" not in document:
                return
            digest = hashlib.sha256(json.dumps(document["result"], sort_keys=True).encode()).hexdigest()
            request = json.dumps(document["request"], sort_keys=True)
            for known, key, what in (
                (self.results, document["id"], "the result of a simulation has changed"),
                (self.by_request, request, "equal requests have different results"),
            ):
                if known.setdefault(key, digest) != digest:
                    self.faults.append(f"{what}: {document['id']}")

    def forget(self, identifier: str) -> None:
        """It was removed on purpose."""
        with self.lock:
            self.results.pop(identifier, None)
            self.posted.discard(identifier)


class Client(threading.Thread):
    """Posts and follows simulations until it is told to stop; a service that is away is asked again."""

    def __init__(self, seed: int, url: str, examples: Sequence[Mapping[str, Any]], ledger: Ledger) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.client = httpx.Client(base_url=url, timeout=60.0)
        self.examples = examples
        self.ledger = ledger
        self.stopped = threading.Event()

    def run(self) -> None:
        """One thing after another."""
        while not self.stopped.is_set():
            try:
                self.one()
            except httpx.TransportError:
                self.ledger.counts["service away"] += 1
                time.sleep(0.1)
            except Exception as error:  # noqa: BLE001 (a finding)
                self.ledger.faults.append(repr(error))

    def one(self) -> None:
        """Post one, and do one thing with it."""
        pick = self.random
        body = {**pick.choice(self.examples), "seed": pick.randrange(SEEDS)}
        headers = {"idempotency-key": f"{pick.getrandbits(64):x}"}
        if pick.random() < 0.4:
            headers["prefer"] = "wait=20"
        response = self.client.post(PATH, json=body, headers=headers)
        self.ledger.counts[f"POST {response.status_code}"] += 1
        if response.status_code not in (200, 202):
            if response.status_code not in (429, 503):
                self.ledger.faults.append(response.text)
            time.sleep(0.2)
            return
        self.ledger.see(response.json())
        location = response.headers["location"]
        if pick.random() < 0.1:
            again = self.client.post(PATH, json=body, headers=headers)
            if again.is_success and again.headers["location"] != location:
                self.ledger.faults.append("an idempotency key made two simulations")
        self.follow(location, pick.choice(("poll", "events", "cancel", "leave", "leave")))

    def follow(self, location: str, way: str) -> None:
        """Wait for it, or cancel it, or go on to the next."""
        pick = self.random
        if way == "cancel":
            time.sleep(pick.expovariate(2.0))
            self.remove(location)
        elif way == "events":
            with self.client.stream("GET", f"{location}/events") as stream:
                told = [line.removeprefix("event: ") for line in stream.iter_lines() if line.startswith("event: ")]
            if told and told[-1] in ENDED:
                self.ledger.counts["streams to the end"] += 1
            self.ledger.see(self.client.get(location).json())
        elif way == "poll":
            until = time.monotonic() + 20.0
            while not self.stopped.is_set() and time.monotonic() < until:
                document = self.client.get(location).json()
                self.ledger.see(document)
                if document["state"] in ENDED:
                    if pick.random() < 0.1:
                        self.remove(location)
                    return
                time.sleep(0.1)

    def remove(self, location: str) -> None:
        """Cancel it, or remove it if it has ended. If the service goes while it is asked, nobody knows if it did."""
        identifier = location.rpartition("/")[2]
        try:
            response = self.client.delete(location)
        except httpx.TransportError:
            self.ledger.forget(identifier)
            raise
        if response.status_code == 204:
            self.ledger.forget(identifier)
        elif response.status_code == 200:
            self.ledger.see(response.json())
            self.ledger.counts["cancelled"] += response.json()["state"] == "cancelled"


def check(url: str, ledger: Ledger) -> Counter[str]:
    """Wait until nothing is unfinished, compare all kept results with earlier ones, and count the jobs by state."""
    states: Counter[str] = Counter()
    with httpx.Client(base_url=url, timeout=60.0) as client:
        until = time.monotonic() + 120.0
        while any(has_jobs(client, state) for state in ("queued", "running")):
            if time.monotonic() > until:
                ledger.faults.append("something stays unfinished")
                break
            time.sleep(0.2)
        for identifier in sorted(ledger.posted):
            response = client.get(f"{JOBS}/{identifier}")
            if response.status_code != 200:
                ledger.faults.append(f"{identifier} is lost: {response.status_code}")
                continue
            document = response.json()
            ledger.see(document)
            states[document["state"]] += 1
            if identifier in ledger.results and document["state"] != "done":
                ledger.faults.append(f"the result of {identifier} is lost: {document['status']}")
    return states


def has_jobs(client: httpx.Client, state: str) -> bool:
    """Return whether there is a job in this state."""
    return bool(client.get(JOBS, params={"state": state, "limit": 1}).json()["jobs"])


def chaos(home: str, seconds: float, seed: int, store: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Run it; answers the figures and what failed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    examples = [dict(kind.example) for kind in import_module(home).KINDS]
    service, ledger, pick = Service(home, store, port), Ledger(), random.Random(seed)
    url = f"http://127.0.0.1:{port}"
    service.start()
    clients = [Client(seed + place, url, examples, ledger) for place in range(CLIENTS)]
    for client in clients:
        client.start()
    began = time.monotonic()
    kill_at, end_at = began + pick.expovariate(1 / SECONDS_OF_CALM), began + min(SECONDS_OF_LIFE, seconds / 3)
    while time.monotonic() < began + seconds:
        now = time.monotonic()
        workers = service.look()
        if now > kill_at:
            kill_at = now + pick.expovariate(1 / SECONDS_OF_CALM)
            if workers:
                with suppress(ProcessLookupError):
                    os.kill(pick.choice(workers), signal.SIGKILL)
                    ledger.counts["workers killed"] += 1
        if now > end_at:
            name = pick.choice((signal.SIGTERM, signal.SIGKILL))
            left = service.end(name)
            ledger.counts[f"services ended by {name.name}"] += 1
            if left:
                ledger.faults.append(f"{left} processes were left after {name.name}")
            service.start()
            end_at = time.monotonic() + pick.uniform(0.5, 1.5) * SECONDS_OF_LIFE
        time.sleep(0.05)
    for client in clients:
        client.stopped.set()
    for client in clients:
        client.join(90.0)
    states = check(url, ledger)
    left = service.end(signal.SIGTERM)
    if left:
        ledger.faults.append(f"{left} processes were left at the end")
    figures = {
        "minutes": round((time.monotonic() - began) / 60, 2),
        "kept": dict(states),
        "results seen and served again": len(ledger.results),
        "different requests": len(ledger.by_request),
        **dict(sorted(ledger.counts.items())),
        "workers in all": len(service.workers),
        "largest service, MB": round(max(own for own, _ in service.peaks)),
        "largest service in its last life, MB": round(service.peaks[-1][0]),
        "largest worker, MB": round(max(largest for _, largest in service.peaks)),
        "store, MB": round(
            sum(path.stat().st_size for path in Path(store).parent.glob(f"{Path(store).name}*")) / 1e6, 2
        ),
    }
    return figures, ledger.faults


def main() -> int:
    """Run it as told; answers the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--home", default="epsilond.witness.kinds", help="module whose KINDS are run, each by its example"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures, faults = chaos(chosen.home, 60.0 * chosen.minutes, chosen.seed, str(Path(folder) / "jobs.sqlite"))
    for name, value in figures.items():
        print(f"{name:40} {value}")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

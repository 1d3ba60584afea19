"""The HTTP service under load, on the loopback: python -m benchmarks.service.

Starts `python -m epsilond serve` on a free port and asks for closed forms that nobody asked before and for one that is
asked again and again, some seconds each over 1, 4 and 16 connections, alone and beside a heavy calibration; writes its
section of docs/benchmarks.md. It takes less than two minutes. The client shares the machine with the service, so that
the service alone would do more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice, product, takewhile
from typing import Any

from rich.console import Console

from benchmarks import document, load, tables, targets
from benchmarks.environments import ROOT
from benchmarks.processes import cpu_seconds, workers_of
from epsilond.calibrators.gaussian import calibrator as gaussian
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd

PATH = f"/v1/calibrations/{mb_sgd.CALIBRATOR.name}"
CACHED: dict[str, Any] = dict(mb_sgd.CALIBRATOR.example)
CLOSED: dict[str, Any] = {name: value for name, value in CACHED.items() if name != "batch_size"} | {"sampling": "full"}
HEAVY: dict[str, Any] = {name: value for name, value in CACHED.items() if name not in ("batch_size", "rounds")}
PLAIN_PATH = f"/v1/calibrations/{gaussian.CALIBRATOR.name}"
PLAIN: dict[str, Any] = {name: value for name, value in gaussian.CALIBRATOR.example.items() if name != "rate"} | {
    "sampling": "full"
}
SORTS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "repeated": (PATH, CLOSED, False),
    "new, gaussian": (PLAIN_PATH, PLAIN, True),
    "new, mb-sgd": (PATH, CLOSED, True),
}
"""What is asked, and whether with another ε each time."""
CONNECTIONS = (1, 4, 16)
CONNECTIONS_BESIDE = (1, 4)
SECONDS = 3.0
"""So long each line is measured."""
START_SECONDS = 600.0
HEAD = (
    "closed form",
    "connections",
    "beside",
    "requests/s",
    "p50",
    "p99",
    "CPU a request, main",
    "CPU a request, workers",
    "answered",
)
TEXT = """## The service under load

`python -m benchmarks.service`, {date}: {machine}, client and service on the same cores.

Keep-alive connections on the loopback, {seconds:g} s a line. *New* is a closed form with another ε each time, computed
by a worker: `gaussian` or `mb-sgd`, both with full batches. *Repeated* is one of `mb-sgd` asked again and again: it is
answered from the cache and says nothing of the time to compute it. *A heavy calibration* is another connection that
asks for `mb-sgd` calibrations which nobody asked before, one after the other; {heavy} were answered meanwhile, half of
them within {heavy_median}. CPU is process time of the service's main process and of its workers over the number of
requests; beside a heavy calibration workers work on that too, and theirs is left out.

{table}

{aims}"""


@dataclass(frozen=True, kw_only=True)
class Line:
    """What was measured of one sort of question on so many connections."""

    what: str
    connections: int
    found: load.Load
    main_cpu: float
    """CPU seconds of the main process a request."""
    worker_cpu: float
    """CPU seconds of the workers a request; beside a heavy calibration they work on that too."""
    heavy: load.Load | None = None
    """The heavy calibrations beside it; None where it was alone."""


@contextmanager
def started(**settings: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The service with these EPSILOND_ variables: its process, and the port it listens on.

    Raises:
        RuntimeError: it is not ready within ten minutes.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    command = [sys.executable, "-m", "epsilond", "serve", "--port", str(port)]
    environ = {**os.environ, "EPSILOND_LOG_LEVEL": "warning", "EPSILOND_STORE_PATH": ":memory:", **settings}
    process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + START_SECONDS
        while not _ready(port):
            if process.poll() is not None:
                raise RuntimeError(f"the service ended with {process.returncode}")
            if time.monotonic() > until:
                raise RuntimeError("the service did not start")
            time.sleep(0.1)
        yield process, port
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()


def _ready(port: int) -> bool:
    with suppress(OSError):
        return _get(port, "/readyz") == "ready\n"
    return False


def _get(port: int, path: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=START_SECONDS) as answer:
        text: str = answer.read().decode()
        return text


def asked(what: str, places: Iterator[int]) -> Iterator[bytes]:
    """Requests of a sort; each new one has an ε of its own, by the next place."""
    path, body, new = SORTS[what]
    while True:
        yield load.post(path, {**body, "epsilon": 1.0 + next(places) * 1e-7} if new else body)


def heavy_ones(places: Iterator[int]) -> Iterator[bytes]:
    """Heavy calibrations, each with an ε of its own."""
    return (load.post(PATH, HEAVY | {"epsilon": 1.0 + place * 1e-6}) for place in places)


def until(requests: Iterator[bytes], ended: Callable[[], bool]) -> Iterator[bytes]:
    """The requests until it is time to end."""
    return takewhile(lambda _: not ended(), requests)


async def under_load(
    port: int, requests: Iterator[bytes], connections: int, seconds: float, heavy: Iterator[bytes] | None = None
) -> tuple[load.Load, load.Load | None]:
    """So many seconds of requests; and the heavy ones asked meanwhile, of which the last is waited for."""
    end = time.monotonic() + seconds
    light = until(requests, lambda: time.monotonic() >= end)
    if heavy is None:
        return await load.run(port, light, connections), None
    beside = asyncio.create_task(load.run(port, until(heavy, lambda: time.monotonic() >= end), 1))
    return await load.run(port, light, connections), await beside


def measure(process: int, port: int, seconds: float = SECONDS) -> list[Line]:
    """Every line, of a service of this process and port.

    Raises:
        RuntimeError: the service does not answer the first request of a sort.
    """
    places, heavy_places, lines = count(), count(), []
    for what in SORTS:
        first = asyncio.run(load.run(port, islice(asked(what, places), 40), 4))
        if first.failed:
            raise RuntimeError(f"the service answers with status {min(first.statuses)}")
    for beside, numbers in ((False, CONNECTIONS), (True, CONNECTIONS_BESIDE)):
        for what, connections in product(SORTS, numbers):
            workers = workers_of(process)
            before = cpu_seconds([process]), cpu_seconds(workers)
            heavy = heavy_ones(heavy_places) if beside else None
            found, others = asyncio.run(under_load(port, asked(what, places), connections, seconds, heavy))
            answers = max(len(found.latencies) + found.failed, 1)
            main, theirs = cpu_seconds([process]) - before[0], cpu_seconds(workers) - before[1]
            lines.append(
                Line(
                    what=what,
                    connections=connections,
                    found=found,
                    main_cpu=main / answers,
                    worker_cpu=theirs / answers,
                    heavy=others,
                )
            )
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service must not outlive this
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--date", default=datetime.now(tz=UTC).date().isoformat(), help="the date to write down")
    date = parser.parse_args(arguments).date
    with started() as (process, port):
        lines = measure(process.pid, port)
    heavy = load.Load([seconds for line in lines if line.heavy for seconds in line.heavy.latencies])
    aims = list(targets.service(lines))
    cells = [_cells(line) for line in lines]
    for title, head, of in (("The service under load", HEAD, cells), ("Aims", targets.HEAD, aims)):
        Console(width=180).print(tables.as_rich(title, head, of))
    text = TEXT.format(
        date=date,
        machine=document.machine().rpartition(",")[0],
        seconds=SECONDS,
        heavy=len(heavy.latencies),
        heavy_median=tables.seconds(heavy.percentile(0.5)),
        table=tables.as_markdown(HEAD, cells),
        aims=tables.as_markdown(targets.HEAD, aims),
    )
    document.write("service", text)
    return 0


def _cells(line: Line) -> tuple[str, ...]:
    found = line.found
    others = "".join(f", {number} with {status}" for status, number in sorted(found.statuses.items()))
    return (
        line.what,
        str(line.connections),
        f"a heavy calibration, {len(line.heavy.latencies)} answered" if line.heavy else "",
        f"{found.rate:.0f}",
        tables.seconds(found.percentile(0.5)),
        tables.seconds(found.percentile(0.99)),
        tables.seconds(line.main_cpu),
        "" if line.heavy else tables.seconds(line.worker_cpu),
        f"{len(found.latencies)} of {len(found.latencies) + found.failed}, {found.hits} from the cache{others}",
    )


if __name__ == "__main__":
    sys.exit(main())

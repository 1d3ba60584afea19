"""The HTTP service under load, on the loopback: python -m benchmarks.service.

Starts `python -m epsilond serve` on a free port, sends fewer than 3000 requests over 1, 4 and 16 connections, alone and
beside a heavy calibration, and writes its section of docs/benchmarks.md. The client shares the machine with the
service, so the service alone would do more.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any

from rich.console import Console

from benchmarks import document, load, tables, targets
from benchmarks.environments import ROOT
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd

PATH = f"/v1/calibrations/{mb_sgd.CALIBRATOR.name}"
CACHED: dict[str, Any] = dict(mb_sgd.CALIBRATOR.example)
CLOSED: dict[str, Any] = {name: value for name, value in CACHED.items() if name != "batch_size"} | {"sampling": "full"}
HEAVY: dict[str, Any] = {name: value for name, value in CACHED.items() if name not in ("batch_size", "rounds")}
CONNECTIONS = (1, 4, 16)
EACH = 400
START_SECONDS = 600.0
HEAD = ("what is asked", "connections", "beside", "requests/s", "p50", "p99", "service CPU a request", "answered")
TEXT = """## The service under load

`python -m benchmarks.service`, {date}: {machine}, client and service on the same cores.

Keep-alive connections on the loopback, {each} requests a line. *Cached* is one calibration asked again and again, which
is answered from the cache and says nothing of the time to compute it; *closed form* is another ε each time, solved in
the event loop; *a heavy calibration* is another connection that asks for calibrations which nobody asked before, one
after the other ({heavy} were answered meanwhile).

{table}

{aims}"""


@contextmanager
def service() -> Iterator[int]:
    """The service on a free port, until the end.

    Raises:
        RuntimeError: it is not ready within ten minutes.
    """
    with started() as (_, port):
        yield port


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


def _cpu(port: int) -> float:
    """CPU seconds of the service's own process, without its workers."""
    found = re.search(r"^process_cpu_seconds_total (\S+)", _get(port, "/metrics"), flags=re.MULTILINE)
    return float(found[1]) if found else float("nan")


async def beside_heavy(port: int, requests: Sequence[bytes], connections: int, seed: int) -> tuple[load.Load, int]:
    """The load, with one connection more that asks for heavy calibrations nobody asked before; and how many it got."""
    never_asked = (load.post(PATH, HEAVY | {"epsilon": 1.0 + (1000 * seed + i) * 1e-4}) for i in range(1000))
    heavy = asyncio.create_task(_one_by_one(port, never_asked, counted := load.Load()))
    await asyncio.sleep(0.2)
    measured = await load.run(port, requests, connections)
    heavy.cancel()
    await asyncio.gather(heavy, return_exceptions=True)
    return measured, len(counted.latencies)


async def _one_by_one(port: int, requests: Iterator[bytes], counted: load.Load) -> None:
    for request in requests:
        one = await load.run(port, [request], 1)
        counted.latencies += one.latencies


def measure(port: int) -> tuple[list[tuple[str, int, bool, load.Load, float]], int]:
    """Each line's load with the CPU a request took, and how many heavy calibrations were answered.

    Raises:
        RuntimeError: the service does not answer the first request.
    """
    cached = [load.post(PATH, CACHED)] * EACH
    closed = [load.post(PATH, CLOSED | {"epsilon": 1.0 + i * 1e-3}) for i in range(EACH)]
    first = asyncio.run(load.run(port, cached[:1], 1))
    if first.failed:
        raise RuntimeError(f"the service answers with status {min(first.statuses)}")
    lines, answered = [], 0
    for beside in (False, True):
        for connections in CONNECTIONS:
            begun = _cpu(port)
            if beside:
                found, heavy = asyncio.run(beside_heavy(port, cached, connections, connections))
                answered += heavy
            else:
                found = asyncio.run(load.run(port, cached, connections))
            lines.append(("cached", connections, beside, found, (_cpu(port) - begun) / EACH))
    begun = _cpu(port)
    found = asyncio.run(load.run(port, closed, 4))
    lines.append(("closed form", 4, False, found, (_cpu(port) - begun) / EACH))
    return lines, answered


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service must not outlive this
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description=__doc__)
    parser.add_argument("--date", default=datetime.now(tz=UTC).date().isoformat(), help="the date to write down")
    date = parser.parse_args(arguments).date
    with service() as port:
        lines, heavy = measure(port)
    aims = list(targets.service(lines))
    cells = [_cells(*line) for line in lines]
    for title, head, of in (("The service under load", HEAD, cells), ("Aims", targets.HEAD, aims)):
        Console(width=150).print(tables.as_rich(title, head, of))
    text = TEXT.format(
        date=date,
        machine=document.machine().rpartition(",")[0],
        each=EACH,
        heavy=heavy,
        table=tables.as_markdown(HEAD, cells),
        aims=tables.as_markdown(targets.HEAD, aims),
    )
    document.write("service", text)
    return 0


def _cells(what: str, connections: int, beside: bool, found: load.Load, cpu: float) -> tuple[str, ...]:
    hits = f", {found.hits} from the cache" if what == "cached" else ""
    hits += "".join(f", {count} with {status}" for status, count in sorted(found.statuses.items()))
    return (
        what,
        str(connections),
        "a heavy calibration" if beside else "",
        f"{found.rate:.0f}",
        tables.seconds(found.percentile(0.5)),
        tables.seconds(found.percentile(0.99)),
        tables.seconds(cpu),
        f"{len(found.latencies)} of {len(found.latencies) + found.failed}{hits}",
    )


if __name__ == "__main__":
    sys.exit(main())

"""The HTTP service under load, on the loopback: python -m benchmarks.load [--seconds S] [--hostile N …] [--short].

Starts `python -m epsilond serve` on a free port, with the EPSILOND_ variables of the caller. First it asks for each
sort of question over 1, 4 and 16 keep-alive connections. Then it asks for new accounts over one connection, alone and
next to N connections that send expensive questions. It writes its section of docs/benchmarks.md; --short writes
nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.environments import ROOT
from benchmarks.specs import B1, composed, gaussians
from epsilond.calibrators.gaussian import calibrator as gaussian
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd

CONNECTIONS = (1, 4, 16)
HOSTILE = (0, 4, 8, 32)
START_SECONDS = 600.0
ACCOUNT = {"spec": B1.spec, "relation": B1.relation, "unit": "record", "observer": B1.observer}
CALIBRATIONS = "/v1/calibrations/"
CLOSED = {name: value for name, value in gaussian.CALIBRATOR.example.items() if name != "rate"} | {"sampling": "full"}
MB_SGD = dict(mb_sgd.CALIBRATOR.example)
SORTS: Mapping[str, tuple[str, Mapping[str, Any] | None]] = {
    "/healthz": ("/healthz", None),
    "account, repeated": ("/v1/accounts", ACCOUNT),
    "account, new": ("/v1/accounts", ACCOUNT),
    "closed form, new": (CALIBRATIONS + gaussian.CALIBRATOR.name, CLOSED),
    "mb-sgd, new": (CALIBRATIONS + mb_sgd.CALIBRATOR.name, MB_SGD),
}
"""Path and body of each sort of question."""
EXPENSIVE = {**ACCOUNT, "spec": composed(gaussians(400))}
"""The most expensive question known to be accepted: 400 different subsampled Gaussians."""
TICKS = os.sysconf("SC_CLK_TCK")
HEAD = (
    "question",
    "connections",
    "requests/s",
    "p50",
    "p99",
    "CPU a request, main",
    "CPU a request, workers",
    "answered",
)
HOSTILE_HEAD = ("hostile connections", "p50", "p99", "slowest", "answered", "hostile, answered")
TEXT = """## The service under load

`python -m benchmarks.load`, {date}: {machine}, client and service on the same cores. Load average {load:.1f}.

Keep-alive connections on the loopback, {seconds:g} s a line. *New* has another ε or δ in each request. *Repeated* is
one request sent again and again, which the cache answers. The account is of {account}. CPU is process time of the
service's main process and of its workers over the number of requests.

{table}

New accounts over one connection, next to connections that send the most expensive question known to be accepted: 400
different subsampled Gaussians.

{hostile}

Memory of all processes (PSS): {before:.0f} MB at the start, {after:.0f} MB at the end.
"""


@dataclass
class Load:
    """Seconds of each request that was answered 200, of all together, and the other statuses."""

    latencies: list[float] = field(default_factory=list)
    wall: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.latencies) / self.wall if self.wall else 0.0

    @property
    def answered(self) -> str:
        """Number of answers, and of other statuses."""
        others = "".join(f", {number} with {status}" for status, number in sorted(self.statuses.items()))
        return f"{len(self.latencies)}{others}"

    def percentile(self, share: float) -> float:
        """Return the nearest-rank percentile of the latencies."""
        ranked = sorted(self.latencies)
        return ranked[max(math.ceil(share * len(ranked)), 1) - 1] if ranked else math.nan


# The service ----------------------------------------------------------------------------------------------------------
@contextmanager
def started(**settings: str) -> Iterator[tuple[int, int]]:
    """Run the service with these EPSILOND_ variables; yields its process and its port.

    Raises:
        RuntimeError: it is not ready within ten minutes.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    environ = {"EPSILOND_LOG_LEVEL": "warning", "EPSILOND_STORE_PATH": ":memory:", **os.environ, **settings}
    process = subprocess.Popen(
        [sys.executable, "-m", "epsilond", "serve", "--port", str(port)],
        cwd=ROOT, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + START_SECONDS
        while not _ready(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("the service did not start")
            time.sleep(0.1)
        yield process.pid, port
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
        process.kill()


def _ready(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
        return bool(answer.status == 200)
    return False


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, with those that they have started."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                found += [child, *descendants(child)]
    return found


def cpu_seconds(processes: Iterable[int]) -> float:
    """Return the CPU seconds of processes so far; one that is gone has none."""
    total = 0
    for process in processes:
        with suppress(OSError):
            total += sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return total / TICKS


def megabytes(process: int) -> float:
    """Return the memory of a process and its descendants in MB; a shared page counts by its share."""
    total = 0
    for each in (process, *descendants(process)):
        with suppress(OSError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1000


# The clients ----------------------------------------------------------------------------------------------------------
def request(path: str, body: Any = None) -> bytes:
    """Return the bytes of a request: GET without a body, else POST."""
    if body is None:
        return f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(text)}"
    return head.encode() + b"\r\n\r\n" + text


def requests(sort: str, places: Iterator[int]) -> Iterator[bytes]:
    """Yield requests of a sort; each new one has an ε or δ of its own, by the next place."""
    path, body = SORTS[sort]
    while True:
        more = 1.0 + (next(places) * 1e-7 if sort.endswith("new") else 0.0)
        if body is None:
            yield request(path)
        elif path == "/v1/accounts":
            yield request(path, {**body, "query": {"delta": 1e-6 * more}})
        else:
            yield request(path, {**body, "epsilon": body["epsilon"] * more})


def expensive(places: Iterator[int]) -> Iterator[bytes]:
    """Yield expensive questions, each with a δ of its own."""
    return (request("/v1/accounts", {**EXPENSIVE, "query": {"delta": 1e-6 * (1 + place * 1e-7)}}) for place in places)


async def run(port: int, sent: Iterator[bytes], connections: int) -> Load:
    """Send all requests; each connection takes the next one as soon as it is free."""
    load = Load()
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(_connection(port, sent, load))
    load.wall = time.perf_counter() - begun
    return load


async def _connection(port: int, sent: Iterator[bytes], load: Load) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for each in sent:
            begun = time.perf_counter()
            writer.write(each)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            status = int(head.split(b" ", 2)[1])
            if status == 200:
                load.latencies.append(time.perf_counter() - begun)
            else:
                load.statuses[status] += 1
    finally:
        writer.close()


def for_seconds(sent: Iterator[bytes], seconds: float) -> Iterator[bytes]:
    """Yield requests for so long."""
    end = time.monotonic() + seconds
    return takewhile(lambda _: time.monotonic() < end, sent)


async def next_to_hostile(port: int, hostile: int, seconds: float, places: Iterator[int]) -> tuple[Load, Load]:
    """Send new accounts over one connection next to hostile ones, which are cut off at the end."""
    others = Load()
    tasks = [asyncio.create_task(_connection(port, expensive(places), others)) for _ in range(hostile)]
    await asyncio.sleep(min(1.0, seconds) if hostile else 0.0)
    load = await run(port, for_seconds(requests("account, new", places), seconds), 1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return load, others


# The command ----------------------------------------------------------------------------------------------------------
def sort_lines(
    process: int, port: int, places: Iterator[int], connections: Sequence[int], seconds: float
) -> Iterator[tuple[str, ...]]:
    """Measure and yield a line for each sort of question and number of connections."""
    for sort in SORTS:
        for many in connections:
            workers = descendants(process)
            before = cpu_seconds([process]), cpu_seconds(workers)
            load = asyncio.run(run(port, for_seconds(requests(sort, places), seconds), many))
            answers = max(len(load.latencies) + load.statuses.total(), 1)
            main, others = cpu_seconds([process]) - before[0], cpu_seconds(workers) - before[1]
            tails = (tables.seconds(load.percentile(share)) for share in (0.5, 0.99))
            spent = (tables.seconds(main / answers), tables.seconds(others / answers))
            yield sort, str(many), f"{load.rate:.0f}", *tails, *spent, load.answered


def hostile_lines(
    port: int, places: Iterator[int], numbers: Sequence[int], seconds: float
) -> Iterator[tuple[str, ...]]:
    """Measure and yield a line for each number of hostile connections."""
    for hostile in numbers:
        load, others = asyncio.run(next_to_hostile(port, hostile, seconds, places))
        tails = (tables.seconds(load.percentile(share)) for share in (0.5, 0.99, 1.0))
        yield str(hostile), *tails, load.answered, others.answered if hostile else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and write the section."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service must not outlive this
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each line is measured")
    parser.add_argument("--hostile", type=int, nargs="*", default=HOSTILE, help="numbers of hostile connections")
    parser.add_argument("--short", action="store_true", help="half a second each, one connection; write nothing")
    parser.add_argument("--date", default=datetime.now(tz=UTC).date().isoformat(), help="the date to write down")
    chosen = parser.parse_args(arguments)
    seconds, connections = (0.5, (1,)) if chosen.short else (chosen.seconds, CONNECTIONS)
    places = count()
    with started() as (process, port):
        before = megabytes(process)
        lines = list(sort_lines(process, port, places, connections, seconds))
        hostile = list(hostile_lines(port, places, (0, 1) if chosen.short else chosen.hostile, 3 * seconds))
        after = megabytes(process)
    tables.show("The service under load", HEAD, lines)
    tables.show("New accounts next to hostile connections", HOSTILE_HEAD, hostile)
    print(f"memory (PSS): {before:.0f} MB at the start, {after:.0f} MB at the end")
    if not chosen.short:
        text = TEXT.format(
            date=chosen.date,
            machine=tables.machine(),
            load=os.getloadavg()[0],
            seconds=seconds,
            account="rate 0.01, noise multiplier 1, 1000 steps",
            table=tables.as_markdown(HEAD, lines),
            hostile=tables.as_markdown(HOSTILE_HEAD, hostile),
            before=before,
            after=after,
        )
        tables.write_section("service", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

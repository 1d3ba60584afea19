"""The HTTP service under load, on the loopback: python -m benchmarks.load [--seconds S] [--hostile N …] [--short].

Starts `python -m epsilond serve` on a free port, with the EPSILOND_ variables of the caller and a store in a file, so
that answers are signed. First it asks for each sort of question over 1 and 8 keep-alive connections, and asks the plain
FastAPI application of benchmarks/plain.py for new accounts. Then it asks for new accounts over one connection, alone
and next to N connections of another address that send expensive questions. It writes its section of
docs/benchmarks.md.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.environments import ROOT, THREADS
from benchmarks.specs import B1, different_gaussians
from epsilond.calibrators.gaussian import calibrator as gaussian
from epsilond.calibrators.mb_sgd import calibrator as mb_sgd

CONNECTIONS = (1, 8)
HOSTILE = (0, 4, 8, 32)
HOSTILE_ADDRESS = "127.0.0.2"
"""Address of the hostile connections, by which they are another caller than the polite one."""
START_SECONDS = 600.0
ACCOUNTS, CALIBRATIONS = "/v1/accounts", "/v1/calibrations/"
ACCOUNT = {"spec": B1.spec, "relation": B1.relation, "unit": "record", "observer": B1.observer}
CLOSED = {name: value for name, value in gaussian.CALIBRATOR.example.items() if name != "rate"} | {"sampling": "full"}
SORTS: Mapping[str, tuple[str, Mapping[str, Any] | None]] = {
    "/healthz": ("/healthz", None),
    "account, repeated": (ACCOUNTS, ACCOUNT),
    "account, new": (ACCOUNTS, ACCOUNT),
    "expensive account, new": (ACCOUNTS, {**ACCOUNT, "spec": different_gaussians(400).spec}),
    "closed form, new": (CALIBRATIONS + gaussian.CALIBRATOR.name, CLOSED),
    "mb-sgd, new": (CALIBRATIONS + mb_sgd.CALIBRATOR.name, mb_sgd.CALIBRATOR.example),
}
"""Path and body of each sort of question."""
POLITE, EXPENSIVE = "account, new", "expensive account, new"
PLAIN = "account, new, plain FastAPI"
VARIED = frozenset({"rate", "noise_multiplier"})
"""Members of a spec that differ in each new account."""
TICKS = os.sysconf("SC_CLK_TCK")
HEAD = ("question", "connections", "requests/s", "p50", "p99", "CPU a request, main", "workers", "answered")
HOSTILE_HEAD = ("hostile connections", "p50", "p99", "slowest", "answered", "hostile, answered")


@dataclass
class Load:
    """The answers to the requests of some connections.

    Attributes:
        latencies: durations of the requests with status 200 or 201, in seconds.
        wall: duration of all requests together, in seconds.
        statuses: number of answers with each other status.
    """

    latencies: list[float] = field(default_factory=list)
    wall: float = math.inf
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def answered(self) -> str:
        """Number of answers, and of other statuses."""
        failures = "".join(f", {number} with {status}" for status, number in sorted(self.statuses.items()))
        return f"{len(self.latencies)}{failures}"

    def percentile(self, share: float) -> float:
        """Return a percentile of the durations of requests, by the nearest rank.

        Args:
            share: share of the requests that are at most as long, in (0, 1].

        Returns:
            A duration in seconds; NaN without answers.
        """
        ranked = sorted(self.latencies)
        return ranked[max(math.ceil(share * len(ranked)), 1) - 1] if ranked else math.nan


# The service ----------------------------------------------------------------------------------------------------------
@contextmanager
def start_service(*program: str) -> Iterator[tuple[int, int]]:
    """Start a program that serves HTTP on a free port, wait until it is ready, and stop it at the end of the context.

    Unless the environment says otherwise, its store is in a new folder, and callers have no limit on their CPU time.

    Args:
        *program: module and arguments; the port comes last.

    Yields:
        Id of the process, and the port.

    Raises:
        RuntimeError: the program ends, or is not ready within `START_SECONDS`.
    """
    # The system chooses a free port, which the service then takes.
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    folder = tempfile.TemporaryDirectory()
    environ = {"EPSILOND_STORE_PATH": f"{folder.name}/jobs.sqlite", "EPSILOND_CALLER_CPU_SECONDS_PER_MINUTE": "0"}
    command = [sys.executable, "-m", *program, str(port)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**environ, **THREADS, **os.environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _ready(port):
            has_ended = process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                raise RuntimeError("the service did not start")
            time.sleep(0.1)
        yield process.pid, port
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
        process.kill()
        folder.cleanup()


def _ready(port: int) -> bool:
    """Return whether the service at a port answers that it is ready."""
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
        return bool(answer.status == 200)
    return False


def descendants(process: int) -> list[int]:
    """Return the processes that a process has started, with those that they have started."""
    processes: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                processes += [child, *descendants(child)]
    return processes


def cpu_seconds(processes: Iterable[int]) -> float:
    """Return the CPU seconds of processes so far; one that is gone has none."""
    total = 0
    for process in processes:
        with suppress(OSError):
            fields_after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            user_ticks, system_ticks = fields_after_name[11:13]
            total += int(user_ticks) + int(system_ticks)
    return total / TICKS


def megabytes(process: int) -> float:
    """Return the memory of a process and its descendants in MB; a shared page counts by its share."""
    total = 0
    for number in (process, *descendants(process)):
        with suppress(OSError):
            lines = Path(f"/proc/{number}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1000


# The clients ----------------------------------------------------------------------------------------------------------
def request(path: str, body: Any = None) -> bytes:
    """Return the bytes of a request: GET without a body, else POST."""
    text = b"" if body is None else json.dumps(body).encode()
    head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(text)}\r\n"
    return f"{head}content-type: application/json\r\n\r\n".encode() + text


def vary(spec: Any, more: float) -> Any:
    """Return a spec with its rates and noise multipliers multiplied by a factor."""
    if isinstance(spec, Mapping):
        return {name: item * more if name in VARIED else vary(item, more) for name, item in spec.items()}
    return [vary(item, more) for item in spec] if isinstance(spec, list) else spec


def requests(sort: str, places: Iterator[int]) -> Iterator[bytes]:
    """Yield requests of one sort without end. For sorts of new questions every request differs from all earlier ones.

    Args:
        sort: a key of `SORTS`.
        places: numbers of the questions; each new question takes the next one.

    Yields:
        The bytes of a request.
    """
    path, body = SORTS[sort]
    while True:
        # A new question has numbers that are larger by a tiny factor.
        more = 1.0 + (next(places) * 1e-7 if sort.endswith("new") else 0.0)
        if body is None:
            yield request(path)
        elif path == ACCOUNTS:
            yield request(path, {**body, "spec": vary(body["spec"], more), "query": {"delta": 1e-6}})
        else:
            yield request(path, {**body, "epsilon": body["epsilon"] * more})


async def run(port: int, sent: Iterator[bytes], connections: int, seconds: float = math.inf) -> Load:
    """Send requests over several connections for some time; each connection takes the next one as soon as it is free.

    Args:
        port: port of the service.
        sent: the requests.
        connections: number of connections.
        seconds: duration, in seconds; without it all requests are sent.

    Returns:
        Durations of the answers, and counts of failures.
    """
    load, start = Load(), time.perf_counter()
    timely = takewhile(lambda _: time.perf_counter() < start + seconds, sent)
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(_connection(port, timely, load))
    load.wall = time.perf_counter() - start
    return load


async def _connection(port: int, sent: Iterator[bytes], load: Load, address: str = "127.0.0.1") -> None:
    """Send requests over one keep-alive connection, and add the duration or the status of each answer to a load.

    Args:
        port: port of the service.
        sent: the requests, which connections may share.
        load: the measured answers, to which those of this connection are added.
        address: address of the client.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    try:
        for content in sent:
            start = time.perf_counter()
            writer.write(content)
            # The answer is its head, and then as many bytes as the head says.
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            status = int(head.split(b" ", 2)[1])
            if status in (200, 201):
                load.latencies.append(time.perf_counter() - start)
            else:
                load.statuses[status] += 1
    finally:
        writer.close()


async def next_to_hostile(port: int, places: Iterator[int], hostile: int, seconds: float) -> tuple[str, ...]:
    """Measure new accounts over one connection while other connections send expensive questions.

    Args:
        port: port of the service.
        places: numbers by which new questions differ.
        hostile: number of the other, hostile connections, which are cut off at the end.
        seconds: duration, in seconds.

    Returns:
        The cells of a row:
        - number of hostile connections;
        - median, 99th percentile and maximum of the durations of the new accounts;
        - number of answers to them, and to the hostile connections.
    """
    hostile_load = Load()
    sent = requests(EXPENSIVE, places)
    tasks = [asyncio.create_task(_connection(port, sent, hostile_load, HOSTILE_ADDRESS)) for _ in range(hostile)]
    # The hostile connections get a second to fill the queue.
    await asyncio.sleep(min(1.0, seconds) if hostile else 0.0)
    load = await run(port, requests(POLITE, places), 1, seconds)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    tails = (tables.seconds(load.percentile(share)) for share in (0.5, 0.99, 1.0))
    return str(hostile), *tails, load.answered, hostile_load.answered


# The command ----------------------------------------------------------------------------------------------------------
def sort_line(process: int, port: int, sort: str, places: Iterator[int], many: int, seconds: float) -> tuple[str, ...]:
    """Measure one sort of question over several connections.

    Args:
        process: main process of the service.
        port: port of the service.
        sort: a key of `SORTS`.
        places: numbers by which new questions differ.
        many: number of connections.
        seconds: duration, in seconds.

    Returns:
        The cells of a row:
        - sort, number of connections, and requests per second;
        - median and 99th percentile of their durations;
        - CPU time of a request in the main process, and in the workers;
        - number of answers.
    """
    # CPU times of the main process and of the workers are differences of two readings.
    workers = descendants(process)
    main_before = cpu_seconds([process])
    workers_before = cpu_seconds(workers)
    load = asyncio.run(run(port, requests(sort, places), many, seconds))
    answers = max(len(load.latencies) + load.statuses.total(), 1)
    main_cpu = (cpu_seconds([process]) - main_before) / answers
    workers_cpu = (cpu_seconds(workers) - workers_before) / answers
    times = map(tables.seconds, (load.percentile(0.5), load.percentile(0.99), main_cpu, workers_cpu))
    return sort, str(many), f"{len(load.latencies) / load.wall:.0f}", *times, load.answered


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the service under load, print the tables, and write the section of docs/benchmarks.md.

    Args:
        arguments: arguments of the command line; those of the process if None.

    Returns:
        The exit code 0.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the service must not outlive this
    parser = tables.parser("load", __doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each line is measured")
    parser.add_argument("--hostile", type=int, nargs="*", default=HOSTILE, help="numbers of hostile connections")
    chosen = parser.parse_args(arguments)
    seconds, connections, hostile = chosen.seconds, CONNECTIONS, chosen.hostile
    if chosen.short:
        seconds, connections, hostile = 0.5, (1,), (0, 1)
    places = count()
    with start_service("benchmarks.plain") as (process, port):
        _, *plain_cells = sort_line(process, port, POLITE, places, 1, seconds)
    with start_service("epsilond", "serve", "--port") as (process, port):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json").read()  # it is made after the start
        before = megabytes(process)
        lines = []
        for sort in SORTS:
            if sort != EXPENSIVE:
                lines += [sort_line(process, port, sort, places, many, seconds) for many in connections]
        lines.append((PLAIN, *plain_cells))
        next_to = [asyncio.run(next_to_hostile(port, places, number, 3 * seconds)) for number in hostile]
        memory = f"Memory of all processes (PSS): {before:.0f} MB at the start, {megabytes(process):.0f} MB at the end."
    tables.show("The service under load", HEAD, lines)
    tables.show("New accounts next to hostile connections", HOSTILE_HEAD, next_to)
    print(memory)
    if not chosen.short:
        command = f"python -m benchmarks.load --seconds {seconds:g}"
        when = f"`{command}`, {chosen.date}: {tables.machine()}. Load average {os.getloadavg()[0]:.1f}."
        parts = (when, tables.as_markdown(HEAD, lines), tables.as_markdown(HOSTILE_HEAD, next_to), memory)
        tables.write_section("service", "\n\n".join(parts))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Cheap and heavy requests together, on the loopback: python -m benchmarks.load_mixed.

Starts `python -m epsilond serve` on a free port with a short deadline. A client asks for what is cached and for closed
forms, one connection of each, at a steady pace; beside it, heavy calibrations that nobody asked before become jobs at
their deadline, others are left by their client, a worker is killed in the middle of one, and at the end the service is
told to stop while a request is under way. Prints what the cheap ones took, and what the service told of the others.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from rich.console import Console

from benchmarks import load, service, tables
from benchmarks.processes import ticks, workers_of
from epsilond.calibrators.shuffled_mb_sgd import calibrator as shuffled_mb_sgd

TARGET_SECONDS = 0.020
"""What 99 of 100 cheap requests are to be answered within."""
TRIES = 20
HEAVIER_PATH = f"/v1/calibrations/{shuffled_mb_sgd.CALIBRATOR.name}"
HEAVIER = dict(shuffled_mb_sgd.CALIBRATOR.example)
HEAD = ("cheap requests (cached: one question, asked again)", "answered", "p50", "p99", "slowest")


@dataclass
class Mixed:
    """What happened."""

    cheap: dict[str, load.Load] = field(default_factory=dict)
    answered: int = 0
    """Heavy ones that were answered."""
    jobs: int = 0
    """Heavy ones that became jobs."""
    refused: int = 0
    """Heavy ones that were told to come again, as the service was busy."""
    failed: int = 0
    """Heavy ones that ended in any other way."""
    killed: int = 0
    """Workers that were killed in the middle of something."""
    left: int = 0
    """Heavy ones whose client went away."""
    deaths: dict[str, float] = field(default_factory=dict)
    drained: int = 0
    """Status of the request that was under way when the service was told to stop."""
    exit_code: int | None = None


def closed_forms() -> Iterator[bytes]:
    """Closed forms, each asked once."""
    for place in range(10**6):
        yield load.post(service.PATH, service.CLOSED | {"epsilon": 1.0 + place * 1e-6})


def heavy(place: int) -> bytes:
    """A question that takes a while, or by turns one that takes very long, which nobody asked before."""
    path, body = ((service.PATH, service.HEAVY), (HEAVIER_PATH, HEAVIER))[place % 2]
    return load.post(path, {**body, "epsilon": 1.0 + place * 1e-6})


def deaths(port: int) -> dict[str, float]:
    """Workers lost so far, by cause."""
    found = re.findall(r'^epsilond_worker_deaths_total\{cause="(\w+)"\} (\S+)', text_of(port), flags=re.MULTILINE)
    return {cause: float(value) for cause, value in found}


def text_of(port: int) -> str:
    """The service's figures."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=service.START_SECONDS) as answer:
        text: str = answer.read().decode()
        return text


async def paced(port: int, requests: Iterator[bytes], count: int, pause: float) -> load.Load:
    """So many requests on one connection, with a pause after each, so that the client leaves room to the service."""
    found = load.Load()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    begun = time.perf_counter()
    for _, request in zip(range(count), requests, strict=False):
        sent = time.perf_counter()
        writer.write(request)
        status, hit = await load.response(reader)
        if status == 200:
            found.latencies.append(time.perf_counter() - sent)
            found.hits += hit
        else:
            found.statuses[status] += 1
        await asyncio.sleep(pause)
    found.wall = time.perf_counter() - begun
    writer.close()
    return found


async def leave(port: int, place: int, seconds: float) -> None:
    """Ask for something heavy and go away."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(heavy(place))
    await asyncio.sleep(seconds)
    writer.close()


async def beside(process: int, port: int, told: Mixed, stop: asyncio.Event, patience: float) -> None:
    """Heavy questions, one after another: every third client goes away, and in every fifth the worker is killed."""
    for place in range(10**6):
        if stop.is_set():
            return
        if place % 3 == 2:
            await leave(port, place, patience)
            told.left += 1
            continue
        asked = asyncio.create_task(load.run(port, [heavy(place)], 1))
        if place % 5 == 1:
            await asyncio.sleep(patience)
            told.killed += kill_one(process)
        one = await asked
        told.answered += len(one.latencies)
        told.jobs += one.statuses[202]
        told.refused += one.statuses[429] + one.statuses[503]
        told.failed += one.failed - sum(one.statuses[status] for status in (202, 429, 503))


def kill_one(service_process: int) -> bool:
    """Kill the worker that has worked most, as a lack of memory would; whether there was one."""
    workers = workers_of(service_process)
    if not workers:
        return False
    try:
        os.kill(max(workers, key=ticks), signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


async def mixed(process: int, port: int, *, count: int, pause: float, patience: float) -> Mixed:
    """So many cheap requests of each sort beside heavy ones, for as long as the cheap ones take and one round more."""
    told, stop = Mixed(), asyncio.Event()
    cached = [load.post(service.PATH, service.CACHED)]
    first = await load.run(port, cached * TRIES, 1)  # on a busy machine the first may not be done by the deadline
    if not first.hits:
        raise RuntimeError(f"the service answers with status {min(first.statuses)}")
    before = deaths(port)
    others = asyncio.create_task(beside(process, port, told, stop, patience))
    await asyncio.sleep(patience)
    sorts = {"cached": repeat(cached[0]), "closed form": closed_forms()}
    runs = await asyncio.gather(*(paced(port, requests, count, pause) for requests in sorts.values()))
    told.cheap = dict(zip(sorts, runs, strict=True))
    stop.set()
    await others
    await asyncio.sleep(patience)
    told.deaths = {cause: count - before.get(cause, 0.0) for cause, count in deaths(port).items()}
    return told


async def drain(port: int, process: subprocess.Popen[bytes], told: Mixed, patience: float) -> None:
    """Tell the service to stop while something heavy is under way: it is answered, and then the service ends."""
    asked = asyncio.create_task(load.run(port, [heavy(10**5)], 1))
    await asyncio.sleep(patience)
    process.send_signal(signal.SIGTERM)
    one = await asked
    told.drained = 200 if one.latencies else min(one.statuses)
    told.exit_code = await asyncio.to_thread(process.wait, service.START_SECONDS)


def measure(*, count: int, pause: float, patience: float, deadline: float) -> Mixed:
    """The whole of it, on a service of its own."""
    with service.started(EPSILOND_DEADLINE_SECONDS=str(deadline)) as (process, port):
        told = asyncio.run(mixed(process.pid, port, count=count, pause=pause, patience=patience))
        asyncio.run(drain(port, process, told, patience))
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 if the target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load_mixed", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="cheap requests of each sort")
    parser.add_argument("--pause", type=float, default=0.01, help="seconds between two of a connection")
    parser.add_argument("--deadline", type=float, default=3.0, help="seconds a computation may take")
    chosen = parser.parse_args(arguments)
    told = measure(count=chosen.count, pause=chosen.pause, patience=0.3, deadline=chosen.deadline)
    rows = [
        (
            what,
            f"{len(found.latencies)} of {len(found.latencies) + found.failed}",
            *map(tables.seconds, (found.percentile(0.5), found.percentile(0.99), found.percentile(1.0))),
        )
        for what, found in told.cheap.items()
    ]
    console = Console(width=120)
    console.print(tables.as_rich("Cheap requests beside heavy ones", HEAD, rows))
    console.print(
        f"heavy: {told.answered} answered, {told.jobs} became jobs, {told.refused} told to come again,"
        f" {told.left} left by their client, {told.failed} failed; {told.killed} workers killed;"
        f" lost, as /metrics has it: {told.deaths};"
        f" at shutdown: status {told.drained}, exit code {told.exit_code}"
    )
    return int(max(found.percentile(0.99) for found in told.cheap.values()) > TARGET_SECONDS)


if __name__ == "__main__":
    sys.exit(main())

"""Cheap questions after clients that ask for something slow and leave: python -m benchmarks.abandoned.

Starts `python -m epsilond serve` on a free port. Forty clients each ask a slow question of their own and leave within a
second; then a hundred accounts that nobody asked before, and a hundred closed forms, are asked one after the other.
Prints their p50 and p99, and the processes and descriptors of the service before and after.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import load, service
from benchmarks.load_mixed import HEAVIER, HEAVIER_PATH, closed_forms, deaths
from benchmarks.processes import children_of, workers_of

CLIENTS = 40
CHEAP = 100
SETTLE_SECONDS = 5.0
"""Longer than an abandoned question may go on."""


def slow(place: int) -> bytes:
    """A question of many seconds that nobody asked before."""
    return load.post(HEAVIER_PATH, {**HEAVIER, "participants": 10, "epsilon": 1.0 + place * 1e-6})


def accounts() -> Iterator[bytes]:
    """Cheap accounts, each asked once."""
    for place in range(10**6):
        yield load.post("/v1/accounts", account(2.0 + place * 1e-6))


def account(noise_multiplier: float) -> dict[str, Any]:
    """One Gaussian mechanism."""
    return {
        "spec": {"kind": "gaussian", "noise_multiplier": noise_multiplier},
        "relation": "add-or-remove-one",
        "query": {"delta": 1e-6},
        "unit": "record",
        "observer": "server",
    }


async def leave(port: int, place: int, seconds: float) -> None:
    """Ask something slow, and be gone after so many seconds."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(slow(place))
    await asyncio.sleep(seconds)
    writer.close()


async def all_leave(port: int) -> None:
    """Forty clients, all gone within a second."""
    chance = random.Random(1)
    await asyncio.gather(*(leave(port, place, chance.uniform(0.02, 0.9)) for place in range(CLIENTS)))


def counts(process: int) -> str:
    """Forkservers, workers and descriptors of a service."""
    descriptors = len(list(Path(f"/proc/{process}/fd").iterdir()))
    return f"{len(children_of(process))} forkserver, {len(workers_of(process))} workers, {descriptors} descriptors"


async def cheap(port: int, name: str, requests: Iterator[bytes]) -> str:
    """How long a hundred took, one after the other."""
    found = await load.run(port, [request for _, request in zip(range(CHEAP), requests, strict=False)], 1)
    ended = f", others by status {dict(found.statuses)}" if found.failed else ""
    return (
        f"{name}: {len(found.latencies)} answered, p50 {1e3 * found.percentile(0.5):.1f} ms,"
        f" p99 {1e3 * found.percentile(0.99):.1f} ms, slowest {1e3 * max(found.latencies, default=0.0):.1f} ms{ended}"
    )


def main() -> None:
    """Print what was found."""
    with service.started() as (process, port):
        time.sleep(SETTLE_SECONDS)
        print("before:", counts(process.pid))
        asyncio.run(all_leave(port))
        print("at once afterwards:", counts(process.pid))
        print(asyncio.run(cheap(port, "accounts", accounts())))
        print(asyncio.run(cheap(port, "closed forms", closed_forms())))
        time.sleep(SETTLE_SECONDS)
        print("after:", counts(process.pid))
        print("workers lost:", deaths(port))


if __name__ == "__main__":
    main()

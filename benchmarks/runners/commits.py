"""Commits of ledgers over HTTP: python -m benchmarks.runners.commits [--seconds S] [--postgresql URL].

Starts `python -m epsilond serve` with a new store: an SQLite file, or a new database of a PostgreSQL server. Opens 8
ledgers, then one, and commits over keep-alive connections; each connection commits one run at a time.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import secrets
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.ledger import LEDGER, LEDGERS, QUERY, RUNS, new_database
from benchmarks.load import cpu_seconds, descendants, run, start_service

HEAD = ("store", "connections", "ledgers", "commits/s", "p50", "p99", "CPU a commit", "answered")


def post(port: int, path: str, body: Mapping[str, Any]) -> Any:
    """Send a JSON request with its own idempotency key, and return the JSON value of the answer.

    Args:
        port: port of the service.
        path: path of the request.
        body: JSON body.

    Returns:
        The parsed answer.
    """
    headers = {"content-type": "application/json", "idempotency-key": secrets.token_urlsafe(12)}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))


def commits(reservations: list[str]) -> Iterator[bytes]:
    """Yield requests that commit one run, of each reservation in turn."""
    body = json.dumps({"count": 1}).encode()
    for reservation in itertools.cycle(reservations):
        head = f"POST /v1/reservations/{reservation}/commits HTTP/1.1\r\nhost: localhost\r\n"
        key = f"idempotency-key: {secrets.token_urlsafe(12)}\r\n"
        yield f"{head}{key}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def measure(connections: int, ledgers: int, seconds: float) -> tuple[str, ...]:
    """Measure commits over HTTP in a new service, which gets its store from the environment.

    Args:
        connections: number of connections, each with a reservation of its own.
        ledgers: number of ledgers over which the commits are spread.
        seconds: duration of the measurement, in seconds.

    Returns:
        Cells of a row: commits per second, median and 99th percentile of their durations, CPU time of a commit, and the
        number of answers.
    """
    with start_service("epsilond", "serve", "--port") as (process, port):
        ids = [post(port, "/v1/ledgers", LEDGER | {"dataset": secrets.token_hex(8)})["id"] for _ in range(ledgers)]
        order = {"slot": "gdp", "spec": QUERY, "count": RUNS}
        reservations = [
            post(port, "/v1/reservations", order | {"ledgers": [ids[place % ledgers]]})["id"]
            for place in range(connections)
        ]
        processes = [process, *descendants(process)]
        before = cpu_seconds(processes)
        load = asyncio.run(run(port, commits(reservations), connections, seconds))
        # CPU time of all processes of the service, for each commit.
        cpu = (cpu_seconds(processes) - before) / max(len(load.latencies), 1)
    times = map(tables.seconds, (load.percentile(0.5), load.percentile(0.99), cpu))
    return f"{len(load.latencies) / load.wall:.0f}", *times, load.answered


def main() -> None:
    """Measure commits over HTTP with each number of connections and ledgers, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--postgresql", help="URL of a server, without a database: a new one is made and dropped")
    options.add_argument("--connections", type=int, nargs="+", default=[16, 8])
    chosen = options.parse_args()
    rows = []
    for connections, ledgers in itertools.product(chosen.connections, LEDGERS):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            # The service reads its keys and its store from the environment.
            os.environ["EPSILOND_LEDGER_KEYS"] = str(folder / "keys")
            os.environ["EPSILOND_LEDGER_ORIGIN"] = "benchmark.example/ledgers"
            if chosen.postgresql:
                os.environ["EPSILOND_STORE_URL"] = stack.enter_context(new_database(chosen.postgresql))
            figures = measure(connections, ledgers, chosen.seconds)
        store = "PostgreSQL" if chosen.postgresql else "SQLite"
        rows.append((store, str(connections), str(ledgers), *figures))
    tables.show("Commits of ledgers over HTTP", HEAD, rows)


if __name__ == "__main__":
    main()

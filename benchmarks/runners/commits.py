"""Commits of ledgers over HTTP: python -m benchmarks.runners.commits [--seconds S] [--postgresql URL] [--witness].

Starts `python -m epsilond serve` with a new store: an SQLite file, or a new database of a PostgreSQL server. Opens 8
ledgers, then one, and commits over keep-alive connections; each connection commits one run at a time. With --witness
the service has the head of its log cosigned before it answers a move, by `epsilond ledger witness` on the loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from benchmarks import tables
from benchmarks.ledger import LEDGER, LEDGERS, QUERY, RUNS, new_database
from benchmarks.load import cpu_seconds, descendants, run, start_service

HEAD = ("store", "witness", "connections", "ledgers", "commits/s", "p50", "p99", "CPU a commit", "answered")
NAME = "witness.example"


def post(port: int, path: str, body: Mapping[str, Any]) -> Any:
    """Send a request with its own idempotency key until the status is not 503, and return the answer's JSON value.

    Args:
        port: port of the service.
        path: path of the request.
        body: JSON body.
    """
    headers = {"content-type": "application/json", "idempotency-key": secrets.token_urlsafe(12)}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode(), headers)
    while True:
        try:
            return json.load(urllib.request.urlopen(request))
        except HTTPError as error:  # a witness that starts does not answer in time
            if error.code != 503:
                raise
            time.sleep(0.5)


def commits(reservations: list[str]) -> Iterator[bytes]:
    """Yield requests that commit one run, of each reservation in turn."""
    body = json.dumps({"count": 1}).encode()
    for reservation in itertools.cycle(reservations):
        head = f"POST /v1/reservations/{reservation}/commits HTTP/1.1\r\nhost: localhost\r\n"
        key = f"idempotency-key: {secrets.token_urlsafe(12)}\r\n"
        yield f"{head}{key}content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def witness_of(keys: Path) -> Iterator[str]:
    """Run a witness of the log with keys in a folder, and yield its address in the form of a service's setting."""
    with tempfile.TemporaryDirectory() as folder:
        vkey = json.loads((keys / "keys.json").read_text())["keys"][0]["note_key"]
        command = [
            sys.executable,
            "-m",
            "epsilond",
            "ledger",
            "witness",
            folder,
            "--name",
            NAME,
            "--log",
            vkey,
            "--port",
            "0",
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            own, address = process.stdout.readline().strip(), process.stderr.readline().split()[-1]
            yield f"{address} {own}"
            process.terminate()


def measure(connections: int, ledgers: int, seconds: float) -> tuple[str, ...]:
    """Return the figures of one row; the service gets its store from the environment.

    Args:
        connections: number of connections.
        ledgers: number of ledgers over which the commits are spread.
        seconds: duration of the measurement [s].
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
        cpu = (cpu_seconds(processes) - before) / max(len(load.latencies), 1)
    times = map(tables.seconds, (load.percentile(0.5), load.percentile(0.99), cpu))
    return f"{len(load.latencies) / load.wall:.0f}", *times, load.answered


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--postgresql", help="URL of a server, without a database: a new one is made and dropped")
    options.add_argument("--connections", type=int, nargs="+", default=[16, 8])
    options.add_argument("--witness", action="store_true", help="have each head cosigned")
    chosen = options.parse_args()
    rows = []
    for connections, ledgers in itertools.product(chosen.connections, LEDGERS):
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            os.environ["EPSILOND_LEDGER_KEYS"] = str(folder / "keys")
            os.environ["EPSILOND_LEDGER_ORIGIN"] = "benchmark.example/ledgers"
            if chosen.postgresql:
                os.environ["EPSILOND_STORE_URL"] = stack.enter_context(new_database(chosen.postgresql))
            if chosen.witness:
                measure(1, 1, 0.1)  # the keys are made by the first start
                os.environ["EPSILOND_LEDGER_WITNESSES"] = stack.enter_context(witness_of(folder / "keys"))
            figures = measure(connections, ledgers, chosen.seconds)
        store = "PostgreSQL" if chosen.postgresql else "SQLite"
        rows.append((store, "yes" if chosen.witness else "no", str(connections), str(ledgers), *figures))
    tables.show("Commits of ledgers over HTTP", HEAD, rows)


if __name__ == "__main__":
    main()

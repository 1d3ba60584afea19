"""Commits of a ledger's book: python -m benchmarks.ledger [--seconds S] [--postgresql URL] [--processes N …].

Writers in threads commit one run after another, each of a reservation of its own, and get a receipt for every commit.
The same writers are measured on 8 ledgers and on one, in a new SQLite file and, where a URL is given, in a new schema
of that PostgreSQL database. With several processes each is a replica with its share of the writers. The table has the
commits per second, the quantiles of their durations, and the CPU of all processes for each commit. With --write it is
written to docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import create_engine, make_url, text

from benchmarks import tables
from epsilond.ledgers.book.book import Book
from epsilond.ledgers.log.keys import SigningKey
from epsilond.ledgers.log.signing import SigningKeys
from epsilond.ledgers.requests import CommitAsked, OpenLedger, ReserveAsked
from epsilond.ledgers.store.opening import open_store
from epsilond.reading import read

TENANT = "benchmark"
LEDGERS = (8, 1)
"""Numbers of ledgers over which the writers are spread."""
RUNS = 100_000
"""Number of runs of each reservation; larger than the number of commits of a writer."""
QUERY = {"kind": "gaussian", "noise_multiplier": 1e5}
LEDGER = {
    "name": "people",
    "unit": "record",
    "relation": "add-or-remove-one",
    "observer": "released-models",
    "target": {"epsilon": 8.0, "delta": 1e-6},
    "slots": [{"kind": "gdp", "capacity": {"mu_squared": "0.1001", "eta": "1e-7"}}],
    "declared": {"inputs": "functions-of-releases", "sealed": True, "released_before": False},
}
HEAD = ("store", "writers", "processes", "ledgers", "commits/s", "p50", "p99", "CPU a commit")


@dataclass(frozen=True)
class Load:
    """The writers of one process, which commit in the ledgers of one database.

    Attributes:
        place: path or URL of the database.
        seed: 32 private bytes of the key that signs the log.
        reservations: id of a reservation for each writer.
        seconds: duration of the measurement, in seconds.
    """

    place: str
    seed: bytes
    reservations: tuple[str, ...]
    seconds: float


@contextmanager
def open_book(place: str, seed: bytes) -> Iterator[Book]:
    """Open the book in a database, signed by one key."""
    key = SigningKey("example.org/benchmark", Ed25519PrivateKey.from_private_bytes(seed))
    keys = SigningKeys.new(key, datetime(2026, 1, 1, tzinfo=UTC))
    with closing(open_store(place)) as database:
        yield Book(database, lambda: keys)


def commit_runs(load: Load) -> tuple[list[float], float]:
    """Let all writers of one process commit runs for some time, each in a thread of its own.

    Args:
        load: the database, the reservations of the writers, and the duration.

    Returns:
        Durations of all commits in seconds, and the CPU seconds of the process.
    """
    stop = threading.Event()
    cpu_start = time.process_time()
    with open_book(load.place, load.seed) as book, ThreadPoolExecutor(len(load.reservations)) as pool:
        writers = [pool.submit(_commit_until, stop, book, reservation) for reservation in load.reservations]
        stop.wait(load.seconds)
        stop.set()
        durations = list(chain.from_iterable(writer.result() for writer in writers))
    return durations, time.process_time() - cpu_start


def _commit_until(stop: threading.Event, book: Book, reservation: str) -> list[float]:
    """Return the durations of the commits that one writer makes until an event."""
    durations = []
    while not stop.is_set():
        begun = time.perf_counter()
        book.commit(TENANT, reservation, CommitAsked(count=1), secrets.token_urlsafe(12))
        durations.append(time.perf_counter() - begun)
    return durations


def measure(place: str, *, writers: int, processes: int, ledgers: int, seconds: float) -> Sequence[object]:
    """Measure the commits of several writers in one database.

    Args:
        place: path or URL of the database.
        writers: number of writers.
        processes: number of processes that share the writers.
        ledgers: number of ledgers over which the writers are spread.
        seconds: duration of the measurement, in seconds.

    Returns:
        Cells of a row: commits per second, median and 99th percentile of their durations, and CPU time of a commit.
    """
    seed = secrets.token_bytes(32)
    with open_book(place, seed) as book:
        reservations = _reserve_runs(book, writers, ledgers)
    # Every process gets an equal share of the writers.
    shares = [Load(place, seed, tuple(reservations[first::processes]), seconds) for first in range(processes)]
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        results = pool.map(commit_runs, shares)
    durations = sorted(chain.from_iterable(durations_of_process for durations_of_process, _ in results))
    cpu_seconds = sum(cpu_of_process for _, cpu_of_process in results)
    # Quantiles of the sorted durations, in milliseconds.
    p50, p99 = (1e3 * durations[int(share * (len(durations) - 1))] for share in (0.5, 0.99))
    rate = len(durations) / seconds
    cpu_of_commit = 1e3 * cpu_seconds / len(durations)
    return f"{rate:.0f}", f"{p50:.0f} ms", f"{p99:.0f} ms", f"{cpu_of_commit:.1f} ms"


def _reserve_runs(book: Book, writers: int, ledgers: int) -> list[str]:
    """Open new ledgers, and reserve runs for each writer in one of them.

    Args:
        book: the book of ledgers.
        writers: number of writers.
        ledgers: number of ledgers, which the writers use in turn.

    Returns:
        Ids of the reservations, one for each writer.
    """
    ledger_ids = []
    for _ in range(ledgers):
        request = read(OpenLedger, LEDGER | {"dataset": secrets.token_hex(8)})
        ledger_ids.append(book.open(TENANT, request, secrets.token_urlsafe(12)).id)
    runs = read(ReserveAsked, {"slot": "gdp", "spec": QUERY, "count": RUNS})
    return [
        book.reserve(TENANT, [ledger_ids[writer % ledgers]], runs, secrets.token_urlsafe(12)).id
        for writer in range(writers)
    ]


def main() -> None:
    """Measure commits with each number of writers and ledgers, print the table, and with --write store it."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--postgresql", help="URL of a server, without a database: a new one is made and dropped")
    options.add_argument("--writers", type=int, nargs="+", default=[16, 8])
    options.add_argument("--processes", type=int, nargs="+", default=[1])
    options.add_argument("--write", action="store_true", help="write the section of docs/benchmarks.md")
    chosen = options.parse_args()
    rows = []
    for writers in chosen.writers:
        for ledgers in LEDGERS:
            with tempfile.TemporaryDirectory() as folder:
                figures = measure(
                    str(Path(folder) / "ledgers.sqlite"),
                    writers=writers,
                    processes=1,
                    ledgers=ledgers,
                    seconds=chosen.seconds,
                )
            rows.append(("SQLite", writers, 1, ledgers, *figures))
            if chosen.postgresql:
                rows += [
                    ("PostgreSQL", writers, processes, ledgers, *_on_server(chosen, writers, processes, ledgers))
                    for processes in chosen.processes
                ]
    lines = [tuple(map(str, row)) for row in rows]
    tables.show("Commits of ledgers", HEAD, lines)
    if chosen.write:
        date = datetime.now(tz=UTC).date().isoformat()
        command = f"`python -m benchmarks.ledger --seconds {chosen.seconds:g}`, {date}: {tables.machine()}."
        tables.write_section("ledger", f"{command}\n\n{tables.as_markdown(HEAD, lines)}")


def _on_server(chosen: argparse.Namespace, writers: int, processes: int, ledgers: int) -> Sequence[object]:
    """Measure in a new database of a server."""
    with new_database(chosen.postgresql) as place:
        return measure(place, writers=writers, processes=processes, ledgers=ledgers, seconds=chosen.seconds)


@contextmanager
def new_database(url: str) -> Iterator[str]:
    """Make a database on a server for the time of the context, and drop it at the end.

    Args:
        url: URL of a PostgreSQL server, with user and password.

    Yields:
        URL of the new database, with the password.
    """
    name = f"epsilond_{secrets.token_hex(8)}"
    server = make_url(url)
    # Databases are made from another database, outside of transactions.
    maintenance = create_engine(server.set(database="postgres"), isolation_level="AUTOCOMMIT")
    with maintenance.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE template0"))
    try:
        yield server.set(database=name).render_as_string(hide_password=False)
    finally:
        with maintenance.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))


if __name__ == "__main__":
    main()

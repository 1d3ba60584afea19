"""Moves of ledgers a second: python -m benchmarks.ledger_writers [--postgresql URL] [--writers 8] [--moves 400].

A move reads a ledger, locks it, debits an amount, and appends an entry with its nodes and its idempotency key: all of
what a commit writes, without the mathematics. Writers are threads. One ledger is hot, or 64 are chosen from at random.
"compared" reads outside the transaction and repeats when somebody moved in between; "inside" loads under the lock, as
charges that cost nothing to judge may. Moves a second are by the wall clock, as disks and waits are what is measured,
and depend on whatever else the machine does; CPU is this process's alone.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from itertools import count
from pathlib import Path

from rich.console import Console
from sqlalchemy.engine import make_url

from benchmarks import document, tables
from epsilond.ledgers.storage import entries, keys, ledgers
from epsilond.ledgers.storage.nodes import StoredNodes
from epsilond.ledgers.storage.opening import opened
from epsilond.ledgers.storage.records import EntryRow, KeptAnswer, LedgerRow, PartRow
from epsilond.ledgers.storage.transactions import Again, looking, moving
from epsilond.storage.transactions import Database

COST = Decimal("0.0001")
NAMES = count()
HEAD = ("database", "ledgers", "judged", "moves a second", "CPU, ms a move", "repeated")


def opens(database: Database, many: int) -> list[str]:
    """New ledgers; answers their ids."""
    part = PartRow(kind="gdp", part="mu_squared", capacity=Decimal(1000))
    made = [f"ledger{next(NAMES)}" for _ in range(many)]
    with moving(database, {}) as connection:
        for name in made:
            row = LedgerRow(id=name, tenant="t", dataset=name, name=name, record="{}", created=0.0, parts=(part,))
            ledgers.add(connection, row)
    return made


def move(database: Database, identifier: str, key: str, *, inside: bool) -> int:
    """Make one; answers how often it was repeated."""
    repeated = 0
    while True:
        row, version = None, None
        if not inside:
            with looking(database) as connection:
                row = ledgers.load(connection, identifier)[identifier]
            version = row.version
        try:
            with moving(database, {identifier: version}) as connection:
                row = row or ledgers.load(connection, identifier)[identifier]
                (part,) = row.parts
                after = replace(part, used=part.used + COST, held=part.held + COST)
                ledgers.write(connection, row, replace(row, parts=(after,)))
                seq = entries.take(connection, 1)
                leaf = f'{{"seq":{seq},"charge":"{COST}","ledger":"{identifier}"}}'.encode()
                entry = EntryRow(seq=seq, at=time.time(), tenant="t", kind="commit", ledger=identifier, leaf=leaf)
                entries.append(connection, [entry])
                nodes = StoredNodes(connection)
                nodes.read([(level, (seq >> level) - 1) for level in range(seq.bit_length()) if (seq >> level) & 1])
                nodes.write({(0, seq): entries.digest(leaf)})
                answer = KeptAnswer(tenant="t", key=key, fingerprint="f", answer=leaf, at=time.time())
                keys.keep(connection, answer)
        except Again:
            repeated += 1
        else:
            return repeated


def measured(database: Database, many: int, writers: int, moves: int, *, inside: bool) -> tuple[float, float, int]:
    """Moves a wall second, CPU milliseconds a move, and how many were repeated."""
    made = opens(database, many)
    start = threading.Barrier(writers + 1)

    def write(seed: int) -> int:
        chosen = random.Random(seed)
        start.wait()
        return sum(
            move(database, chosen.choice(made), f"{made[0]} {seed} {each}", inside=inside)
            for each in range(moves // writers)
        )

    with ThreadPoolExecutor(writers) as pool:
        asked = [pool.submit(write, seed) for seed in range(writers)]
        start.wait()
        wall, cpu = time.perf_counter(), time.process_time()
        repeated = sum(each.result() for each in asked)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    done = moves // writers * writers
    with looking(database) as connection:
        rows = ledgers.load(connection, *made).values()
    if sum(row.parts[0].used for row in rows) != COST * done or sum(row.version for row in rows) != done:
        raise RuntimeError("moves were lost")
    return done / wall, 1000.0 * cpu / done, repeated


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger_writers", description=summary)
    parser.add_argument("--postgresql", metavar="URL", help="of an empty database; without it only SQLite is measured")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--moves", type=int, default=400)
    chosen = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        places = {"SQLite": Path(folder) / "ledgers.sqlite"}
        if chosen.postgresql:
            places["PostgreSQL"] = make_url(chosen.postgresql)
        for name, place in places.items():
            database = opened(place)
            try:
                for many in (1, 64):
                    for inside in (False, True):
                        found = measured(database, many, chosen.writers, chosen.moves, inside=inside)
                        judged = "inside" if inside else "compared"
                        rows.append((name, str(many), judged, f"{found[0]:.0f}", f"{found[1]:.2f}", str(found[2])))
            finally:
                database.close()
    title = f"{chosen.writers} writers, {chosen.moves} moves"
    Console(width=120).print(tables.as_rich(title, HEAD, rows))
    Console().print(document.machine())
    return 0


if __name__ == "__main__":
    sys.exit(main())

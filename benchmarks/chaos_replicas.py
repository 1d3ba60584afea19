"""Minutes of chaos on two replicas over one PostgreSQL: python -m benchmarks.chaos_replicas --minutes 10.

Two services share a database behind a proxy (nginx with deploy/nginx.conf where it is installed). Clients post
simulations and questions with idempotency keys, as jobs or to wait for them, repeat what was cut off under the same
key, and follow what they got; all the while workers are killed, connections of the database are ended by its server,
and replicas are stopped or killed and started again. It must hold that

- every job that was taken in ends as done, on whichever replica, and its result is what the library answers to the same
  question on this machine, byte for byte as JSON;
- one key makes one job, and an answer that was once seen stays;
- no answer is a 5xx but 503, and every 503 and 429 carries Retry-After;
- no process is left of a replica that has gone.

The database is a new one of --server, a URL without a name; without it, of the server that the tests would use. The
figures are printed; the exit code is 1 if anything of this failed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg

import epsilond
from benchmarks.chaos import ROOT, Service, family
from benchmarks.chaos_clients import END_SECONDS, TRY_SECONDS, Client, Question, Seen, check
from benchmarks.proxy import NGINX, free_port, proxy
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.planning.examples import EXAMPLES
from epsilond.witness.kinds import KINDS

CLIENTS = 4
SEEDS = 4
WORKER_SECONDS, CONNECTION_SECONDS, REPLICA_SECONDS = 3.0, 4.0, 20.0
"""Mean times between two kills of a worker, of a connection, of a replica."""
SLOW = ("shuffled-mb-sgd", "qtdl", "norm-fedavg", "mb-sgd")
SERVE = "from epsilond.app.serve import serve; serve()"


def questions() -> list[Question]:
    """Simulations of several seeds, slow calibrations of several targets, and a plan of each."""
    made = [
        Question("/v1/simulations", json.dumps({**kind.example, "seed": seed}), epsilond.simulate)
        for kind in KINDS
        for seed in range(SEEDS)
    ]
    for calibrator in CALIBRATORS:
        if calibrator.name in SLOW:
            made += [
                Question(
                    f"/v1/calibrations/{calibrator.name}",
                    json.dumps({**calibrator.example, "epsilon": 1.0 + place / 8}),
                    _calibration(calibrator.name),
                )
                for place in range(SEEDS)
            ]
    plan = EXAMPLES["one problem"]
    made += [Question("/v1/plans", json.dumps({**plan, "epsilon": 2.0 + seed}), _plan) for seed in range(2)]
    return made


def _calibration(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda body: epsilond.calibrate(name, **body)


def _plan(body: dict[str, Any]) -> Any:
    return epsilond.plan(**body)


class Replica(Service):
    """One of them, on its own port over the shared database."""

    def start(self) -> None:
        """Start it; the proxy finds it when it is ready."""
        environ = {
            **os.environ,
            "EPSILOND_PORT": str(self.port),
            "EPSILOND_WORKERS": "1",
            "EPSILOND_SPARE_WORKERS": "0",
            "EPSILOND_DEADLINE_SECONDS": "5",
            "EPSILOND_LEASE_SECONDS": "4",
            "EPSILOND_STORE_JOBS": "1000000",  # nothing is forgotten before it has been looked at once more
            "EPSILOND_STORE_URL": self.store,
            "EPSILOND_TRUSTED_PROXIES": "127.0.0.1",
            "EPSILOND_CALLER_JOBS": "1000",
            "EPSILOND_CALLER_CPU_SECONDS_PER_MINUTE": "0",
            "EPSILOND_LOG_LEVEL": "error",
        }
        self.process = subprocess.Popen([sys.executable, "-c", SERVE], cwd=ROOT, env=environ)
        self.peaks.append((0.0, 0.0))

    def look(self) -> list[int]:
        """All that it has started; remembered, to see that none is left."""
        assert self.process is not None
        found = family(self.process.pid)[1:]
        self.workers.update(found)
        return found


class Killer:
    """Ends workers, connections and replicas at random."""

    def __init__(self, seed: int, replicas: Sequence[Replica], server: str, seen: Seen) -> None:
        self.random = random.Random(seed)
        self.replicas = replicas
        self.server = server
        self.seen = seen
        self.due = {kill: time.monotonic() + self.random.expovariate(1 / mean) for kill, mean in self.means.items()}

    @property
    def means(self) -> Mapping[str, float]:
        """Of the times between two of a sort."""
        return {"worker": WORKER_SECONDS, "connection": CONNECTION_SECONDS, "replica": REPLICA_SECONDS}

    def turn(self) -> None:
        """Do what is due."""
        for replica in self.replicas:
            replica.look()
        for kill, due in self.due.items():
            if time.monotonic() > due:
                getattr(self, kill)()
                self.due[kill] = time.monotonic() + self.random.expovariate(1 / self.means[kill])

    def worker(self) -> None:
        """A process of a replica that is not its own."""
        found = self.random.choice(self.replicas).look()
        with suppress(ProcessLookupError, IndexError):
            os.kill(self.random.choice(found), signal.SIGKILL)
            self.seen.counts["workers killed"] += 1

    def connection(self) -> None:
        """One of the database, by its server."""
        ended = "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE datname = "
        ended += "current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1) AS one"
        with psycopg.connect(self.server, autocommit=True) as connection:
            self.seen.counts["connections of the database ended"] += len(connection.execute(ended).fetchall())

    def replica(self) -> None:
        """A whole replica, kindly or not; it is started again at once, and the other goes on meanwhile."""
        chosen, name = self.random.choice(self.replicas), self.random.choice((signal.SIGTERM, signal.SIGKILL))
        left = chosen.end(name)
        self.seen.counts[f"replicas ended by {name.name}"] += 1
        if left:
            self.seen.fault(f"{left} processes were left after {name.name}")
        chosen.start()


@contextmanager
def running(replicas: Sequence[Replica]) -> Iterator[None]:
    """They run, and are gone afterwards."""
    try:
        for replica in replicas:
            replica.start()
        yield
    finally:
        for replica in replicas:
            if replica.process is not None and replica.process.poll() is None:
                replica.end(signal.SIGTERM)


def wait_until_ready(replicas: Sequence[Replica]) -> None:
    """All of them.

    Raises:
        RuntimeError: one has ended, or does not get ready.
    """
    until = time.monotonic() + END_SECONDS
    for replica in replicas:
        while True:
            with suppress(httpx.TransportError):
                if httpx.get(f"http://127.0.0.1:{replica.port}/readyz", timeout=90.0).status_code == 200:
                    break
            if replica.process is None or replica.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError("a replica did not get ready")
            time.sleep(0.1)


def chaos(
    server: str, seconds: float, seed: int, folder: Path, asked: Sequence[Question]
) -> tuple[Mapping[str, Any], Sequence[str]]:
    """Run it over this database, which nobody else uses; answers the figures and what failed."""
    seen = Seen()
    url = server.replace("postgresql://", "postgresql+psycopg://", 1)
    replicas = [Replica("", url, free_port()) for _ in range(2)]
    with running(replicas), proxy(folder, [replica.port for replica in replicas]) as port:
        clients = [Client(seed + place, f"http://127.0.0.1:{port}", asked, seen) for place in range(CLIENTS)]
        wait_until_ready(replicas)
        for client in clients:
            client.start()
        killer, began = Killer(seed, replicas, server, seen), time.monotonic()
        while time.monotonic() < began + seconds:
            killer.turn()
            time.sleep(0.05)
        for client in clients:
            client.stopped.set()
        for client in clients:
            client.join(2 * TRY_SECONDS)
            if client.is_alive():
                seen.fault("a client hangs")
            client.client.close()
        last = Client(seed, f"http://127.0.0.1:{port}", asked, seen)
        check(last)
        last.client.close()
        for replica in replicas:
            if left := replica.end(signal.SIGTERM):
                seen.fault(f"{left} processes were left at the end")
    figures = {
        "minutes": round((time.monotonic() - began) / 60, 2),
        "proxy": "nginx" if NGINX else "our own",
        "jobs": len(seen.jobs),
        "answers compared with the library": len(seen.results),
        "different questions": len(seen.by_question),
        **dict(sorted(seen.counts.items())),
    }
    return figures, seen.faults


@contextmanager
def database(server: str | None) -> Iterator[str]:
    """A new database, of this server or of the one that the tests would use.

    Raises:
        RuntimeError: there is none.
    """
    from tests.app import postgresql

    with ExitStack() as stack:
        url = server or postgresql.found()
        programs = postgresql.installed()
        if url is None and programs is not None:
            url = stack.enter_context(postgresql.started(programs))
        if url is None:
            raise RuntimeError("there is no PostgreSQL: give a --server, or install one")
        yield stack.enter_context(postgresql.database_of(url))


def main() -> int:
    """Run it as told; answers the exit code."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos_replicas", description=about)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--server", help="as postgresql://user@127.0.0.1:5432; databases are made there")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, database(chosen.server) as url:
        figures, faults = chaos(url, 60.0 * chosen.minutes, chosen.seed, Path(folder), questions())
    for name, value in figures.items():
        print(f"{name}: {value}")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

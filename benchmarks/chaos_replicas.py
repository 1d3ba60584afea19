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
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg

import epsilond
from benchmarks.chaos import ENDED, ROOT, Service, family
from benchmarks.proxy import NGINX, free_port, proxy
from epsilond.calibrators import CALIBRATORS
from epsilond.calibrators.planning.examples import EXAMPLES
from epsilond.witness.kinds import KINDS
from epsilond.witness.one_thread import one_thread

CLIENTS = 4
SEEDS = 4
WORKER_SECONDS, CONNECTION_SECONDS, REPLICA_SECONDS = 3.0, 4.0, 20.0
"""Mean times between two kills of a worker, of a connection, of a replica."""
TRY_SECONDS = 180.0
"""How long a client tries again what is refused or cut off."""
END_SECONDS = 600.0
"""How long what was taken in may take to end once nothing is killed any more."""
SLOW = ("shuffled-mb-sgd", "qtdl", "norm-fedavg", "mb-sgd")
SERVE = "from epsilond.app.serve import serve; serve()"


@dataclass(frozen=True)
class Question:
    """What is posted where, and how the library is asked the same."""

    path: str
    body: str
    ask: Callable[[dict[str, Any]], Any]

    def expected(self) -> str:
        """The digest of the library's answer."""
        with one_thread():
            return digest(json.loads(json.dumps(epsilond.as_json(self.ask(json.loads(self.body))))))


def digest(answer: Any) -> str:
    """Equal for equal JSON."""
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()


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


@dataclass
class Seen:
    """What clients have seen."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    jobs: dict[str, Question] = field(default_factory=dict)
    """By the path of the job."""
    results: dict[str, str] = field(default_factory=dict)
    """Of each job that was seen done, and of each answer that came at once."""
    by_question: dict[Question, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def fault(self, text: str) -> None:
        """Something does not hold."""
        with self.lock:
            self.faults.append(text)

    def checked(self, response: httpx.Response) -> httpx.Response:
        """Its status is one that may be."""
        with self.lock:
            self.counts[f"{response.request.method} {response.status_code}"] += 1
        if response.status_code in (429, 503) and "retry-after" not in response.headers:
            self.fault(f"{response.status_code} without Retry-After: {response.request.url.path}")
        elif response.status_code >= 500 and response.status_code != 503:
            self.fault(f"{response.status_code}: {response.request.url.path}: {response.text[:500]}")
        return response

    def answered(self, question: Question, answer: Any, where: str) -> None:
        """An answer, which is the same wherever and whenever the question is answered."""
        found = digest(answer)
        with self.lock:
            known = self.results.setdefault(where, found), self.by_question.setdefault(question, found)
        if known != (found, found):
            self.fault(f"{where} has another result than before: {question.path} {question.body}")


class Client(threading.Thread):
    """Posts and follows until it is told to stop; what is cut off or refused for now is sent again under its key."""

    def __init__(self, seed: int, url: str, asked: Sequence[Question], seen: Seen) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(seed)
        self.client = httpx.Client(base_url=url, timeout=90.0)
        self.asked = asked
        self.seen = seen
        self.stopped = threading.Event()

    def run(self) -> None:
        """One thing after another."""
        while not self.stopped.is_set():
            try:
                self.one()
            except Exception as error:  # noqa: BLE001 (a finding)
                self.seen.fault(repr(error))

    def send(self, method: str, path: str, **given: Any) -> httpx.Response:
        """The answer, once there is one that is neither a refusal for now nor a connection that was cut.

        Raises:
            TimeoutError: there was none for long.
        """
        until = time.monotonic() + TRY_SECONDS
        while time.monotonic() < until:
            try:
                response = self.seen.checked(self.client.request(method, path, **given))
            except httpx.TransportError:
                self.seen.counts["connections cut"] += 1
                time.sleep(0.1)
                continue
            if response.status_code not in (429, 503):
                return response
            time.sleep(min(2.0, float(response.headers.get("retry-after", 1))))
        raise TimeoutError(f"{method} {path} was refused or cut off for {TRY_SECONDS:g} s")

    def one(self) -> None:
        """Post one question, and do one thing with its job."""
        pick = self.random
        question = pick.choice(self.asked)
        headers = {"idempotency-key": f"{pick.getrandbits(64):x}", "content-type": "application/json"}
        headers["prefer"] = pick.choice(("respond-async", "respond-async", "wait=5"))
        response = self.send("POST", question.path, content=question.body, headers=headers)
        if response.status_code not in (200, 201, 202):
            self.seen.fault(f"{question.path} answered {response.status_code}: {response.text[:500]}")
            return
        where = response.headers.get("location")
        if where is None:
            self.seen.answered(question, response.json(), f"{question.path} {headers['idempotency-key']}")
            return
        where = f"/v1/jobs/{where.rpartition('/')[2]}"
        with self.seen.lock:
            self.seen.jobs[where] = question
        if pick.random() < 0.2:
            again = self.send("POST", question.path, content=question.body, headers=headers)
            if again.headers.get("location", where).rpartition("/")[2] != where.rpartition("/")[2]:
                self.seen.fault(f"one key made two jobs: {where} and {again.headers['location']}")
        {"leave": self.leave, "wait": self.wait, "events": self.events}[pick.choice(("leave", "wait", "events"))](where)

    def leave(self, where: str) -> None:
        """Somebody may come back for it later: at the end everything is looked at."""
        del where
        time.sleep(self.random.expovariate(2.0))

    def wait(self, where: str) -> None:
        """Ask again and again until it has ended, and fetch its result."""
        while not self.stopped.is_set():
            job = self.send("GET", where, headers={"prefer": "wait=5"}).json()
            if job.get("state") in ENDED:
                result(self, where)
                return

    def events(self, where: str) -> None:
        """Follow its events as long as the connection holds."""
        with suppress(httpx.TransportError), self.client.stream("GET", f"{where}/events") as stream:
            if self.seen.checked(stream).status_code == 200:
                for line in stream.iter_lines():
                    if line.removeprefix("event: ") in ENDED:
                        self.seen.counts["streams to the end"] += 1
                        result(self, where)
                    if self.stopped.is_set():
                        return


def result(client: Client, where: str) -> None:
    """A job that has ended is done, and its result is right."""
    response = client.send("GET", f"{where}/result")
    if response.status_code != 200:
        client.seen.fault(f"{where} has no result: {response.status_code} {response.text[:500]}")
        return
    client.seen.answered(client.seen.jobs[where], response.json(), where)


def check(client: Client) -> None:
    """Everything that was taken in ends as done, with the right result."""
    until = time.monotonic() + END_SECONDS
    for where in sorted(client.seen.jobs):
        job: Mapping[str, Any] = {}
        while job.get("state") not in ENDED and time.monotonic() < until:
            response = client.send("GET", where, headers={"prefer": "wait=5"})
            if response.status_code != 200:
                client.seen.fault(f"{where} is lost: {response.status_code}")
                break
            job = response.json()
        if job.get("state") != "done":
            client.seen.fault(f"{where} is {job.get('state')}: {job.get('problem')}")
        else:
            result(client, where)
    for question, found in client.seen.by_question.items():
        if found != question.expected():
            client.seen.fault(f"the library answers something else: {question.path} {question.body}")


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

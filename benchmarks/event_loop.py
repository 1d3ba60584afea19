"""What each request costs the event loop: python -m benchmarks.event_loop [--only NAME] [--most-milliseconds 20].

Runs the service in a thread of this process, sends each endpoint of the OpenAPI document its example, hostile bodies of
at most 1 MB and the documents themselves, and reads the CPU clock of the loop's thread before and after each. Beside it
/healthz is asked all the time. Exits with 1 where a request costs the loop more than 20 ms.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
from rich.console import Console

from benchmarks import tables
from benchmarks.hostile import Asked, documents, examples_of, hostile
from epsilond.app import logs, serve
from epsilond.app.main import create_app
from epsilond.app.settings import Settings

MOST_MILLISECONDS = 20.0
PATIENCE = 300.0
HEAD = ("request", "bytes", "status", "loop CPU, ms", "wall, ms", "worst /healthz, ms")


@dataclass
class Probe:
    """Asks /healthz all the time, from a thread of its own, and keeps the worst."""

    url: str
    worst: float = 0.0
    ends: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Ask until told to end."""
        with httpx.Client(base_url=self.url, timeout=PATIENCE) as client:
            while not self.ends.wait(0.005):
                began = time.perf_counter()
                client.get("/healthz")
                self.worst = max(self.worst, time.perf_counter() - began)


@dataclass(frozen=True)
class Cost:
    """What one request took."""

    asked: Asked
    status: int
    loop_seconds: float
    seconds: float
    worst_healthz: float

    def cells(self) -> tuple[str, ...]:
        """As a row."""
        times = (self.loop_seconds, self.seconds, self.worst_healthz)
        return (self.asked.name, str(len(self.asked.body)), str(self.status), *(f"{1000 * each:.1f}" for each in times))


@contextmanager
def service() -> Iterator[tuple[str, int]]:
    """The service in a thread: its address, and the CPU clock of that thread."""
    chosen = Settings(port=0, store_path=":memory:", deadline_seconds=PATIENCE)
    server = serve.server(create_app(settings=chosen), chosen)
    server.alone = True  # as it is where it is started by its command
    thread = threading.Thread(target=server.run, name="event-loop")
    thread.start()
    try:
        while not server.started:
            time.sleep(0.05)
        url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        while httpx.get(f"{url}/readyz", timeout=PATIENCE).status_code != 200:
            time.sleep(0.2)
        assert thread.ident is not None
        yield url, time.pthread_getcpuclockid(thread.ident)
    finally:
        server.should_exit = True
        thread.join()


def measure(url: str, clock: int, asked: Asked, probed: bool) -> Cost:
    """One request; without the probe beside it, what the loop spends is this request's alone."""
    probe = Probe(url)
    probing = threading.Thread(target=probe.run)
    if probed:
        probing.start()
    try:
        with httpx.Client(base_url=url, timeout=PATIENCE) as client:
            client.get("/healthz")  # the connection is there
            began, before = time.perf_counter(), time.clock_gettime(clock)
            answer = client.request(asked.method, asked.path, content=asked.body, headers=asked.headers)
            spent, seconds = time.clock_gettime(clock) - before, time.perf_counter() - began
            where = answer.headers.get("location", "")
            if answer.status_code in (201, 202) and where:
                client.delete(where)  # what was started is not wanted
    finally:
        probe.ends.set()
        if probed:
            probing.join()
    return Cost(asked, answer.status_code, spent, seconds, probe.worst)


def cost(url: str, clock: int, asked: Asked) -> Cost:
    """Asked twice: beside the probe, for the worst /healthz, and alone, for what the loop spends on it."""
    alone = measure(url, clock, asked, probed=False)  # first, for it may be answered from the cache afterwards
    beside = measure(url, clock, asked, probed=True)
    return Cost(asked, alone.status, alone.loop_seconds, beside.seconds, beside.worst_healthz)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and answer 1 where a request costs the loop too much."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.event_loop", description=__doc__)
    parser.add_argument("--only", default="", help="requests whose name holds this")
    parser.add_argument("--most-milliseconds", type=float, default=MOST_MILLISECONDS)
    chosen = parser.parse_args(arguments)
    logs.configure("error")
    with service() as (url, clock), httpx.Client(base_url=url, timeout=PATIENCE) as client:
        document = json.loads(client.get("/openapi.json").content)
        every = (*documents(document), *examples_of(document), *hostile(document))
        costs = [cost(url, clock, asked) for asked in every if chosen.only in asked.name]
    costs.sort(key=lambda it: -it.loop_seconds)
    Console(width=150).print(tables.as_rich("The event loop", HEAD, [each.cells() for each in costs]))
    over = [each for each in costs if 1000 * each.loop_seconds > chosen.most_milliseconds]
    failed = [each for each in costs if each.status >= 500 and each.status != 503]
    Console(width=150).print(
        f"{len(costs)} requests; {len(over)} cost the loop more than {chosen.most_milliseconds:g} ms,"
        f" {len(failed)} were answered 5xx"
    )
    return 1 if over or failed else 0


if __name__ == "__main__":
    sys.exit(main())

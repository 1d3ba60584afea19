"""Hostile bodies without end, and who else waits meanwhile: python -m benchmarks.flood [--seconds 20] [--clients 4].

Starts `epsilond serve` on a free port. Clients send it every hostile body of `benchmarks.hostile`, over and over.
Beside them /healthz is asked all the time, and a new account, each from an address of its own (the loopback has many).
Every client is a process of its own, so that none waits for another's interpreter. Prints what they waited, what the
hostile requests were answered, and how much memory the service and its workers held at most.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from statistics import quantiles

import httpx

from benchmarks.chaos import family
from benchmarks.hostile import hostile
from benchmarks.service import started

PATIENCE = 120.0
PATHS = 12
"""To how many paths a hostile client sends; all of them take more memory than there may be."""


Told = tuple[Counter[str], list[float]]
"""Statuses by name, and seconds waited."""


def client(url: str, address: str) -> httpx.Client:
    """A client that asks from an address of the loopback."""
    return httpx.Client(base_url=url, timeout=PATIENCE, transport=httpx.HTTPTransport(local_address=address, retries=0))


def hurt(url: str, ends: Event, begin: Barrier, seed: int) -> Told:
    """Send hostile bodies to some of the paths until told to end, all from one address."""
    statuses: Counter[str] = Counter()
    chance = random.Random(seed)
    with client(url, "127.0.0.2") as mine:
        paths = json.loads(mine.get("/openapi.json").content)["paths"]
        asked = list(hostile({"paths": {path: paths[path] for path in chance.sample(sorted(paths), PATHS)}}))
        chance.shuffle(asked)
        begin.wait()
        for each in itertools.cycle(asked):
            if ends.is_set():
                break
            with suppress(httpx.HTTPError):
                answer = mine.request(each.method, each.path, content=each.body, headers=dict(each.headers))
                statuses[str(answer.status_code)] += 1
    return statuses, []


def ask_healthz(url: str, ends: Event) -> Told:
    """Ask whether it lives, every ten milliseconds."""
    waited = []
    with client(url, "127.0.0.3") as mine:
        while not ends.wait(0.01):
            began = time.perf_counter()
            mine.get("/healthz").raise_for_status()
            waited.append(time.perf_counter() - began)
    return Counter(), waited


def ask_accounts(url: str, ends: Event) -> Told:
    """Ask for one new account after the other."""
    statuses: Counter[str] = Counter()
    waited = []
    with client(url, "127.0.0.4") as mine:
        while not ends.wait(0.05):
            spec = {"kind": "gaussian", "noise_multiplier": 1.0 + random.random()}
            body = {
                "spec": spec,
                "relation": "add-or-remove-one",
                "query": {"delta": 1e-6},
                "unit": "record",
                "observer": "server",
            }
            began = time.perf_counter()
            answer = mine.post("/v1/accounts", json=body)
            waited.append(time.perf_counter() - began)
            statuses[f"account {answer.status_code}"] += 1
    return statuses, waited


def memory(process: int) -> int:
    """What a process and those below it hold for themselves, in bytes: shared pages are counted by their share."""
    total = 0
    for each in family(process):
        with suppress(OSError), Path(f"/proc/{each}/smaps_rollup").open() as rolled:
            total += sum(int(line.split()[1]) * 1024 for line in rolled if line.startswith("Pss:"))
    return total


def main(arguments: Sequence[str] | None = None) -> None:
    """Flood a service of its own."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flood")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--clients", type=int, default=4)
    chosen = parser.parse_args(arguments)
    spawning = multiprocessing.get_context("spawn")
    with started() as (service, port), spawning.Manager() as shared:
        url, ends, process, most = f"http://127.0.0.1:{port}", shared.Event(), service.pid, 0
        before = memory(process)
        with ProcessPoolExecutor(chosen.clients + 2, mp_context=spawning) as pool:
            begin = shared.Barrier(chosen.clients + 1)
            hurting = [pool.submit(hurt, url, ends, begin, seed) for seed in range(chosen.clients)]
            begin.wait()
            healthz, accounts = pool.submit(ask_healthz, url, ends), pool.submit(ask_accounts, url, ends)
            until = time.monotonic() + chosen.seconds
            while time.monotonic() < until:
                most = max(most, memory(process))
                time.sleep(0.2)
            ends.set()
            statuses = sum((each.result()[0] for each in (*hurting, accounts)), Counter[str]())
    print(
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {chosen.clients} hostile clients, {chosen.seconds} s"
    )
    for name, (_, times) in (("/healthz", healthz.result()), ("accounts", accounts.result())):
        cuts = quantiles([1e3 * each for each in times], n=100)
        p50, p99 = cuts[49], cuts[98]
        print(f"{name}: {len(times)} asked, p50 {p50:.1f} ms, p99 {p99:.1f} ms, slowest {1e3 * max(times):.1f} ms")
    print("answers:", dict(sorted(statuses.items())))
    print(f"memory of service and workers: {before / 1e6:.0f} MB before, {most / 1e6:.0f} MB at most")


if __name__ == "__main__":
    main()

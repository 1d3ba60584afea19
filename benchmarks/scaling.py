"""What more workers give a simulation: python -m benchmarks.scaling. One and two are measured, a hundred simulated.

Measured on this machine, for each of three simulations: the time of a block on one core; the time until the answer with
one and two workers, by a pool of processes and by a Dask cluster on the loopback; what it takes to hand out a block of
no work and take it back, in CPU of whoever does it; and the bytes that a block sends and answers.

Simulated, event by event, for 1 to 100 workers: whoever hands out the blocks is one and does one thing at a time. For
each block it spends the measured overhead and the time that its bytes take over the network, then the block runs on a
worker for as long as one of the measured blocks took, then its answer is taken back by the same one. Preparing before
and assembling after the blocks is done by one. No worker is slower than another, and none dies.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import pickle
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from rich.console import Console

from benchmarks import document, tables
from epsilond.executors import dask_executor, in_order
from epsilond.questions.simulate import simulation_request
from epsilond.witness import simulation

ASKED: Mapping[str, Any] = {
    "mb-sgd, 200 repetitions": {
        "kind": "risk",
        "run": {"algorithm": "mb-sgd", "rounds": 40, "batch_size": 20, "step_size": 0.5},
        "problem": {"kind": "mean-estimation", "clients": 50, "samples_per_client": 1000, "dimension": 50},
        "epsilon": 2.0,
        "delta": 1e-5,
        "repetitions": 200,
    },
    "an audit, 2 million samples": {
        "kind": "audit",
        "spec": {"kind": "repeated", "times": 10, "mechanism": {"kind": "gaussian", "noise_multiplier": 4.0}},
        "relation": "add-or-remove-one",
        "unit": "record",
        "observer": "released-models",
        "delta": 1e-5,
        "samples": 2_000_000,
    },
    "the preset mu2-against-noisy-sgd": {"kind": "preset", "preset": "mu2-against-noisy-sgd"},
}
WORKERS = (1, 2, 4, 8, 16, 32, 64, 100)
MEASURED = (1, 2)
BYTES_A_SECOND = 117e6
"""Of a network of one gigabit, less its heads."""
TASKS = 300
"""Of no work, to see what handing one out takes."""


@dataclass(frozen=True, kw_only=True)
class Costs:
    """What one simulation costs in its parts."""

    before: float
    """Seconds to prepare it."""
    blocks: Sequence[float]
    """CPU seconds of each block."""
    after: float
    """Seconds to put the answer together."""
    sent: int
    answered: int
    """Bytes of a block, there and back."""


def measured(asked: Any) -> Costs:
    """Run it here, part by part: the CPU of each, on one thread."""
    request = simulation_request(asked.get("preset", asked))
    began = time.process_time()
    prepared = simulation.prepare(request)
    before = time.process_time() - began
    seconds, blocks = [], []
    for index in range(prepared.plan.blocks):
        began = time.process_time()
        blocks.append(simulation.run_block(prepared, index))
        seconds.append(time.process_time() - began)
    began = time.process_time()
    simulation.assemble(prepared, blocks)
    after = time.process_time() - began
    return Costs(
        before=before,
        blocks=seconds,
        after=after,
        sent=len(pickle.dumps(prepared)),
        answered=round(statistics.fmean(len(pickle.dumps(block)) for block in blocks)),
    )


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """A pool of processes."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool


@contextmanager
def dask(workers: int) -> Iterator[Executor]:
    """A cluster on the loopback."""
    from distributed import LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
        ) as cluster,
        dask_executor(cluster.scheduler_address) as executor,
    ):
        yield executor


EXECUTORS: Mapping[str, Callable[[int], AbstractContextManager[Executor]]] = {"processes": processes, "dask": dask}


def warm(asked: Any, place: int) -> int:
    """Import what a block needs."""
    simulation.prepare(simulation_request(asked))
    return place


def nothing(place: int) -> int:
    """A block of no work."""
    return place


def handing_out(executor: Executor) -> float:
    """CPU seconds that this process, with the scheduler in it, spends on a block of no work."""
    in_order(executor, nothing, [(place,) for place in range(TASKS)])
    began = time.process_time()
    in_order(executor, nothing, [(place,) for place in range(TASKS)])
    return (time.process_time() - began) / TASKS


def elapsed(executor: Executor, asked: Any) -> float:
    """Seconds of all blocks on an executor whose workers have imported what they need."""
    in_order(executor, warm, [(ASKED["mb-sgd, 200 repetitions"], place) for place in range(8)])
    prepared = simulation.prepare(simulation_request(asked.get("preset", asked)))
    began = time.perf_counter()
    in_order(executor, simulation.run_block, [(prepared, index) for index in range(prepared.plan.blocks)])
    return time.perf_counter() - began


SPEED_UPS = ("simulation", "executor", "workers", "CPU of the blocks, s", "until they are back, s", "speed-up")


def speed_ups(costs: Mapping[str, Costs]) -> list[tuple[str, ...]]:
    """With one and two workers, over the CPU of the blocks."""
    rows = []
    for (name, asked), (kind, make), workers in itertools.product(ASKED.items(), EXECUTORS.items(), MEASURED):
        with make(workers) as executor:
            seconds = elapsed(executor, asked)
        here = sum(costs[name].blocks)
        rows.append((name, kind, str(workers), f"{here:.1f}", f"{seconds:.1f}", f"{here / seconds:.2f}"))
    return rows


def simulated(costs: Costs, workers: int, overhead: float, bytes_a_second: float = BYTES_A_SECOND) -> float:
    """Seconds until the answer with so many workers, event by event.

    Whoever hands out takes an answer back before it hands out the next, for that is what frees a worker; it prefers
    whichever came first. Half the overhead is spent handing out, half taking back.
    """
    seconds = list(costs.blocks)
    random.Random(1).shuffle(seconds)
    give = overhead / 2 + costs.sent / bytes_a_second
    take = overhead / 2 + costs.answered / bytes_a_second
    clock, idle, running, waiting = costs.before, workers, [], iter(seconds)
    left = len(seconds)
    upcoming = next(waiting, None)
    while left:
        ended = bool(running) and running[0] <= clock
        if ended or (running and (upcoming is None or idle == 0)):
            clock = max(clock, heapq.heappop(running)) + take
            idle, left = idle + 1, left - 1
        elif upcoming is not None:
            clock += give
            heapq.heappush(running, clock + upcoming)
            idle, upcoming = idle - 1, next(waiting, None)
    return clock + costs.after


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, simulate, print; the section of docs/scaling.md is what this prints."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--parts", action="store_true", help="leave out the speed-ups, which need an idle machine")
    chosen = parser.parse_args(arguments)
    costs = {name: measured(asked) for name, asked in ASKED.items()}
    if not chosen.parts:
        shown("Measured", SPEED_UPS, speed_ups(costs))
    overheads = {}
    for kind, make in EXECUTORS.items():
        with make(1) as executor:
            overheads[kind] = handing_out(executor)
    parts = [
        (
            name,
            str(len(each.blocks)),
            f"{1e3 * statistics.fmean(each.blocks):.0f} ms",
            f"{1e3 * max(each.blocks):.0f} ms",
            f"{each.sent / 1e3:.1f} kB",
            f"{each.answered / 1e3:.1f} kB",
            f"{each.before:.2f} s",
            f"{each.after:.2f} s",
        )
        for name, each in costs.items()
    ]
    head = ("simulation", "blocks", "a block, mean", "largest", "sent", "answered", "before", "after")
    shown("Of the parts", head, parts)
    shown("To hand out a block", ("executor", "CPU, ms"), [(kind, f"{1e3 * s:.2f}") for kind, s in overheads.items()])
    rows = []
    for name, each in costs.items():
        for times in (1, 10):
            larger = replace(each, blocks=[*each.blocks] * times, after=each.after * times)
            alone = larger.before + sum(larger.blocks) + larger.after
            found = [alone / simulated(larger, workers, overheads["dask"]) for workers in WORKERS]
            what = name if times == 1 else f"of {times} times as many blocks"
            rows.append((what, str(len(larger.blocks)), *(f"{one:.1f}" for one in found)))
    shown("Speed-up, simulated, on Dask", ("simulation", "blocks", *map(str, WORKERS)), rows)
    Console().print(document.machine())
    return 0


def shown(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on the terminal, and as Markdown below."""
    Console(width=150).print(tables.as_rich(title, head, rows))
    Console(width=200, soft_wrap=True).print(tables.as_markdown(head, rows), markup=False)


if __name__ == "__main__":
    sys.exit(main())

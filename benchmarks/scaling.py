"""Speed-up of a simulation by more workers: python -m benchmarks.scaling prints the tables of docs/scaling.md.

Measured on one core: the CPU and bytes of each block, and the CPU that a pool of processes and a Dask cluster on the
loopback take to hand out a block. From these the speed-up of 1 to 100 workers is simulated event by event: one process
hands out the blocks and takes back the answers, one at a time, over a network of one gigabit; no worker is slower than
another, and none dies. The last table has the CPU of a sweep, a plan and a simulation on 2 and 8 workers, all processes
included, and what these lose on as many cores.
"""

from __future__ import annotations

import heapq
import math
import multiprocessing
import os
import pickle
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from typing import Any

import epsilond
from benchmarks import tables
from epsilond.calibrators.planning.examples import EXAMPLES
from epsilond.calibrators.projected_sgd.calibrator import EXAMPLE
from epsilond.executors import RETRIES, dask_executor, run_batch
from epsilond.questions.simulate import simulation_request
from epsilond.witness import simulation

PROBLEM = {"kind": "mean-estimation", "clients": 50, "samples_per_client": 1000, "dimension": 50}
RUN = {"algorithm": "mb-sgd", "rounds": 40, "batch_size": 20, "step_size": 0.5}
SPEC = {"kind": "repeated", "times": 10, "mechanism": {"kind": "gaussian", "noise_multiplier": 4.0}}
SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
RISK = {"kind": "risk", "run": RUN, "problem": PROBLEM, "epsilon": 2.0, "delta": 1e-5, "repetitions": 200}
SIMULATIONS: Mapping[str, Any] = {
    "mb-sgd, 200 repetitions": RISK,
    "an audit, 2 million samples": {"kind": "audit", "spec": SPEC, **SETTING, "delta": 1e-5, "samples": 2_000_000},
    "the preset mu2-against-noisy-sgd": "mu2-against-noisy-sgd",
}
SWEPT = {name: value for name, value in EXAMPLE.items() if name != "epsilon"}
WORK: Mapping[str, Callable[[Executor | None], Any]] = {
    "a sweep of 200 values, projected-sgd": lambda executor: epsilond.sweep(
        "projected-sgd", "epsilon", [0.2 * 1.02**place for place in range(200)], executor=executor, **SWEPT
    ),
    "a plan, all algorithms": lambda executor: epsilond.plan(executor=executor, **EXAMPLES["one problem"]),
    "mb-sgd, 100 repetitions": lambda executor: epsilond.simulate({**RISK, "repetitions": 100}, executor=executor),
}
LOSS_HEAD = ("work", "workers", "here", "pool", "Dask", "of it idle", "client", "messages", "loss", "without sharing")
WORKERS = (1, 2, 4, 8, 16, 32, 64, 100)
BYTES_A_SECOND = 117e6
"""Throughput of a network of one gigabit, without the heads of its packets."""
TASKS = 300
"""Number of blocks without work, to measure the cost of handing one out."""
PARTS_HEAD = ("simulation", "blocks", "a block, mean", "largest", "sent", "answered", "before", "after")


@dataclass(frozen=True)
class Costs:
    """CPU seconds before the blocks, of each block and after them, and the bytes of a block, sent and answered."""

    before: float
    blocks: Sequence[float]
    after: float
    sent: int
    answered: float

    def speed_up(self, workers: int, overhead: float) -> float:
        """Return the time on one core over the simulated time; the overhead is CPU seconds a block.

        Half the overhead is spent handing out, half taking back. An answer is taken back before the next block is
        handed out, since that frees a worker.
        """
        seconds = list(self.blocks)
        random.Random(1).shuffle(seconds)
        give = overhead / 2 + self.sent / BYTES_A_SECOND
        take = overhead / 2 + self.answered / BYTES_A_SECOND
        clock, idle, running, left = self.before, workers, [], len(seconds)
        while left:
            if running and (running[0] <= clock or not seconds or idle == 0):
                clock = max(clock, heapq.heappop(running)) + take
                idle, left = idle + 1, left - 1
            else:
                clock += give
                heapq.heappush(running, clock + seconds.pop())
                idle -= 1
        return (self.before + sum(self.blocks) + self.after) / (clock + self.after)


def cpu(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return CPU seconds and result of a call."""
    begun = time.process_time()
    result = call()
    return time.process_time() - begun, result


def costs(given: Any) -> Costs:
    """Run a simulation here, part by part."""
    before, prepared = cpu(lambda: simulation.prepare(simulation_request(given)))
    blocks = [cpu(lambda index=i: simulation.run_block(prepared, index)) for i in range(prepared.plan.blocks)]  # type: ignore[misc]
    answers = [answer for _, answer in blocks]
    after, _ = cpu(lambda: simulation.assemble(prepared, answers))
    answered = statistics.fmean(len(pickle.dumps(answer)) for answer in answers)
    return Costs(before, [seconds for seconds, _ in blocks], after, len(pickle.dumps(prepared)), answered)


def handing_out_seconds(executor: Executor) -> float:
    """Return CPU seconds that this process, with the scheduler in it, spends on an empty block."""

    def hand_out() -> None:
        """Run blocks without work."""
        wait([executor.submit(run_batch, epsilond.ENGINE_VERSION, abs, [(place,)]) for place in range(TASKS)])

    hand_out()
    return cpu(hand_out)[0] / TASKS


def measure_seconds(processes: Sequence[int], call: Callable[[], Any]) -> tuple[float, float, float, float]:
    """Return CPU seconds of this thread, this process and others during a call, and its seconds by the clock."""
    clocks = [~process << 3 | 2 for process in (os.getpid(), *processes)]
    begun, thread, before = time.monotonic(), time.thread_time(), [*map(time.clock_gettime, clocks)]
    call()
    own, *remote = [time.clock_gettime(clock) - then for clock, then in zip(clocks, before, strict=True)]
    return time.thread_time() - thread, own, sum(remote), time.monotonic() - begun


def losses(workers: int, local: Mapping[str, Any]) -> list[Sequence[str]]:
    """Measure the work in one process, in a pool and on a cluster, each after a first run that imports.

    Idle threads of Dask use CPU by the clock, and this machine takes longer than as many cores. The loss is
    1 - here / (workers * time). The time is that of the client's thread and of rounds of equal batches, whose CPU is as
    measured without idle threads. The last column divides it by what sharing two cores costs the pool's processes.
    """
    from distributed import Client, LocalCluster

    rows = []
    for name, work in WORK.items():
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            work(pool)
            children = [child.pid or 0 for child in multiprocessing.active_children()]
            pooled = measure_seconds(children, partial(work, pool))[2]
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, **local) as cluster,
            Client(cluster.scheduler_address, set_as_default=False) as client,
        ):
            processes, executor = list(client.run(os.getpid).values()), client.get_executor(pure=False, retries=RETRIES)
            work(executor)
            here = measure_seconds([], partial(work, None))[0]
            _, idle_own, idle, waited = measure_seconds(processes, partial(time.sleep, 2.0))
            states = cluster.scheduler.task_prefixes["run_batch"].state_counts
            sent = states["memory"]
            serial, own, busy, lasted = measure_seconds(processes, partial(work, executor))
            messages = states["memory"] - sent
        rate, batch = idle / waited / workers, (busy - idle / waited * lasted) / messages
        dask, resting = own + busy, (idle_own + idle) / waited * lasted
        cells = map(tables.seconds, (here, pooled, dask, resting, serial))
        times = [
            serial + math.ceil(messages / workers) * batch * share * (1.0 + rate) for share in (1.0, here / pooled)
        ]
        lost = [f"{100.0 - 100.0 * here / workers / elapsed:.0f} %" if here > 1.0 else "" for elapsed in times]
        rows.append((name, str(workers), *cells, str(messages), *lost))
    return rows


def main() -> None:
    """Measure, simulate, and print Markdown."""
    from distributed import LocalCluster

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        print(f"CPU to hand out an empty block, processes: {1e3 * handing_out_seconds(pool):.2f} ms")
    local = {"host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 50}
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, **local)
    with cluster, dask_executor(cluster.scheduler_address) as executor:
        overhead = handing_out_seconds(executor)
    print(f"CPU to hand out an empty block, Dask: {1e3 * overhead:.2f} ms")
    parts, rows = [], []
    for name, request in SIMULATIONS.items():
        cost = costs(request)
        block_seconds = map(tables.seconds, (statistics.fmean(cost.blocks), max(cost.blocks)))
        sizes = (f"{cost.sent / 1e3:.1f} kB", f"{cost.answered / 1e3:.1f} kB")
        ends = (f"{cost.before:.2f} s", f"{cost.after:.2f} s")
        parts.append((name, str(len(cost.blocks)), *block_seconds, *sizes, *ends))
        for times in (1, 10):
            larger = replace(cost, blocks=list(cost.blocks) * times, after=cost.after * times)
            gains = [f"{larger.speed_up(workers, overhead):.1f}" for workers in WORKERS]
            title = name if times == 1 else f"of {times} times as many blocks"
            rows.append([title, str(len(larger.blocks)), *gains])
    print(tables.as_markdown(PARTS_HEAD, parts))
    print(tables.as_markdown(("simulation", "blocks", *map(str, WORKERS)), rows))
    print(tables.as_markdown(LOSS_HEAD, losses(2, local) + losses(8, local)))
    print(tables.machine())


if __name__ == "__main__":
    main()

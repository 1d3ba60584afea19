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
    """The measured costs of a simulation, which is split into blocks.

    Attributes:
        before: CPU seconds before the blocks.
        blocks: CPU seconds of each block.
        after: CPU seconds after the blocks.
        sent: bytes that are sent to a worker for a block.
        answered: bytes of the answer of a block, on average.
    """

    before: float
    blocks: Sequence[float]
    after: float
    sent: int
    answered: float

    def speed_up(self, workers: int, overhead: float) -> float:
        """Return the time on one core divided by the simulated time on several workers.

        One process hands out blocks and takes back answers, one at a time. Half of the overhead is spent on each. An
        answer is taken back before the next block is handed out, since that frees a worker.

        Args:
            workers: number of workers.
            overhead: CPU seconds that the process spends on a block.

        Returns:
            The speed-up, a ratio of two times.
        """
        # Blocks are handed out in a fixed random order.
        waiting = list(self.blocks)
        random.Random(1).shuffle(waiting)
        give_seconds = overhead / 2 + self.sent / BYTES_A_SECOND
        take_seconds = overhead / 2 + self.answered / BYTES_A_SECOND
        clock = self.before
        end_times: list[float] = []
        """Times at which the running blocks end, as a heap."""
        while waiting or end_times:
            # Take back an answer if all workers are busy, if no block is left, or if a block has ended by now.
            must_wait = not waiting or len(end_times) == workers
            if end_times and (must_wait or end_times[0] <= clock):
                clock = max(clock, heapq.heappop(end_times)) + take_seconds
            else:
                clock += give_seconds
                heapq.heappush(end_times, clock + waiting.pop())
        seconds_on_one_core = self.before + sum(self.blocks) + self.after
        return seconds_on_one_core / (clock + self.after)


def cpu(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return CPU seconds and result of a call."""
    begun = time.process_time()
    result = call()
    return time.process_time() - begun, result


def costs(given: Any) -> Costs:
    """Run a simulation in this process, and measure each of its parts."""
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
    """Return CPU seconds of this thread, this process and others during a call, and its wall-clock seconds."""
    clocks = [_cpu_clock_of(process) for process in (os.getpid(), *processes)]
    start = time.monotonic()
    thread_start = time.thread_time()
    cpu_starts = [time.clock_gettime(clock) for clock in clocks]
    call()
    own, *remote = [time.clock_gettime(clock) - cpu_start for clock, cpu_start in zip(clocks, cpu_starts, strict=True)]
    return time.thread_time() - thread_start, own, sum(remote), time.monotonic() - start


def _cpu_clock_of(process: int) -> int:
    """Return the id of the clock of a process's CPU time, as Linux encodes it (CPUCLOCK_SCHED of the process)."""
    return ~process << 3 | 2


def losses(workers: int, local: Mapping[str, Any]) -> list[Sequence[str]]:
    """Measure the work in one process, in a pool and on a Dask cluster, and return the loss on the cluster.

    Each is measured after a first run that imports. The loss is 1 − here/(workers · time). This machine has fewer cores
    than workers, so that the time is modelled. It is the time of the client's thread, plus the CPU time of one batch
    for each round of batches. The CPU time of idle threads of Dask is not counted in a batch. The last column scales
    the batch by here/pool, without the cost of sharing cores.

    Args:
        workers: number of workers.
        local: arguments of the local cluster.

    Returns:
        Cells of the table `LOSS_HEAD`, one row for each kind of work.
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
            processes = list(client.run(os.getpid).values())
            executor = client.get_executor(pure=False, retries=RETRIES)
            work(executor)
            here = measure_seconds([], partial(work, None))[0]
            _, idle_own, idle_remote, idle_duration = measure_seconds(processes, partial(time.sleep, 2.0))
            states = cluster.scheduler.task_prefixes["run_batch"].state_counts
            messages_before = states["memory"]
            client_seconds, own, remote, duration = measure_seconds(processes, partial(work, executor))
            messages = states["memory"] - messages_before
        idle_rate = idle_remote / idle_duration
        # CPU time of one batch, without the time that idle workers would have spent anyway.
        batch_seconds = (remote - idle_rate * duration) / messages
        rounds = math.ceil(messages / workers)
        idle_seconds = (idle_own + idle_remote) / idle_duration * duration
        cells = map(tables.seconds, (here, pooled, own + remote, idle_seconds, client_seconds))
        losses_of_work = []
        for share in (1.0, here / pooled):
            modelled = client_seconds + rounds * batch_seconds * share * (1.0 + idle_rate / workers)
            loss = 100.0 - 100.0 * here / workers / modelled
            losses_of_work.append(f"{loss:.0f} %" if here > 1.0 else "")
        rows.append((name, str(workers), *cells, str(messages), *losses_of_work))
    return rows


def main() -> None:
    """Measure the costs of simulations, simulate their speed-up on more workers, and print Markdown tables."""
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
        # The same simulation, and one with ten times as many blocks.
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

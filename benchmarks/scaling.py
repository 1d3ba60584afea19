"""What more workers give a simulation: python -m benchmarks.scaling prints the tables of docs/scaling.md.

Measured on one core: the CPU and bytes of each block, and the CPU that a pool of processes and a Dask cluster on the
loopback take to hand out a block. From these the speed-up of 1 to 100 workers is simulated event by event: one process
hands out the blocks and takes back the answers, one at a time, over a network of one gigabit; no worker is slower than
another, and none dies.
"""

from __future__ import annotations

import heapq
import pickle
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from benchmarks import tables
from epsilond.executors import dask_executor, in_order
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
WORKERS = (1, 2, 4, 8, 16, 32, 64, 100)
BYTES_A_SECOND = 117e6
"""Throughput of a network of one gigabit, without the heads of its packets."""
TASKS = 300
"""Blocks without work, to measure what handing one out takes."""
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


def handing_out(executor: Executor) -> float:
    """Return CPU seconds that this process, with the scheduler in it, spends on an empty block."""
    places = [(place,) for place in range(TASKS)]
    in_order(executor, abs, places)
    return cpu(lambda: in_order(executor, abs, places))[0] / TASKS


def main() -> None:
    """Measure, simulate, and print Markdown."""
    from distributed import LocalCluster

    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        print(f"CPU to hand out an empty block, processes: {1e3 * handing_out(pool):.2f} ms")
    local = {"host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 50}
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, **local)
    with cluster, dask_executor(cluster.scheduler_address) as executor:
        overhead = handing_out(executor)
    print(f"CPU to hand out an empty block, Dask: {1e3 * overhead:.2f} ms")
    parts, rows = [], []
    for name, each in ((name, costs(given)) for name, given in SIMULATIONS.items()):
        spent = (statistics.fmean(each.blocks), max(each.blocks))
        sizes = (f"{each.sent / 1e3:.1f} kB", f"{each.answered / 1e3:.1f} kB")
        ends = (f"{each.before:.2f} s", f"{each.after:.2f} s")
        parts.append((name, str(len(each.blocks)), *map(tables.seconds, spent), *sizes, *ends))
        for times in (1, 10):
            larger = replace(each, blocks=[*each.blocks] * times, after=each.after * times)
            gains = (f"{larger.speed_up(workers, overhead):.1f}" for workers in WORKERS)
            rows.append((name if times == 1 else f"of {times} times as many blocks", str(len(larger.blocks)), *gains))
    print(tables.as_markdown(PARTS_HEAD, parts))
    print(tables.as_markdown(("simulation", "blocks", *map(str, WORKERS)), rows))
    print(tables.machine())


if __name__ == "__main__":
    main()

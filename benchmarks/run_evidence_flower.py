"""The cost of evidence in a round of Flower: python benchmarks/run_evidence_flower.py, where flwr is installed.

A round is that of the server: clients answer at once, so that training and network are left out. Each line has the
time of a round and the part of it that collects evidence. Rounds are those of `DpFedAvg`, and of Flower's server-side
wrapper with an accountant that observes it. Times are medians over rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from logging import getLogger
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid, NeighboringRelation, PrivacyConfig, SamplingMethod
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg, Strategy
from flwr.supercore.task_identity import TaskIdentity

from epsilond.integrations.flower import DpFedAvg, EpsilondAccountant
from epsilond.integrations.flower.aggregates import Aggregate
from epsilond.integrations.flower.models import ReleasedModels
from epsilond.integrations.flower.rounds import RoundWatch
from epsilond.integrations.flower.wrapper import WatchedWrapper
from epsilond.integrations.probe import Probe
from epsilond.integrations.target import TargetBudget

CLIENTS, ROUNDS = 20, 15
SIZES = (10_000, 100_000, 1_000_000)
DELTA = 1e-5
OWN: Sequence[tuple[type, str]] = [
    *((RoundWatch, name) for name in ("begin", "take_cohort", "check", "release")),
    (ReleasedModels, "release"),
    (Probe, "take"),
]
"""Methods of a round of `DpFedAvg` that collect evidence."""
OBSERVED: Sequence[tuple[type, str]] = [
    *((WatchedWrapper, name) for name in ("_begin", "_keeps_parts", "_finish")),
    *((Aggregate, name) for name in ("__init__", "add", "close")),
    *((Probe, name) for name in ("__init__", "take")),
]
"""Methods of a round of an observed wrapper that collect evidence."""


class Nodes(Grid):
    """Clients that are connected; the benchmark makes their replies."""

    def get_node_ids(self) -> list[int]:
        """Return the ids of all clients."""
        return list(range(1, CLIENTS + 1))

    def _reject(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    set_run = create_message = push_messages = pull_messages = send_and_receive = _reject

    @property
    def run(self) -> Any:
        raise NotImplementedError


class Clock:
    """Time that is spent in methods, the outermost calls only."""

    def __init__(self) -> None:
        self.seconds, self._depth = 0.0, 0

    def watch(self, owner: type, name: str) -> Callable[[], None]:
        """Replace a method by one that is timed; return what restores it."""
        original = getattr(owner, name)

        def measure(*arguments: Any, **named: Any) -> Any:
            """Call the method and add its time."""
            self._depth += 1
            start = time.perf_counter()
            try:
                return original(*arguments, **named)
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self.seconds += time.perf_counter() - start

        setattr(owner, name, measure)
        return lambda: setattr(owner, name, original)


def replies_to(messages: list[Message], random: np.random.Generator) -> list[Message]:
    """Return an update of each client."""
    replies = []
    for message in messages:
        model = message.content["arrays"]["weights"].numpy()
        arrays = ArrayRecord({"weights": Array(model + random.normal(size=model.shape).astype(model.dtype))})
        content = RecordDict({"arrays": arrays, "metrics": MetricRecord({"num-examples": 1})})
        replies.append(Message(content=content, reply_to=message))
    return replies


def rounds_of(strategy: Strategy, size: int, after: Callable[[], None] = lambda: None) -> list[float]:
    """Return the server's time of each round, in seconds.

    Args:
        strategy: the strategy of the server.
        size: number of coordinates of the model.
        after: called after each round.
    """
    random, model = np.random.default_rng(0), ArrayRecord({"weights": Array(np.zeros(size, np.float32))})
    times = []
    for number in range(1, ROUNDS + 1):
        start = time.perf_counter()
        messages = list(strategy.configure_train(number, model, ConfigRecord(), Nodes()))
        configured = time.perf_counter() - start
        replies = replies_to(messages, random)
        start = time.perf_counter()
        result, _ = strategy.aggregate_train(number, replies)
        times.append(configured + time.perf_counter() - start)
        assert result is not None
        model = result
        after()
    return times


def measure_round(strategy: Strategy, size: int, methods: Sequence[tuple[type, str]]) -> tuple[float, float]:
    """Return the median time of a round, and of the methods within it, in seconds.

    Args:
        strategy: the strategy of the server.
        size: number of coordinates of the model.
        methods: class and name of each method.
    """
    clock, parts = Clock(), []

    def after() -> None:
        """Take the time of the methods in this round."""
        parts.append(clock.seconds)
        clock.seconds = 0.0

    restore = [clock.watch(owner, name) for owner, name in methods]
    try:
        times = rounds_of(strategy, size, after)
    finally:
        for undo in restore:
            undo()
    return statistics.median(times), statistics.median(parts)


def dp_fedavg() -> Strategy:
    """Return DP-FedAvg with a budget of its own."""
    budget = TargetBudget(
        epsilon=1e6, delta=DELTA, relation="add-or-remove-one", unit="client", observer="released-models"
    )
    return DpFedAvg(
        FedAvg(fraction_evaluate=0.0), noise_multiplier=1.0, clipping_norm=1.0, participants=CLIENTS, budget=budget
    )


def wrapper() -> Strategy:
    """Return Flower's wrapper with an accountant that observes it."""
    config = PrivacyConfig(DELTA, CLIENTS, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.NO_AMPLIFICATION)
    accountant = EpsilondAccountant(config)
    strategy = DifferentialPrivacyServerSideFixedClipping(
        FedAvg(fraction_evaluate=0.0), 1.0, 1.0, CLIENTS, accountant=accountant
    )
    accountant.observe(strategy, system_noise=True)
    return strategy


def main() -> None:
    """Print the table."""
    getLogger("flwr").setLevel("ERROR")
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    print("strategy | coordinates | round [ms] | evidence [ms] | share | evidence of one reply [ms]")
    for name, make, methods in (("DpFedAvg", dp_fedavg, OWN), ("wrapper", wrapper, OBSERVED)):
        for size in SIZES:
            seconds, evidence = measure_round(make(), size, methods)
            figures = f"{1e3 * seconds:.2f} | {1e3 * evidence:.2f} | {evidence / seconds:.2%}"
            print(f"{name} | {size} | {figures} | {1e3 * evidence / CLIENTS:.3f}")


if __name__ == "__main__":
    main()

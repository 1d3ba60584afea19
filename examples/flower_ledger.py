"""A Flower simulation on scikit-learn's digits, stopped by a ledger, with the ε of Flower's own accountant.

python examples/flower_ledger.py [FOLDER]

300 clients hold five or six images each. In every round each client takes part with probability 1/5. The participants
send their clipped updates, and the server adds noise. The ledger's slot has room for fewer rounds than requested: the
run ends when the slot is full, and every round has a receipt. The apps are Flower's. The grid between them runs the
clients in this process, so neither Ray nor a network is needed. It takes a few seconds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from logging import getLogger
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import (
    GaussianPrivacyEvent,
    Grid,
    NeighboringRelation,
    PrivacyConfig,
    RdpAccountant,
    SamplingMethod,
    ServerApp,
)
from flwr.serverapp.strategy import FedAvg
from flwr.supercore.task_identity import TaskIdentity  # set by Flower's runtime, whose part is played here
from sklearn.datasets import load_digits

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.flower import DpFedAvg
from epsilond.ledgers.client.auditing import audited

CLIENTS, PARTICIPANTS, ROUNDS = 300, 60, 200
NOISE, CLIPPING, DELTA = 1.2, 1.0, 1e-4
LEARNING_RATE, LOCAL_STEPS = 0.5, 5

IMAGES, LABELS = load_digits(return_X_y=True)
IMAGES = np.concatenate([IMAGES / 16.0, np.ones((len(IMAGES), 1))], axis=1)
ORDER = np.random.default_rng(1).permutation(len(LABELS))
PUBLIC, PRIVATE = ORDER[:150], ORDER[150:]  # the first are of people who published theirs

clients = ClientApp()
server = ServerApp()


def probabilities(model: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Return the probability of each digit, by softmax regression."""
    scores = images @ model
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@clients.train()
def train(message: Message, context: Context) -> Message:
    """Run a few steps of gradient descent on the images of this client."""
    own = PRIVATE[int(context.node_config["partition-id"]) :: CLIENTS]
    model = message.content["arrays"]["weights"].numpy().copy()
    for _ in range(LOCAL_STEPS):
        errors = probabilities(model, IMAGES[own]) - np.eye(10)[LABELS[own]]
        model -= LEARNING_RATE * IMAGES[own].T @ errors / len(own)
    arrays, metrics = ArrayRecord({"weights": Array(model)}), MetricRecord({"num-examples": len(own)})
    return Message(content=RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)


@server.main()
def main(grid: Grid, context: Context) -> None:
    """Train until the ledger has no more rounds, and print the spent ε."""
    folder = Path(str(context.run_config["folder"]))
    with epsilond.ledger(folder / "ledger.db") as books:
        ledger = books.open(
            name="digits",
            dataset="digits",
            unit="client",
            relation="add-or-remove-one",
            observer="released-models",
            epsilon=8.0,
            delta=DELTA,
            slots=["gdp"],
            sealed=True,
        )
        strategy = DpFedAvg(
            FedAvg(fraction_evaluate=0.0),
            noise_multiplier=NOISE,
            clipping_norm=CLIPPING,
            participants=PARTICIPANTS,
            cohort="poisson",
            population=CLIENTS,
            budget=LedgerBudget(ledger, slot="gdp"),
        )
        start = ArrayRecord({"weights": Array(np.zeros((IMAGES.shape[1], 10)))})
        result = strategy.start(grid, start, num_rounds=ROUNDS)
        show(strategy, result.arrays["weights"].numpy())
    print("the log verifies:", audited(folder / "ledger.db", folder / "ledger.db.keys").holds)


def show(strategy: DpFedAvg, model: np.ndarray) -> None:
    """Print the accuracy of the model, and its ε by both accountants."""
    correct = float(np.mean(probabilities(model, IMAGES[PUBLIC]).argmax(axis=1) == LABELS[PUBLIC]))
    config = PrivacyConfig(DELTA, CLIENTS, NeighboringRelation.ADD_OR_REMOVE_ONE, SamplingMethod.POISSON)
    flower = RdpAccountant(config)
    flower.compose(GaussianPrivacyEvent(NOISE, PARTICIPANTS, CLIENTS), strategy.rounds)
    print(f"the ledger had room for {strategy.rounds} of {ROUNDS} rounds, accuracy {correct:.3f}")
    print(strategy.statement())
    print(f"Flower's own accountant: ε = {flower.get_epsilon(DELTA):.4f}")
    print(f"receipts: {len(strategy.receipts)}, the last: {strategy.receipts[-1].entry['kind']}")


class InlineGrid(Grid):
    """A grid that hands each message to the client app at once, in this process."""

    def __init__(self, app: ClientApp, nodes: int) -> None:
        self.app = app
        self.contexts = {node + 1: self.context(node) for node in range(nodes)}

    @staticmethod
    def context(node: int) -> Context:
        """Return the context of a node, with the number of its part of the data."""
        config: dict[str, Any] = {"partition-id": node}
        return Context(run_id=1, node_id=node + 1, node_config=config, state=RecordDict(), run_config={})

    def get_node_ids(self) -> Iterable[int]:
        return list(self.contexts)

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        del timeout
        return [self.app(message, self.contexts[message.metadata.dst_node_id]) for message in messages]

    def set_run(self, run: Any) -> None:
        raise NotImplementedError("there is one run only")

    @property
    def run(self) -> Any:
        raise NotImplementedError("there is one run only")

    def create_message(self, *values: Any, **fields: Any) -> Message:
        return Message(*values, **fields)

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise NotImplementedError("messages are answered at once: use send_and_receive")

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise NotImplementedError("messages are answered at once: use send_and_receive")


def run(folder: Path) -> None:
    """Run both apps, connected by the grid, with only the warnings of Flower's log."""
    getLogger("flwr").setLevel("WARNING")
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1
    config = {"folder": str(folder)}
    context = Context(run_id=1, node_id=0, node_config={}, state=RecordDict(), run_config=config)
    server(InlineGrid(clients, CLIENTS), context)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            run(Path(temporary))

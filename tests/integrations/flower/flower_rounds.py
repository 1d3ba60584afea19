"""What the tests of Flower share: events, a grid of nodes that answer at once, rounds of a strategy, and an oracle."""

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import GaussianPrivacyEvent, Grid, NeighboringRelation, PrivacyConfig, SamplingMethod
from flwr.serverapp.strategy import FedAvg
from flwr.supercore.task_identity import TaskIdentity
from mpmath import exp, mp, mpf, ncdf

import epsilond
from epsilond.integrations.flower import DpFedAvg
from epsilond.integrations.target import TargetBudget
from epsilond.mechanisms import secure, seeded

DELTA = 1e-5
TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 0, 1  # messages belong to a run of the runtime


def config(relation="add-or-remove-one", sampling="no-amplification", population=100, limit=None):
    return PrivacyConfig(DELTA, population, NeighboringRelation(relation), SamplingMethod(sampling), limit)


def event(noise=4.0, sample=100, population=100):
    return GaussianPrivacyEvent(noise, sample, population)


def gaussian_delta(epsilon, mu):
    """δ of the Gaussian mechanism, from the two normal tails, in forty digits."""
    with mp.workdps(40 + int(abs(epsilon))):
        ratio, half = mpf(epsilon) / mpf(mu), mpf(mu) / 2
        return float(ncdf(half - ratio) - exp(mpf(epsilon)) * ncdf(-half - ratio))


def arrays(values):
    return ArrayRecord({"weights": Array(np.asarray(values, dtype=np.float64))})


class Nodes(Grid):
    """A grid of nodes that answer at once: `answer(node, message)` makes the reply."""

    def __init__(self, nodes, answer=None):
        self.nodes, self.answer = nodes, answer

    def get_node_ids(self):
        return self.nodes

    def send_and_receive(self, messages, *, timeout=None):  # noqa: ARG002
        return [self.answer(message.metadata.dst_node_id, message) for message in messages]

    def set_run(self, run): ...
    @property
    def run(self): ...
    def create_message(self, *told, **fields): ...
    def push_messages(self, messages): ...
    def pull_messages(self, message_ids): ...


def reply(message, update, examples=1, **more):
    model = message.content["arrays"]["weights"].numpy() + np.asarray(update, dtype=np.float64)
    told = MetricRecord({"num-examples": examples, "loss": 17.0, **more})
    return Message(content=RecordDict({"arrays": arrays(model), "metrics": told}), reply_to=message)


def aggregate(strategy, updates, weights=None, nodes=None, rounds=1):
    """The model after rounds in which node k sends updates[k]; starts from zero."""
    nodes = nodes or list(range(1, len(updates) + 1))
    weights = weights or [1] * len(updates)
    model = arrays(np.zeros(len(updates[0])))
    for number in range(1, rounds + 1):
        asked = sorted(
            strategy.configure_train(number, model, ConfigRecord(), Nodes(nodes)),
            key=lambda message: message.metadata.dst_node_id,
        )
        replies = [reply(*told) for told in zip(asked, updates, weights, strict=True)]
        found, _ = strategy.aggregate_train(number, replies)
        model = model if found is None else found
    return model["weights"].numpy()


def fedavg(**more):
    return FedAvg(fraction_evaluate=0.0, **more)


def target(epsilon=5.0, **more):
    told = {"relation": "add-or-remove-one", "unit": "client", "observer": "released-models"}
    return TargetBudget(epsilon=epsilon, delta=DELTA, **told | more)


def system_fedavg(strategy=None, **more):
    """DP-FedAvg with the operating system's randomness, on a large budget of its own."""
    relation = more.pop("relation", "add-or-remove-one")
    budget = TargetBudget(epsilon=1e4, delta=DELTA, relation=relation, unit="client", observer="released-models")
    return dp_fedavg(strategy, **{"source": secure(), "budget": budget} | more)


def bare(message, update, examples=1):
    """A reply without metrics but the weight."""
    model = message.content["arrays"]["weights"].numpy() + np.asarray(update, dtype=np.float64)
    return Message(
        content=RecordDict({"arrays": arrays(model), "metrics": MetricRecord({"num-examples": examples})}),
        reply_to=message,
    )


class Loop:
    """A loop of rounds as a program would write it, in which every step can be changed.

    Attributes:
        model: what clients receive next.
        number: the number of the latest round.
    """

    def __init__(self, strategy, nodes=4, size=300, seed=0):
        self.strategy, self.nodes, self.number = strategy, list(range(1, nodes + 1)), 0
        self.random = np.random.default_rng(seed)
        self.model = arrays(np.zeros(size))

    def update(self):
        return self.random.normal(size=self.model["weights"].shape)

    def messages(self, number=None):
        self.number = self.number + 1 if number is None else number
        return list(self.strategy.configure_train(self.number, self.model, ConfigRecord(), Nodes(self.nodes)))

    def round(self, number=None, answer=None):
        """One round; `answer(message)` makes a client's reply. Returns the metrics."""
        messages = self.messages(number)
        replies = [answer(each) if answer else bare(each, self.update()) for each in messages]
        model, metrics = self.strategy.aggregate_train(self.number, replies)
        self.model = self.model if model is None else model
        return metrics

    def stopped(self, count=1, **named):
        """Up to so many rounds, which end in `RunDiffers`; the error."""
        models = [self.model]

        def run():
            for _ in range(count):
                models.append(self.model)
                self.round(**named)

        with pytest.raises(epsilond.RunDiffers) as caught:
            run()
        assert self.model is models[-1]  # the round that differs released nothing
        return caught.value

    def rounds(self, count, answer=None):
        for _ in range(count):
            self.round(answer=answer)
        return self


def dp_fedavg(strategy=None, **more):
    told = {"noise_multiplier": 8.0, "clipping_norm": 1.0, "participants": 4, "budget": target(), "source": seeded(7)}
    return DpFedAvg(strategy or fedavg(), **told | more)


def opened(books, relation="add-or-remove-one", **more):
    told = {"name": "clients", "dataset": "clients", "unit": "client", "observer": "released-models", "sealed": True}
    return books.open(**told | {"relation": relation, "epsilon": 4.0, "delta": DELTA, "slots": ["gdp"]} | more)

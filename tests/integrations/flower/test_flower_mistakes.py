"""Mistakes of programs that run DP-FedAvg: no ε is returned for them, or it names what it rests on.

Several follow public threads about Flower, which each test names.
"""

import numpy as np
import pytest
from flwr.app import ConfigRecord, MetricRecord
from flwr.serverapp.strategy import FedAdam, FedAvg

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.flower import DpFedAvg
from epsilond.integrations.flower.strategy import EVALUATED
from epsilond.mechanisms import secure, seeded
from tests.integrations.flower.flower_rounds import Loop, Nodes, arrays, dp_fedavg, fedavg, opened, system_fedavg

POISSON = {"cohort": "poisson", "population": 20, "participants": 6}
FIXED = {"cohort": "without-replacement", "population": 20, "participants": 5, "relation": "replace-one"}


def assert_contradicted(strategy, premise, words):
    """Every way to an ε raises, and the budget pays no more."""
    assert strategy.status == "contradicted"
    for read in (strategy.privacy_spent, strategy.statement, lambda: strategy.statement(delta=1e-7)):
        with pytest.raises(epsilond.RunDiffers) as caught:
            read()
    observations = [each for each in caught.value.observations if each.premise == premise]
    assert any(words in each.message for each in observations), caught.value.observations
    assert all(each.count >= 1 and each.remedy for each in observations)
    assert str(caught.value).startswith("The run differs from its record, so there is no ε:\n")
    assert strategy.budget.observations
    with pytest.raises(epsilond.RunDiffers):
        strategy.budget.pay(strategy.step)
    strategy.summary()  # prints no figure, and does not fail


class Rewound:
    """A source that is seeded anew for each round, as by `np.random.seed(42)` in a round's function."""

    def __init__(self):
        self.rewind()

    def rewind(self):
        self._source = seeded(42)

    def __getattr__(self, name):
        return getattr(self._source, name)


def test_a_source_that_is_seeded_in_every_round_repeats_noise_and_clients():
    """https://github.com/flwrlabs/flower/issues/1845 seeds every generator for equal results."""
    source = Rewound()
    strategy = system_fedavg(source=source, **POISSON)
    loop = Loop(strategy, nodes=20)
    source.rewind()
    loop.round()
    source.rewind()
    loop.stopped()
    assert_contradicted(strategy, "noise", "it was reset")


class Rounds:
    """Random bits of the system, except for the clients: `pick(round)` chooses them."""

    def __init__(self, pick):
        self._source, self._pick, self._round = epsilond.mechanisms.secure(), pick, 0

    def __getattr__(self, name):
        return getattr(self._source, name)

    def flips(self, probability, shape):  # noqa: ARG002
        self._round += 1
        return np.isin(np.arange(shape[0]), self._pick(self._round))

    def subsets(self, shape, population, size):  # noqa: ARG002
        self._round += 1
        return np.array(self._pick(self._round))


@pytest.mark.parametrize(
    ("settings", "pick", "words"),
    [
        (POISSON, lambda _: [0, 1, 2, 3, 4, 5], "again and again"),
        (POISSON, lambda number: [[0, 1, 2, 3, 4], [3, 4, 5, 6, 7, 8], [9, 1, 2]][number % 3], "in the same order"),
        (FIXED, lambda number: [(5 * number + place) % 20 for place in range(5)], "take turns"),
        (FIXED, lambda number: [0, *(1 + (4 * number * number + place) % 19 for place in range(4))], "a client is in"),
    ],
    ids=["the same", "in a cycle", "in turns", "one always"],
)
def test_clients_that_are_no_fresh_draw(settings, pick, words):
    """https://github.com/flwrlabs/flower/issues/3328 fixes the seed of the draw; others let clients take turns."""
    strategy = system_fedavg(source=Rounds(pick), **settings)
    loop = Loop(strategy, nodes=20, size=3)
    loop.stopped(40)
    assert_contradicted(strategy, "fresh-cohort", words)


def test_no_declaration_stands_against_repeated_draws():
    strategy = system_fedavg(source=Rounds(lambda _: [0, 1, 2]), **POISSON)
    strategy.declare("fresh-cohort", "a trusted party drew the clients")
    Loop(strategy, nodes=20, size=3).stopped(40)
    assert_contradicted(strategy, "fresh-cohort", "again and again")


@pytest.mark.parametrize("premise", ["noise", "clipping", "one-update-per-client", "divisor"])
def test_no_word_replaces_noise_clipping_weights_or_divisor(premise):
    with pytest.raises(epsilond.InvalidInput, match="can be declared"):
        system_fedavg().declare(premise, "trust me")


@pytest.mark.parametrize(
    ("name", "value", "premise"),
    [
        ("noise_multiplier", 2.0, "noise"),
        ("_noise", 0.5, "noise"),
        ("_source", seeded(1), "noise"),
        ("participants", 1, "divisor"),
        ("strategy", FedAdam(fraction_evaluate=0.0), "same-parts"),
        ("step", epsilond.Gaussian(noise_multiplier=80.0), "same-parts"),
        ("relation", "zero-out-one", "same-parts"),
        ("cohort", "strategy", "fresh-cohort"),
    ],
)
def test_settings_that_change_in_the_middle(name, value, premise):
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(2)
    setattr(strategy, name, value)
    loop.stopped()
    assert_contradicted(strategy, premise, f"{name.lstrip('_')} was changed during the run")


def test_the_number_of_rounds_cannot_be_set():
    strategy = system_fedavg()
    Loop(strategy).rounds(2)
    with pytest.raises(AttributeError):
        strategy.rounds = 0


def test_a_clipping_norm_that_the_program_changes_is_listed():
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(2)
    strategy.clipping_norm = 0.5
    loop.rounds(2)
    statement = strategy.statement()
    assert statement.status == "declared"
    assert len(statement.declared) == 1
    assert "changed the clipping norm" in statement.declared[0]


@pytest.mark.parametrize("source", [seeded(3), Rounds(lambda _: [])], ids=["seeded", "own"])
def test_random_bits_of_the_caller_are_listed(source):
    strategy = system_fedavg(source=source)
    Loop(strategy).rounds(3)
    statement = strategy.statement()
    assert statement.status == "declared"
    assert [item.partition(" Not observed: ")[2] for item in statement.declared] == [
        "random bits came from a source that the caller gave, not from the operating system (3 times)."
    ]


def test_noise_that_is_none_is_no_source():
    class Silent(Rounds):
        def normal(self, shape):
            return np.zeros(shape)

    strategy = system_fedavg(source=Silent(lambda _: []))
    Loop(strategy).stopped()
    assert_contradicted(strategy, "noise", "the noise that was added is 0 times the recorded one")


def test_clients_that_receive_the_mean_without_noise():
    """https://github.com/raptor7197/caamas/issues/36 adds its noise on the side."""
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(1)
    loop.model = arrays(loop.model["weights"].numpy() + 0.25 * loop.update())
    loop.stopped()
    assert_contradicted(strategy, "parameters", "a model that no round of this strategy released")


def test_an_average_of_released_models_can_be_declared():
    strategy = system_fedavg()
    strategy.declare("parameters", "the server averages released models")
    loop = Loop(strategy).rounds(1)
    loop.model = arrays(0.5 * loop.model["weights"].numpy())
    loop.round()
    assert strategy.statement().status == "declared"


def test_a_server_that_restarts_without_its_state_lacks_the_earlier_rounds():
    """https://github.com/flwrlabs/flower/issues/599 wants the round number kept in checkpoints."""
    first = system_fedavg()
    loop = Loop(first).rounds(5)
    second = system_fedavg()
    loop.strategy = second
    loop.stopped()
    assert_contradicted(second, "rounds", "round 6 follows round 0")


def test_rounds_that_ran_elsewhere_are_missing():
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(2)
    loop.stopped(number=5)
    assert_contradicted(strategy, "rounds", "round 5 follows round 2")


def test_a_state_that_is_older_than_the_rounds():
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(2)
    state = strategy.state_dict()
    loop.rounds(3)
    strategy.load_state_dict(state)
    loop.stopped()
    assert_contradicted(strategy, "same-parts", "a state of 2 rounds was loaded")


class Raw(DpFedAvg):
    """A strategy whose author wanted the mean as it is."""

    def aggregate_train(self, server_round, replies):  # noqa: ARG002
        return arrays(np.mean([each.content["arrays"]["weights"].numpy() for each in replies], axis=0)), MetricRecord()


def raw():
    budget = system_fedavg().budget
    return Raw(fedavg(), noise_multiplier=8.0, clipping_norm=1.0, participants=4, budget=budget)


def test_a_subclass_that_hands_out_the_mean():
    """https://github.com/flwrlabs/flower/issues/357: custom strategies override the aggregation."""
    strategy = raw()
    loop = Loop(strategy).rounds(1)
    assert strategy.status == "declared"
    assert "1 configured rounds was released by other means" in strategy.statement().declared[-1]
    loop.round()
    assert_contradicted(strategy, "parameters", "no round of this strategy released")


class Noiseless(DpFedAvg):
    """A strategy that overrides what it believes to be the noise."""

    def _released(self, found, current):
        del found
        return current


def test_a_subclass_cannot_take_the_noise_away():
    strategy = Noiseless(
        fedavg(), noise_multiplier=8.0, clipping_norm=1.0, participants=4, budget=system_fedavg().budget
    )
    loop = Loop(strategy, size=4000).rounds(1)
    assert np.std(loop.model["weights"].numpy()) == pytest.approx(2.0, rel=0.1)
    assert strategy.statement().status == "certified"


def evaluated(strategy, loop):
    """A federated evaluation of the latest model."""
    asked = strategy.configure_evaluate(loop.number, loop.model, ConfigRecord(), Nodes(loop.nodes))
    metrics = MetricRecord({"num-examples": 1, "accuracy": 0.5})
    replies = [type(each)(content=type(each.content)({"metrics": metrics}), reply_to=each) for each in asked]
    return strategy.aggregate_evaluate(loop.number, replies)


def test_metrics_of_a_federated_evaluation_are_listed():
    """https://github.com/flwrlabs/flower/issues/1944: they are weighted means of what clients report."""
    with pytest.warns(UserWarning, match=EVALUATED[:30]):
        strategy = system_fedavg(FedAvg())
    loop = Loop(strategy).rounds(1)
    assert evaluated(strategy, loop)["accuracy"] == 0.5
    statement = strategy.statement()
    assert statement.status == "declared"
    assert [item for item in statement.declared if "federated evaluation" in item]


def test_a_strategy_that_chooses_clients_by_their_metrics_is_listed_twice():
    """https://github.com/flwrlabs/flower/issues/1756 drops clients by their performance."""
    with pytest.warns(UserWarning, match=EVALUATED[:30]):
        strategy = system_fedavg(FedAvg(), cohort="strategy", relation="zero-out-one")
    loop = Loop(strategy).rounds(1)
    evaluated(strategy, loop)
    assert [item for item in strategy.statement().declared if "chooses the clients has seen metrics" in item]


def test_the_message_says_what_was_seen_and_what_to_do():
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(1)
    strategy.participants = 2
    assert str(loop.stopped()) == (
        "The run differs from its record, so there is no ε:\n"
        "  divisor: participants was changed during the run from 4 to 2 (once). Leave the settings of a strategy"
        " alone; make a new one on the same budget for other settings."
    )


def test_a_ledger_pays_no_more_for_a_run_that_differs(tmp_path):
    with epsilond.ledger(tmp_path / "ledger.db") as books:
        ledger = opened(books)
        strategy = dp_fedavg(source=secure(), budget=LedgerBudget(ledger, slot="gdp"))
        loop = Loop(strategy).rounds(2)
        strategy.participants = 2
        loop.stopped()
        assert_contradicted(strategy, "divisor", "participants was changed")
        assert len(strategy.receipts) == 2
        other = dp_fedavg(source=secure(), budget=LedgerBudget(ledger, slot="gdp"))
        with pytest.raises(epsilond.RunDiffers, match="participants was changed"):
            Loop(other).rounds(1)

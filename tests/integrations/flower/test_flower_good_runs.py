"""Runs that keep their record: they stay certified, their figures are those of the record, and there is no alarm."""

import json
import math

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp.exception import AggregationError, PrivacyBudgetExhausted
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAdam, FedAvg

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.flower import AdaptiveClipping, EpsilondAccountant
from epsilond.mechanisms import secure
from tests.integrations.flower.flower_rounds import (
    DELTA,
    Loop,
    Nodes,
    arrays,
    bare,
    config,
    dp_fedavg,
    event,
    fedavg,
    opened,
    reply,
    system_fedavg,
    target,
)


@pytest.fixture
def books(tmp_path):
    with epsilond.ledger(tmp_path / "ledger.db") as opened_books:
        yield opened_books


def figure(step, rounds, relation="add-or-remove-one", delta=DELTA):
    """ε of so many rounds, from the accountants alone."""
    run = step if rounds == 1 else epsilond.Repeated(times=rounds, mechanism=step)
    account = epsilond.account(run, relation=relation, unit="client", observer="released-models")
    return account.guarantee.curve.epsilon(delta=delta)


def assert_certified(strategy, rounds, delta=DELTA):
    statement = strategy.statement()
    assert statement.declared == ()
    assert statement.status == strategy.status == "certified"
    assert statement.steps == strategy.rounds == rounds
    assert set(statement.shown.values()) == {rounds}
    assert statement.outside
    expected = figure(strategy.step, rounds, strategy.relation, delta)
    assert statement.epsilon == strategy.privacy_spent() == expected


SETTINGS = {
    "full": {},
    "poisson": {"cohort": "poisson", "population": 12, "participants": 3},
    "rate one": {"cohort": "poisson", "population": 4, "participants": 4},
    "without replacement": {"cohort": "without-replacement", "population": 12, "relation": "replace-one"},
    "drawn by the strategy": {"cohort": "strategy", "relation": "zero-out-one"},
    "adaptive": {"adaptive": AdaptiveClipping(count_noise_std=5.0)},
    "FedAdam": {"strategy": FedAdam(fraction_evaluate=0.0)},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_kind_of_round_is_certified(name):
    settings = dict(SETTINGS[name])
    inner = settings.pop("strategy", None) or FedAvg(fraction_evaluate=0.0, fraction_train=0.5)
    strategy = system_fedavg(inner, **settings)
    nodes = settings.get("population", 8)
    assert strategy.statement().epsilon == (0.0, 0.0)
    loop = Loop(strategy, nodes=nodes)
    for _ in range(6):
        metrics = loop.round()
    assert_certified(strategy, 6)
    assert metrics["epsilon"] == strategy.privacy_spent().upper
    assert metrics["delta"] == DELTA


def troubled(message, random):
    """A failed reply, one that is not finite, one of another shape, or a good one; with metrics that stay here."""
    kind = random.integers(4)
    if kind == 0:
        return Message(Error(code=1, reason="gone"), reply_to=message)
    made = reply(message, np.full(300, [math.nan, 0.1, 0.1][kind - 1]))
    if kind == 3:
        made.content["arrays"] = arrays([1.0])
    return made


def test_replies_that_fail_come_twice_or_late_are_certified():
    strategy = system_fedavg(participants=8)
    loop = Loop(strategy, nodes=8)
    for number in range(1, 9):
        messages = loop.messages()
        replies = [troubled(each, loop.random) for each in messages[1:]] + [bare(messages[0], loop.update())] * 2
        stranger = Message(content=messages[0].content, message_type="train", dst_node_id=99)
        model, _ = strategy.aggregate_train(number, [*replies, bare(stranger, loop.update())])
        late, _ = strategy.aggregate_train(number, replies)
        assert late is None
        loop.model = model
    assert_certified(strategy, 8)


def test_empty_cohorts_are_certified():
    strategy = system_fedavg(participants=1, cohort="poisson", population=1000)
    Loop(strategy, nodes=3).rounds(30)
    assert_certified(strategy, 30)


def test_a_round_without_replies_is_run_again():
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(2)
    loop.messages()
    with pytest.raises(AggregationError):
        strategy.aggregate_train(3, [])
    loop.round(number=3)
    loop.round(number=4)
    assert_certified(strategy, 4)


def test_a_round_whose_replies_never_came_is_run_again():
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(1)
    loop.messages()
    assert strategy.status == "declared"  # whether its model was released by other means is not known yet
    loop.round(number=2)
    assert_certified(strategy, 2)


def test_clients_come_and_go():
    strategy = system_fedavg(cohort="poisson", participants=3, population=12)
    loop = Loop(strategy, nodes=12, size=50)
    for _ in range(40):
        loop.nodes = [node for node in range(1, 30) if loop.random.random() < 0.6] or [1]
        loop.round()
    assert_certified(strategy, 40)


def test_the_model_of_an_earlier_round_or_the_start_is_used_again():
    strategy = system_fedavg()
    loop = Loop(strategy)
    models = [loop.model]
    for _ in range(4):
        loop.round()
        models.append(loop.model)
    for model in (models[2], models[0], models[4]):
        copied = {name: Array(array.numpy().copy()) for name, array in model.items()}
        loop.model = ArrayRecord(copied)  # as from a file
        loop.round()
    assert_certified(strategy, 7)


def test_models_of_several_arrays_and_single_precision():
    strategy = system_fedavg()
    random = np.random.default_rng(0)
    start = {"a": random.normal(size=(40, 5)), "b": random.normal(size=7), "c": np.zeros((0, 3)), "d": np.array(2.0)}
    model = ArrayRecord({name: Array(np.asarray(part, np.float32)) for name, part in start.items()})

    def answer(_, message):
        trained = {
            name: Array(np.asarray(part.numpy() + np.float32(0.5))) for name, part in message.content["arrays"].items()
        }
        content = RecordDict({"arrays": ArrayRecord(trained), "metrics": MetricRecord({"num-examples": 7})})
        return Message(content=content, reply_to=message)

    result = strategy.start(Nodes([1, 2, 3], answer), model, num_rounds=5)
    assert {part.dtype for part in result.arrays.values()} == {"float32"}
    assert_certified(strategy, 5)


def test_the_end_of_the_budget_ends_a_certified_run():
    strategy = dp_fedavg(source=secure(), budget=target(epsilon=1.0))
    loop = Loop(strategy)
    with pytest.raises(PrivacyBudgetExhausted):
        loop.rounds(1000)
    assert_certified(strategy, strategy.budget.taken)
    assert strategy.privacy_spent().upper <= 1.0


def test_several_runs_on_one_ledger(books):
    ledger = opened(books)
    taken = []
    for _ in range(2):
        strategy = dp_fedavg(source=secure(), noise_multiplier=16.0, budget=LedgerBudget(ledger, slot="gdp"))
        strategy.start(Nodes([1, 2, 3], lambda _, message: bare(message, [0.5])), arrays([0.0]), num_rounds=4)
        strategy.start(Nodes([1, 2, 3], lambda _, message: bare(message, [0.5])), arrays([0.0]), num_rounds=3)
        assert_certified(strategy, 7)
        taken.append(strategy.budget.taken)
    assert taken == [7, 7]


def test_central_evaluation_of_the_released_models_is_certified():
    strategy = system_fedavg()
    seen = []
    grid = Nodes([1, 2, 3], lambda _, message: bare(message, [0.5]))
    strategy.start(grid, arrays([0.0]), num_rounds=3, evaluate_fn=lambda number, _: seen.append(number))
    assert seen == [0, 1, 2, 3]
    assert_certified(strategy, 3)


@pytest.mark.parametrize("number", [6, 1])
def test_a_restarted_server_goes_on_with_its_state(number):
    """The state goes through JSON; Flower's own loop counts from 1 again."""
    adaptive = AdaptiveClipping(count_noise_std=5.0)
    first = system_fedavg(adaptive=adaptive)
    loop = Loop(first).rounds(5)
    state = json.loads(json.dumps(first.state_dict()))
    second = system_fedavg(adaptive=adaptive)
    second.load_state_dict(state)
    assert (second.rounds, second.clipping_norm) == (5, first.clipping_norm)
    assert second.privacy_spent() == first.privacy_spent()
    loop.strategy = second
    loop.round(number=number)
    loop.rounds(2)
    assert_certified(second, 8)


def test_a_state_of_another_strategy_is_rejected():
    state = system_fedavg().state_dict()
    with pytest.raises(epsilond.InvalidInput, match="another strategy"):
        system_fedavg(participants=5).load_state_dict(state)
    with pytest.raises(epsilond.InvalidInput, match="not the state"):
        system_fedavg().load_state_dict({"schema_version": 0})
    with pytest.raises(epsilond.InvalidInput, match="not the state"):
        system_fedavg().load_state_dict({**state, "rounds": {}})


def test_a_contradicted_state_stays_contradicted():
    strategy = system_fedavg()
    loop = Loop(strategy).rounds(1)
    loop.stopped(number=7)
    other = system_fedavg()
    other.load_state_dict(json.loads(json.dumps(strategy.state_dict())))
    for read in (other.privacy_spent, lambda: other.budget.pay(other.step)):
        with pytest.raises(epsilond.RunDiffers, match="round 7 follows round 1"):
            read()


def accounted(clients, accountant=None):
    accountant = accountant or EpsilondAccountant(config(population=clients))
    strategy = DifferentialPrivacyServerSideFixedClipping(fedavg(), 4.0, 1.0, clients, accountant=accountant)
    accountant.observe(strategy, system_noise=True)
    return accountant, Loop(strategy, nodes=clients)


def test_flowers_wrapper_that_is_observed_is_certified():
    accountant, loop = accounted(5)
    loop.rounds(4)
    statement = accountant.statement()
    assert (statement.status, statement.declared) == ("certified", ())
    assert statement.epsilon == figure(epsilond.Gaussian(noise_multiplier=4.0), 4)
    assert accountant.get_epsilon(DELTA) == loop.strategy.privacy_spent().epsilon == statement.epsilon.upper


def test_a_wrapper_skips_a_round_with_a_failed_reply():
    accountant, loop = accounted(5)
    loop.rounds(2)
    messages = loop.messages()
    replies = [bare(each, loop.update()) for each in messages[1:]]
    failed = Message(Error(code=1, reason="gone"), reply_to=messages[0])
    assert loop.strategy.aggregate_train(loop.number, [*replies, failed]) == (None, None)
    loop.rounds(2)
    assert accountant.statement().status == "certified"
    assert accountant.num_releases == 4


def test_an_accountant_that_is_restarted_with_its_state():
    accountant, loop = accounted(5)
    loop.rounds(3)
    state = json.loads(json.dumps(accountant.state_dict()))
    again = EpsilondAccountant(config(population=5))
    again.load_state_dict(state)
    again, second = accounted(5, again)
    second.model, second.number = loop.model, 3
    second.rounds(2)
    assert again.statement().status == "certified"
    assert again.statement().epsilon == figure(epsilond.Gaussian(noise_multiplier=4.0), 5)


def test_wrappers_of_two_runs_share_an_accountant():
    accountant, loop = accounted(5)
    loop.rounds(2)
    _, second = accounted(5, accountant)
    second.rounds(2)
    assert accountant.statement().status == "certified"
    assert accountant.num_releases == 4


def random_settings(random):
    """Settings, number of nodes, of coordinates and of rounds of a random run."""
    population = int(random.integers(5, 60))
    participants = int(random.integers(1, population + 1))
    cohort = random.choice(["full", "poisson", "without-replacement", "strategy"])
    relation = "replace-one" if cohort == "without-replacement" else random.choice(["zero-out-one", "replace-one"])
    settings = {"cohort": str(cohort), "participants": participants, "relation": str(relation)}
    if cohort in {"poisson", "without-replacement"}:
        settings["population"] = population
    if random.random() < 0.3:
        settings["adaptive"] = AdaptiveClipping(count_noise_std=float(random.uniform(4.5, 20.0)))
    settings["noise_multiplier"] = float(random.uniform(0.7, 8.0))
    inner = FedAdam(fraction_evaluate=0.0) if random.random() < 0.3 else FedAvg(fraction_evaluate=0.0)
    return inner, settings, population, int(random.integers(1, 400)), int(random.integers(1, 60))


def assert_no_alarm(seeds):
    for seed in seeds:
        random = np.random.default_rng(seed)
        inner, settings, population, size, rounds = random_settings(random)
        strategy = system_fedavg(inner, **settings)
        loop = Loop(strategy, nodes=population, size=size, seed=seed)
        for number in range(1, rounds + 1):
            messages = loop.messages()
            replies = [bare(each, loop.update()) for each in messages if random.random() < 0.9]
            if messages and not replies:
                replies = [bare(messages[0], loop.update())]
            model, _ = strategy.aggregate_train(number, replies)
            loop.model = model
        assert strategy.evidence.observations == (), (seed, settings)
        assert strategy.statement().status == "certified", (seed, settings)


def test_random_good_runs_have_no_alarm():
    assert_no_alarm(range(12))


@pytest.mark.slow
def test_a_hundred_random_good_runs_have_no_alarm():
    assert_no_alarm(range(100, 200))


def test_a_composed_event_alone_is_no_alarm():
    accountant = EpsilondAccountant(config())
    accountant.compose(event(), 10)
    assert accountant.evidence.observations == ()


def test_configuring_a_round_without_clients_is_no_round():
    strategy = system_fedavg(FedAvg(fraction_evaluate=0.0, fraction_train=0.0))
    assert list(strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes([1, 2]))) == []
    assert strategy.aggregate_train(1, []) == (None, None)
    assert strategy.statement().steps == 0

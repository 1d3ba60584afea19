"""DP-FedAvg as a strategy of Flower, as it is installed: what it releases, pays for, and refuses."""

import math
from dataclasses import replace

import numpy as np
import pytest
from flwr.app import ConfigRecord, Error, Message, MetricRecord, RecordDict
from flwr.serverapp.exception import AggregationError, PrivacyBudgetExhausted
from flwr.serverapp.strategy import FedAdam, FedAvg

import epsilond
from epsilond.integrations.budget import LedgerBudget
from epsilond.integrations.flower import AdaptiveClipping, FlowerPrivacyWarning
from tests.integrations.flower.flower_rounds import (
    DELTA,
    Nodes,
    aggregate,
    arrays,
    dp_fedavg,
    gaussian_delta,
    opened,
    reply,
    target,
)


@pytest.fixture
def books(tmp_path):
    with epsilond.ledger(tmp_path / "ledger.db") as opened:
        yield opened


def test_the_released_model_is_the_noisy_sum_over_a_fixed_number():
    updates = [[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]
    found = aggregate(dp_fedavg(participants=10), updates, weights=[1000, 1, 7])
    noise = np.random.default_rng(7).normal(0.0, 8.0, 2)
    assert found == pytest.approx((np.array([0.6 + 0.3, 0.8 + 0.4]) + noise) / 10.0, abs=1e-8)


@pytest.mark.parametrize("weights", [[1000, 10, 10, 10], [1, 1, 1, 1]])
@pytest.mark.parametrize("other", [[0.0, 0.0], [1e-9, 0.0], [-5.0, 0.0]])
def test_one_client_moves_the_released_mean_by_its_bound_whatever_it_weighs(weights, other):
    """With the same noise in both, only the sums differ: by C/M for a client that is zeroed, 2C/M for a replaced one."""
    rest = [[3.0, 1.0], [0.1, 0.0], [0.0, -9.0]]
    moved = aggregate(dp_fedavg(), [[5.0, 0.0], *rest], weights) - aggregate(dp_fedavg(), [other, *rest], weights)
    bound = (2.0 if other[0] < 0.0 else 1.0) / 4.0
    assert 0.999 * bound < np.linalg.norm(moved) <= bound * (1.0 + 1e-12)


def test_a_client_that_is_gone_moves_the_mean_by_its_bound_too():
    rest = [[-5.0], [-5.0], [-5.0]]
    there, gone = aggregate(dp_fedavg(), [[5.0], *rest]), aggregate(dp_fedavg(), rest)
    assert 0.2499 < float(np.linalg.norm(there - gone)) <= 0.25


def wrong_shape(message):
    content = RecordDict({"arrays": arrays([1.0]), "metrics": MetricRecord({"num-examples": 1})})
    return Message(content=content, reply_to=message)


@pytest.mark.parametrize(
    "second",
    [
        lambda message: Message(Error(code=1, reason="gone"), reply_to=message),
        lambda message: reply(message, [math.nan, 0.0]),
        lambda message: reply(message, [math.inf, 0.0]),
        wrong_shape,
        None,
    ],
    ids=["failed", "nan", "infinite", "other shape", "late"],
)
def test_a_reply_that_cannot_count_is_zero_and_the_denominator_stays(second):
    strategy = dp_fedavg(participants=2)
    asked = list(strategy.configure_train(1, arrays([0.0, 0.0]), ConfigRecord(), Nodes([1, 2])))
    replies = [reply(asked[0], [0.5, 0.0])] + ([second(asked[1])] if second else [])
    found, _ = strategy.aggregate_train(1, replies)
    noise = np.random.default_rng(7).normal(0.0, 8.0, 2)
    assert found["weights"].numpy() == pytest.approx((np.array([0.5, 0.0]) + noise) / 2.0, abs=1e-12)


def test_a_client_counts_once_and_only_if_it_was_asked():
    strategy = dp_fedavg(participants=2)
    asked = list(strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes([1, 2])))
    stranger = Message(content=asked[0].content, message_type="train", dst_node_id=9)
    replies = [reply(asked[0], [0.5]), reply(asked[0], [0.25]), reply(stranger, [0.75])]
    found, _ = strategy.aggregate_train(1, replies)
    noise = np.random.default_rng(7).normal(0.0, 8.0, 1)
    assert found["weights"].numpy() == pytest.approx((0.5 + noise) / 2.0, abs=1e-12)


def test_no_reply_at_all_ends_the_run_without_a_release_or_a_charge():
    strategy = dp_fedavg()
    strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes([1, 2]))
    with pytest.raises(AggregationError, match="nothing is released"):
        strategy.aggregate_train(1, [])
    assert (strategy.rounds, strategy.budget.taken) == (0, 0)


class Recorded(FedAvg):
    """A strategy that tells what it was given."""

    def __init__(self, said):
        super().__init__(fraction_evaluate=0.0)
        self.said = said

    def aggregate_train(self, server_round, replies):
        replies = list(replies)
        self.said.append(("given", [dict(each.content["metrics"]) for each in replies]))
        return super().aggregate_train(server_round, replies)


def test_a_round_is_paid_for_before_anything_is_handed_on():
    said = []
    strategy = dp_fedavg(Recorded(said))
    pay = strategy.budget.pay

    def told(step):
        said.append("paid")
        pay(step)

    strategy.budget.pay = told
    aggregate(strategy, [[1.0]] * 4)
    assert said == ["paid", ("given", [{"num-examples": 1.0}])]


def test_what_the_budget_refuses_is_not_released():
    said = []
    strategy = dp_fedavg(Recorded(said))
    # As if somebody else had spent it since the round was configured.
    strategy.budget.target = replace(strategy.budget.target, epsilon=1e-3)
    strategy._held = 1
    with pytest.raises(epsilond.LedgerExhausted):
        aggregate(strategy, [[1.0]] * 4)
    assert (said, strategy.rounds) == ([], 0)


def test_the_metrics_of_a_round_are_the_accounts_and_no_clients():
    strategy = dp_fedavg()
    asked = strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes([1, 2, 3, 4]))
    _, told = strategy.aggregate_train(1, [reply(each, [1.0]) for each in asked])
    assert set(told) == {"epsilon", "delta", "noise-std", "rounds", "clipping-norm", "rounds-held"}
    assert gaussian_delta(told["epsilon"], 1.0 / 8.0) == pytest.approx(DELTA, rel=1e-6)
    assert (told["noise-std"], told["rounds"]) == (2.0, 1)


def test_a_run_is_as_long_as_the_ledger_has_room_for(books):
    ledger = opened(books)
    strategy = dp_fedavg(budget=LedgerBudget(ledger, slot="gdp"))
    grid = Nodes([1, 2, 3, 4], lambda _, message: reply(message, [0.5]))
    strategy.start(grid, arrays([0.0]), num_rounds=1000)
    assert strategy.rounds == len(strategy.receipts)
    assert gaussian_delta(4.0, math.sqrt(strategy.rounds) / 8.0) <= DELTA
    assert (strategy.rounds + 1) / 64 > float(ledger.show().slots[0]["capacity"]["mu_squared"])
    assert {receipt.entry["count"] for receipt in strategy.receipts} == {1}
    assert strategy.privacy_spent().upper <= 4.0
    assert not ledger.what_if(spec=epsilond.Gaussian(noise_multiplier=8.0), slot="gdp").fits
    with pytest.raises(PrivacyBudgetExhausted):
        strategy.start(grid, arrays([0.0]), num_rounds=1)
    assert strategy.rounds == len(strategy.receipts)


def test_rounds_that_were_held_and_not_run_go_back(books):
    ledger = opened(books)
    strategy = dp_fedavg(budget=LedgerBudget(ledger, slot="gdp"))

    def answer(node, message):
        return reply(message, [0.5]) if strategy.rounds < 3 else Message(Error(code=1, reason="x"), reply_to=message)

    with pytest.raises(AggregationError):
        strategy.start(Nodes([1, 2, 3, 4], answer), arrays([0.0]), num_rounds=10)
    slot = ledger.show().slots[0]
    assert slot["reserved"]["mu_squared"] == "0"
    assert float(slot["used"]["mu_squared"]) == pytest.approx(3 / 64, rel=1e-9)


def test_the_item_of_a_plan_pays_and_must_be_of_this_mechanism(books):
    ledger = opened(
        books, plan={"train": epsilond.Repeated(times=5, mechanism=epsilond.Gaussian(noise_multiplier=8.0))}
    )
    strategy = dp_fedavg(budget=LedgerBudget(ledger, "train"))
    strategy.start(Nodes([1, 2], lambda _, message: reply(message, [0.5])), arrays([0.0]), num_rounds=9)
    assert ledger.show().plan[0]["committed"] == 5
    louder = dp_fedavg(noise_multiplier=4.0, budget=LedgerBudget(ledger, "train"))
    with pytest.raises(epsilond.NoCertificate, match="plan"):
        louder.start(Nodes([1, 2]), arrays([0.0]), num_rounds=1)


def test_without_start_each_round_asks_for_room():
    strategy = dp_fedavg(budget=target(epsilon=1.0))
    with pytest.raises(PrivacyBudgetExhausted):
        aggregate(strategy, [[1.0]] * 4, rounds=1000)
    assert strategy.rounds == strategy.budget.taken > 1
    assert strategy.privacy_spent().upper <= 1.0


def test_an_optimiser_works_on_the_noisy_mean_alone():
    """FedAdam's step from the same noisy mean, computed by hand."""
    found = aggregate(dp_fedavg(FedAdam(fraction_evaluate=0.0, eta=0.1, tau=0.01)), [[0.5]] * 4)
    mean = (2.0 + np.random.default_rng(7).normal(0.0, 8.0, 1)) / 4.0
    first, second = 0.1 * mean, 0.01 * mean**2
    rate = 0.1 * math.sqrt(1 - 0.99**2) / (1 - 0.9**2)
    assert found == pytest.approx(rate * first / (np.sqrt(second) + 0.01), rel=1e-9)


def test_poisson_cohorts_have_their_law():
    strategy = dp_fedavg(
        participants=3, cohort="poisson", population=10, budget=target(epsilon=1e3), noise_multiplier=2.0
    )
    rounds, nodes = 4000, list(range(1, 7))
    drawn = [
        {each.metadata.dst_node_id for each in strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes(nodes))}
        for _ in range(rounds)
    ]
    for node in nodes:
        share = sum(node in each for each in drawn) / rounds
        assert share == pytest.approx(0.3, abs=5.0 * math.sqrt(0.21 / rounds))
    both = sum({1, 2} <= each for each in drawn) / rounds
    assert both == pytest.approx(0.09, abs=5.0 * math.sqrt(0.09 * 0.91 / rounds))
    assert strategy.step.rate == 0.3


def test_an_empty_cohort_releases_noise_as_any_other():
    strategy = dp_fedavg(participants=1, cohort="poisson", population=10**9)
    assert list(strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes([1, 2]))) == []
    found, _ = strategy.aggregate_train(1, [])
    drawn = np.random.default_rng(7)
    assert (drawn.random(2) > 1e-9).all()  # who is asked
    assert found["weights"].numpy() == drawn.normal(0.0, 8.0, 1)
    assert strategy.rounds == 1


def test_cohorts_of_a_fixed_size_need_everybody():
    strategy = dp_fedavg(
        participants=2, cohort="without-replacement", population=5, budget=target(relation="replace-one")
    )
    drawn = strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes([1, 2, 3, 4, 5]))
    assert len({each.metadata.dst_node_id for each in drawn}) == 2
    with pytest.raises(AggregationError, match="4 clients are connected"):
        strategy.configure_train(2, arrays([0.0]), ConfigRecord(), Nodes([1, 2, 3, 4]))


def test_whom_the_strategy_draws_is_not_amplified_and_not_for_clients_that_are_gone():
    inner = FedAvg(fraction_train=0.5, fraction_evaluate=0.0)
    strategy = dp_fedavg(inner, cohort="strategy", budget=target(relation="zero-out-one"))
    asked = strategy.configure_train(1, arrays([0.0]), ConfigRecord(), Nodes(list(range(1, 9))))
    assert len({each.metadata.dst_node_id for each in asked}) == 4
    assert strategy.step == epsilond.Gaussian(noise_multiplier=8.0)
    with pytest.raises(epsilond.InvalidInput, match="in the place of one that is gone"):
        dp_fedavg(inner, cohort="strategy")


@pytest.mark.parametrize(
    "told",
    [
        {"participants": 0},
        {"clipping_norm": 0.0},
        {"clipping_norm": 1e100},
        {"noise_multiplier": 0.0},
        {"delta": 1.0},
        {"cohort": "poisson"},
        {"cohort": "poisson", "population": 3},
        {"population": 10},
        {"cohort": "random"},
        {"budget": target(unit="record")},
        {"budget": target(observer="server")},
    ],
)
def test_what_no_run_can_have_is_refused(told):
    with pytest.raises(epsilond.InvalidInput):
        dp_fedavg(**told)


def test_metrics_of_a_federated_evaluation_are_warned_of():
    with pytest.warns(FlowerPrivacyWarning, match="no ε covers them"):
        dp_fedavg(FedAvg())


def test_the_clipping_norm_goes_to_its_quantile_and_the_noise_is_shared():
    adaptive = AdaptiveClipping(count_noise_std=5.0, learning_rate=0.5)
    strategy = dp_fedavg(adaptive=adaptive, participants=100, budget=target(epsilon=50.0), noise_multiplier=4.0)
    together = math.hypot(1.0 / strategy._noise, 0.5 / 5.0)
    assert 1.0 / together == pytest.approx(4.0, rel=1e-12)
    assert strategy.step == epsilond.Gaussian(noise_multiplier=4.0)
    aggregate(strategy, [[norm] for norm in np.linspace(2.0, 4.0, 100)], rounds=40)
    assert strategy.clipping_norm == pytest.approx(3.0, abs=0.3)
    with pytest.raises(epsilond.InvalidInput, match="nothing for the updates"):
        dp_fedavg(adaptive=AdaptiveClipping(count_noise_std=2.0), noise_multiplier=4.0)


def test_the_count_moves_by_a_half_with_one_client():
    def centred(updates):
        strategy = dp_fedavg(adaptive=AdaptiveClipping(count_noise_std=50.0, learning_rate=1.0))
        before = strategy.clipping_norm
        aggregate(strategy, updates)
        return -4.0 * math.log(strategy.clipping_norm / before)  # the noise is the same in all

    rest = [[5.0], [0.5], [0.5]]
    absent = centred(rest)
    assert centred([[5.0], *rest]) - absent == pytest.approx(-0.5, abs=1e-9)
    assert centred([[0.5], *rest]) - absent == pytest.approx(0.5, abs=1e-9)
    assert centred([[0.0], *rest]) - absent == pytest.approx(0.0, abs=1e-9)

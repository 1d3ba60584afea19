"""Mistakes of programs that account for Flower's own wrappers: no ε is returned, or it names what it rests on.

Several follow public threads about Flower, which each test names.
"""

import contextlib
import random

import numpy as np
import pytest
from flwr.app import MetricRecord
from flwr.serverapp import SamplingMethod
from flwr.serverapp.strategy import (
    DifferentialPrivacyClientSideAdaptiveClipping,
    DifferentialPrivacyClientSideFixedClipping,
    DifferentialPrivacyServerSideAdaptiveClipping,
    DifferentialPrivacyServerSideFixedClipping,
    FedAdam,
    FedAvg,
    FedMedian,
)

import epsilond
from epsilond.integrations.flower import EpsilondAccountant, adaptive_noise_multiplier
from tests.integrations.flower.flower_rounds import DELTA, Loop, bare, config, event, fedavg, reply, target
from tests.integrations.flower.test_flower_mistakes import evaluated


def watched(inner=None, kind=DifferentialPrivacyServerSideFixedClipping, noise=4.0, clients=4, **more):
    """A wrapper without an accountant of its own, an accountant that watches it, and a loop that composes by hand."""
    system = more.pop("system_noise", True)
    accountant = EpsilondAccountant(config(population=clients, **more))
    fixed = [noise, 1.0, clients] if "Fixed" in kind.__name__ else [noise, clients, 1.0]
    strategy = kind(inner or fedavg(), *fixed)
    accountant.observe(strategy, system_noise=system)
    return accountant, Loop(strategy, nodes=clients)


def accounted(inner=None, clients=4, drawn=None, system_noise=True, **more):
    """Flower's server-side wrapper with the accountant that watches it."""
    accountant = EpsilondAccountant(config(population=clients, **more))
    strategy = DifferentialPrivacyServerSideFixedClipping(
        inner or fedavg(), 4.0, 1.0, drawn or clients, accountant=accountant
    )
    accountant.observe(strategy, system_noise=system_noise)
    return accountant, Loop(strategy, nodes=clients)


def assert_contradicted(accountant, premise, words):
    assert accountant.status == "contradicted"
    for read in (
        accountant.get_privacy_spent,
        accountant.statement,
        lambda: accountant.get_epsilon(DELTA),
        lambda: accountant.get_delta(1.0),
        lambda: accountant.would_exceed(event(), max_epsilon=100.0),
    ):
        with pytest.raises(epsilond.RunDiffers) as caught:
            read()
    observations = [each for each in caught.value.observations if each.premise == premise]
    assert any(words in each.message for each in observations), caught.value.observations
    assert all(each.count >= 1 and each.remedy for each in observations)


def test_an_accountant_that_only_counts_events_declares_every_premise():
    """https://github.com/flwrlabs/flower/pull/7884: the accountant composes whatever events it is given."""
    accountant = EpsilondAccountant(config())
    accountant.compose(event(), 10)
    statement = accountant.statement()
    assert statement.status == "declared"
    unobserved, *items = statement.declared
    assert unobserved == "The strategy was not observed: call accountant.observe(strategy) before its first round."
    assert len(items) == len(accountant.evidence.premises)
    assert all(item.endswith("Observed in 0 of 10 steps.") for item in items)
    assert statement.epsilon.upper == accountant.get_epsilon(DELTA)


def test_a_strategy_that_is_not_observed_is_the_first_item_of_the_statement():
    """Say so although the wrapper composes by itself."""
    accountant = EpsilondAccountant(config(population=4))
    assert accountant.statement().declared == ()
    wrapper = DifferentialPrivacyServerSideFixedClipping(fedavg(), 4.0, 1.0, 4, accountant=accountant)
    Loop(wrapper).rounds(3)
    assert accountant.status == "declared"
    assert accountant.statement().declared[0].startswith("The strategy was not observed: call accountant.observe")
    restored = EpsilondAccountant(config(population=4))
    restored.load_state_dict(accountant.state_dict())
    assert restored.statement() == accountant.statement()


def test_the_state_of_an_observed_run_is_read_without_its_strategy():
    """Return the statement of the run."""
    accountant, loop = accounted()
    loop.rounds(2)
    restored = EpsilondAccountant(accountant.config)
    restored.load_state_dict(accountant.state_dict())
    assert restored.statement() == accountant.statement()


def test_rounds_before_the_observation_are_not_shown():
    accountant, loop = accounted()
    late = EpsilondAccountant(config(population=4))
    late.compose(event(4.0, 4, 4), 2)
    wrapper = DifferentialPrivacyServerSideFixedClipping(fedavg(), 4.0, 1.0, 4, accountant=late)
    late.observe(wrapper, system_noise=True)
    loop.strategy = wrapper
    loop.rounds(3)
    assert accountant.num_releases == 0
    assert all(item.endswith("Observed in 3 of 5 steps.") for item in late.statement().declared)


def test_clients_that_weigh_by_their_examples():
    """https://github.com/VectorInstitute/FL4Health/pull/10 weights clients by their samples."""
    accountant, loop = watched()
    loop.round(answer=lambda each: bare(each, loop.update(), examples=1000 if each.metadata.dst_node_id == 1 else 10))
    accountant.compose(event(4.0, 4, 4))
    assert_contradicted(accountant, "one-update-per-client", "and the noise covers equal weights only")


@pytest.mark.parametrize("inner", [FedAdam(fraction_evaluate=0.0), FedMedian(fraction_evaluate=0.0)])
def test_an_optimiser_inside_the_wrapper(inner):
    """https://github.com/flwrlabs/flower/pull/822 adds FedAdam; the wrapper's noise is for the mean of FedAvg."""
    accountant, loop = watched(inner)
    loop.round()
    accountant.compose(event(4.0, 4, 4))
    name = type(inner).__name__
    assert_contradicted(accountant, "one-update-per-client", f"{name} returned another aggregate than the mean")


@pytest.mark.parametrize("number", [2, 6])
def test_another_number_of_replies_than_the_noise_is_for(number):
    """https://github.com/flwrlabs/flower/pull/2893 warns that this "could impact" the guarantee."""
    accountant, loop = watched(clients=4)
    messages = loop.messages()
    replies = [bare(each, loop.update()) for each in (messages + messages)[:number]]
    loop.strategy.aggregate_train(1, replies)
    accountant.compose(event(4.0, 4, 4))
    assert_contradicted(accountant, "divisor", f"the mean of {number} updates got noise for a mean of 4")


def test_a_client_that_replies_twice():
    accountant, loop = watched()
    messages = loop.messages()
    replies = [bare(each, loop.update()) for each in [messages[0], messages[0], messages[1], messages[2]]]
    loop.strategy.aggregate_train(1, replies)
    accountant.compose(event(4.0, 4, 4))
    assert_contradicted(accountant, "one-update-per-client", "1 replies of clients that had replied before")


def test_clients_that_do_not_clip():
    """https://github.com/flwrlabs/flower/pull/2893: fixedclipping_mod must be the last of the clients' mods."""
    accountant, loop = watched(kind=DifferentialPrivacyClientSideFixedClipping)
    loop.round()
    accountant.compose(event(4.0, 4, 4))
    assert_contradicted(accountant, "clipping", "exceeds the clipping norm 1")


def test_clients_that_clip_are_taken_at_their_word():
    accountant, loop = watched(kind=DifferentialPrivacyClientSideFixedClipping)
    loop.rounds(3, answer=lambda each: bare(each, 0.01 * loop.update()))
    accountant.compose(event(4.0, 4, 4), 3)
    statement = accountant.statement()
    assert statement.status == "declared"
    assert len(statement.declared) == 1
    assert "clients clip their own updates" in statement.declared[0]


def test_updates_that_are_not_finite():
    accountant, loop = watched(kind=DifferentialPrivacyClientSideFixedClipping)
    loop.round(answer=lambda each: bare(each, np.full(300, np.nan)))
    accountant.compose(event(4.0, 4, 4))
    assert_contradicted(accountant, "clipping", "an update of norm nan")


def test_numpys_generator_that_is_seeded_in_every_round():
    """https://github.com/flwrlabs/flower/issues/1845 seeds numpy for equal results."""
    accountant, loop = accounted(system_noise=False)
    np.random.seed(42)  # noqa: NPY002
    loop.round()
    np.random.seed(42)  # noqa: NPY002
    before = loop.model
    with pytest.raises(epsilond.RunDiffers):  # the wrapper asks for its ε before it returns the model
        loop.round()
    assert loop.model is before
    assert_contradicted(accountant, "noise", "numpy's global generator drew the noise from a state of an earlier round")


def test_the_same_program_with_noise_of_the_system_is_certified():
    accountant, loop = accounted()
    for _ in range(3):
        np.random.seed(42)  # noqa: NPY002
        loop.round()
        assert np.random.random() == pytest.approx(0.3745401188)  # noqa: NPY002  # the program's own draws are kept
    assert accountant.statement().status == "certified"


def test_numpys_generator_as_it_is_rests_on_the_caller():
    accountant, loop = accounted(system_noise=False)
    loop.rounds(3)
    statement = accountant.statement()
    assert statement.status == "declared"
    assert len(statement.declared) == 1
    assert "numpy's global generator drew the noise" in statement.declared[0]


@pytest.mark.parametrize(
    ("name", "value", "premise"),
    [
        ("noise_multiplier", 1.0, "noise"),
        ("num_sampled_clients", 3, "divisor"),
        ("strategy", fedavg(), "same-parts"),
        ("accountant", None, "same-parts"),
    ],
)
def test_settings_of_a_wrapper_that_change(name, value, premise):
    accountant, loop = accounted()
    loop.rounds(2)
    setattr(loop.strategy, name, value)
    with contextlib.suppress(
        epsilond.RunDiffers, ValueError
    ):  # the wrapper itself asks for its ε, or rejects the round
        loop.round()
    assert_contradicted(accountant, premise, f"{name} was changed during the run")


class Quiet(DifferentialPrivacyServerSideFixedClipping):
    """A wrapper whose author tests it without noise."""

    def _add_noise_to_aggregated_arrays(self, aggregated_arrays):
        return aggregated_arrays


def test_a_wrapper_that_adds_no_noise():
    accountant = EpsilondAccountant(config(population=4))
    strategy = Quiet(fedavg(), 4.0, 1.0, 4, accountant=accountant)
    accountant.observe(strategy)
    Loop(strategy).round()
    assert_contradicted(accountant, "noise", "the noise that was added is 0 times the recorded one")


@pytest.mark.parametrize(
    "kind", [DifferentialPrivacyServerSideAdaptiveClipping, DifferentialPrivacyClientSideAdaptiveClipping]
)
def test_adaptive_clipping_adds_less_noise_than_its_event_says(kind):
    """https://github.com/flwrlabs/flower/pull/2909: the count has sensitivity 1, and the noise of a smaller norm."""
    accountant, loop = watched(kind=kind, noise=1.0, clients=40)
    norm = loop.strategy.clipping_norm

    def answer(message):
        made = bare(message, 5.0 * loop.update() if "Server" in kind.__name__ else 0.05 * loop.update())
        made.content["metrics"]["norm_bit"] = 1
        return made

    loop.round(answer=answer)
    shrunk = loop.strategy.clipping_norm / norm
    accountant.compose(event(1.0, 40, 40))
    updates = loop.strategy.noise_multiplier * shrunk
    hidden = (updates**-2 + loop.strategy.clipped_count_stddev**-2) ** -0.5
    assert hidden < adaptive_noise_multiplier(loop.strategy)
    assert_contradicted(accountant, "noise", f"the noise multiplier 1 where a client is hidden by {hidden:.6g}")


def test_an_event_of_the_noise_that_adaptive_clipping_has_is_declared():
    accountant, loop = watched(kind=DifferentialPrivacyServerSideAdaptiveClipping, noise=1.0, clients=40)
    loop.round(answer=lambda each: bare(each, 5.0 * loop.update()))
    accountant.compose(event(0.6, 40, 40))
    statement = accountant.statement()
    assert statement.status == "declared"
    assert len(statement.declared) == 1
    assert "the noise of the count of clipped updates" in statement.declared[0]


def test_poisson_sampling_is_no_fixed_number():
    accountant, loop = watched(FedAvg(fraction_evaluate=0.0, fraction_train=0.1), clients=4, sampling="poisson")
    loop.nodes = list(range(1, 41))
    accountant = EpsilondAccountant(config(population=40, sampling=SamplingMethod.POISSON.value))
    strategy = DifferentialPrivacyServerSideFixedClipping(
        FedAvg(fraction_evaluate=0.0, fraction_train=0.1), 4.0, 1.0, 4
    )
    accountant.observe(strategy, system_noise=True)
    loop.strategy = strategy
    loop.round()
    accountant.compose(event(4.0, 4, 40))
    assert_contradicted(accountant, "fresh-cohort", "FedAvg draws a fixed number of clients")


def drawn_without_replacement(rounds, population=40, connected=40, before=lambda: None):
    relation = "replace-one"
    accountant = EpsilondAccountant(config(relation, "without-replacement", population))
    inner = FedAvg(fraction_evaluate=0.0, fraction_train=4 / connected)
    strategy = DifferentialPrivacyServerSideFixedClipping(inner, 4.0, 1.0, 4)
    accountant.observe(strategy, system_noise=True)
    loop = Loop(strategy, nodes=connected, size=50)
    for _ in range(rounds):
        before()
        loop.round()
        accountant.compose(event(4.0, 4, population))
    return accountant


def test_clients_that_are_drawn_by_a_generator_that_is_seeded_in_every_round():
    """https://github.com/flwrlabs/flower/issues/3328: Flower draws with `random.sample`."""
    accountant = drawn_without_replacement(5, before=lambda: random.seed(7))
    assert_contradicted(accountant, "fresh-cohort", "from a state of an earlier round")
    assert_contradicted(accountant, "fresh-cohort", "again and again")


def test_fewer_clients_than_the_population():
    accountant = drawn_without_replacement(1, population=100)
    assert_contradicted(accountant, "fresh-cohort", "40 clients were connected, and the event counts on 100")


def test_a_draw_of_pythons_generator_rests_on_the_caller():
    statement = drawn_without_replacement(5).statement()
    assert statement.status == "declared"
    assert len(statement.declared) == 1
    assert "Python's global generator drew the clients" in statement.declared[0]


def test_a_fixed_number_of_more_clients_has_no_epsilon_for_a_client_that_is_removed():
    accountant, loop = accounted(FedAvg(fraction_evaluate=0.0, fraction_train=0.25), clients=16, drawn=4)
    loop.round()
    assert_contradicted(accountant, "fresh-cohort", "4 of 16 clients were drawn: under add-or-remove-one")


def test_a_fixed_number_can_be_declared():
    inner = FedAvg(fraction_evaluate=0.0, fraction_train=0.25)
    accountant, loop = accounted(inner, clients=16, drawn=4)
    accountant.declare("fresh-cohort", "the ε is of a client whose update becomes zero")
    loop.rounds(3)
    statement = accountant.statement()
    assert statement.status == "declared"
    assert [item for item in statement.declared if "4 of 16 clients were drawn" in item]


def test_models_without_an_event():
    accountant, loop = watched()
    loop.rounds(2)
    accountant.compose(event(4.0, 4, 4))
    assert_contradicted(accountant, "rounds", "a round released a model, and no event was composed for it")
    accountant.compose(event(4.0, 4, 4))  # late, and in time for the ε
    assert accountant.statement().status == "certified"


def test_an_event_of_more_noise_than_was_added():
    accountant, loop = watched(noise=1.0)
    loop.round()
    accountant.compose(event(2.0, 4, 4))
    assert_contradicted(accountant, "noise", "the noise multiplier 2 where a client is hidden by 1")


def test_clients_that_receive_another_model_than_the_released_one():
    """https://github.com/flwrlabs/flower/pull/2826: checkpoints are loaded into the start of a run."""
    accountant, loop = accounted()
    loop.rounds(1)
    loop.model = type(loop.model)({name: type(part)(part.numpy() + 1.0) for name, part in loop.model.items()})
    with pytest.raises(epsilond.RunDiffers):
        loop.round()
    assert_contradicted(accountant, "parameters", "a model that no round of this strategy released")


def test_a_server_that_starts_again_without_its_state():
    """https://github.com/flwrlabs/flower/issues/599 wants the round number kept in checkpoints."""
    accountant, loop = accounted()
    with pytest.raises(epsilond.RunDiffers):
        loop.round(number=6)
    assert_contradicted(accountant, "rounds", "round 6 follows round 0")


def test_metrics_of_clients_are_listed():
    accountant, loop = accounted(FedAvg())
    loop.round(answer=lambda each: reply(each, loop.update()))
    evaluated(loop.strategy, loop)
    found = [item.partition(" Not observed: ")[2] for item in accountant.statement().declared]
    assert found == [
        "metrics that clients reported after training were handed out without noise.",
        "metrics that clients reported in a federated evaluation were handed out without noise.",
    ]


def test_methods_that_are_replaced_after_the_observation():
    accountant, loop = accounted()
    loop.rounds(1)
    loop.strategy.aggregate_evaluate = lambda *_: MetricRecord({"accuracy": 1.0})
    with pytest.raises(epsilond.RunDiffers):
        loop.round()
    assert_contradicted(accountant, "same-parts", "a method of the observed strategy was replaced")


def test_a_strategy_is_observed_once_and_by_its_own_accountant():
    accountant, loop = accounted()
    with pytest.raises(epsilond.InvalidInput, match="observed already"):
        accountant.observe(loop.strategy)
    with pytest.raises(epsilond.InvalidInput, match="another accountant"):
        EpsilondAccountant(config()).observe(loop.strategy)
    with pytest.raises(epsilond.InvalidInput, match="not a differentially private wrapper"):
        EpsilondAccountant(config()).observe(fedavg())


def test_a_contradicted_accountant_composes_no_more_on_its_budget():
    accountant = EpsilondAccountant(config(population=4), budget=target(epsilon=1e4))
    strategy = DifferentialPrivacyServerSideFixedClipping(fedavg(), 4.0, 1.0, 4)
    accountant.observe(strategy, system_noise=True)
    loop = Loop(strategy)
    loop.round(answer=lambda each: bare(each, loop.update(), examples=each.metadata.dst_node_id))
    with pytest.raises(epsilond.RunDiffers):
        accountant.compose(event(4.0, 4, 4))
    again = EpsilondAccountant(config(population=4), budget=target(epsilon=1e4))
    again.load_state_dict(accountant.state_dict())
    with pytest.raises(epsilond.RunDiffers):
        again.compose(event(4.0, 4, 4))

"""The rounds of TensorFlow Federated with their status, on states of the form that its source gives them."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import epsilond
from epsilond import RunDiffers
from epsilond.integrations.tff import TffRun, paid_round, spec_from_tff_state
from epsilond.runs.status import RunStatus
from tests.integrations.dp_accounting.test_dp_accounting_status import Budget
from tests.integrations.dp_accounting.test_dp_accounting_tff import ADAPTIVE, DPAggregatorState, G, as_tensors

SETTING = {"relation": "add-or-remove-one", "unit": "client", "observer": "released-models"}
DELTA = 1e-6


class Weights(NamedTuple):
    trainable: Any
    non_trainable: Any = ()


class Learning(NamedTuple):
    """The state of a learning process, with a counter as some have it."""

    global_model_weights: Any
    aggregator: Any
    round_num: Any


class Process:
    """A learning process: each round adds noise to the model."""

    def __init__(self, event=ADAPTIVE, later=None):
        self.event, self.later = event, later or event
        self.random = np.random.default_rng(0)

    def initialize(self):
        return self._state(np.zeros(3, np.float32), self.event, 0, first=True)

    def next(self, state):
        """Return the output of the round after this state."""
        number = int(state.round_num) + 1
        model = state.global_model_weights.trainable[0] + self.random.normal(size=3).astype(np.float32)
        return SimpleNamespace(state=self._state(model, self.event if number < 3 else self.later, number))

    def _state(self, model, event, number, *, first=False):
        aggregator = DPAggregatorState((), (), as_tensors(event.to_named_tuple()), np.bool_(first))
        return Learning(Weights([model], {"statistics": np.ones(2)}), aggregator, np.int32(number))


def start(process, **options):
    return TffRun(process.initialize(), **SETTING | options)


def test_rounds_are_declared_with_the_figure_of_their_events():
    process = Process()
    run = start(process, rate=0.02)
    for number in range(5):
        assert run.take_round(process.next).state.round_num == number + 1
    statement = run.statement(delta=DELTA)
    spec = epsilond.Repeated(times=5, mechanism=spec_from_tff_state(run.state, rate=0.02))
    assert run.spec == spec
    assert statement.epsilon == epsilond.account(spec, **SETTING).guarantee.curve.epsilon(delta=DELTA)
    assert statement.status is run.status is RunStatus.DECLARED
    assert statement.shown == {
        "fresh-cohort": 0,
        "one-update-per-client": 0,
        "noise": 0,
        "event": 5,
        "rounds": 5,
    }
    assert sum("typed by hand" in item for item in statement.declared) == 1
    assert run.get_epsilon(DELTA) == statement.epsilon.upper
    assert run.get_delta(statement.epsilon.upper) == pytest.approx(DELTA, rel=1e-6)


def test_without_sampling_no_choice_of_clients_is_claimed():
    process = Process(G(1.25))
    run = start(process)
    run.take_round(process.next)
    assert run.statement(delta=DELTA).shown["fresh-cohort"] == 1
    assert not any("typed by hand" in item for item in run.statement(delta=DELTA).declared)


def test_a_state_without_a_model_is_declared():
    aggregator = DPAggregatorState((), (), as_tensors(G(1.25).to_named_tuple()), np.bool_(True))
    run = TffRun(aggregator, **SETTING)
    for _ in range(2):
        run.take_round(lambda state: SimpleNamespace(state=state._replace(is_init_state=np.bool_(False))))
    assert any("global_model_weights" in item for item in run.statement(delta=DELTA).declared)


def test_a_checkpoint_continues_the_run():
    process = Process()
    first = start(process, rate=0.02)
    first.take_round(process.next)
    second = start(process, rate=0.02)
    second.load_state_dict(first.state_dict(), state=first.state)
    second.take_round(process.next)
    assert second.statement(delta=DELTA).steps == 2
    with pytest.raises(epsilond.InvalidInput):
        second.load_state_dict({}, state=first.state)


def reuse(process, run):
    """Run each round from the first state: https://github.com/google-research/DP-FTRL/issues/2 speaks of restarts."""
    first = run.state
    for _ in range(2):
        run.take_round(lambda _: process.next(first))


def go_back(process, run):
    states = [run.state, *(run.take_round(process.next).state for _ in range(3))]
    run.take_round(lambda _: process.next(states[1]))


def stand_still(process, run):
    run.take_round(process.next)
    run.take_round(lambda state: SimpleNamespace(state=state))


def initialize_again(process, run):
    run.take_round(process.next)
    run.take_round(lambda _: SimpleNamespace(state=process.initialize()))


def replay(process, run):
    kept = run.take_round(process.next)
    counter = iter(range(2, 9))
    run.take_round(lambda _: SimpleNamespace(state=kept.state._replace(round_num=np.int32(next(counter)))))


MISTAKES = {
    "a state that is used twice": (reuse, "rounds", "did not grow"),
    "a state of earlier rounds": (go_back, "rounds", "did not grow"),
    "a round that changes nothing": (stand_still, "rounds", "model of an earlier round"),
    "a process that starts anew": (initialize_again, "rounds", "initialize"),
    "a model of an earlier round": (replay, "rounds", "model of an earlier round"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_has_no_epsilon(name):
    mistake, premise, text = MISTAKES[name]
    process = Process()
    run = start(process, rate=0.02)
    with pytest.raises(RunDiffers, match=text) as differs:
        mistake(process, run)
    assert premise in [each.premise for each in differs.value.observations]
    for method in (run.get_epsilon, run.get_delta, lambda delta: run.statement(delta=delta)):
        with pytest.raises(RunDiffers):
            method(DELTA)
    assert run.status is RunStatus.CONTRADICTED
    with pytest.raises(RunDiffers):
        run.take_round(process.next)


def test_an_event_that_changes_contradicts_through_the_budget():
    process, budget = Process(later=G(0.5)), Budget()
    budget.unit = "client"
    run = start(process, rate=0.02, budget=budget)
    for _ in range(2):
        run.take_round(process.next)
    with pytest.raises(RunDiffers, match="the event of a round is"):
        run.take_round(process.next)
    assert (budget.paid, budget.observations[0].premise) == (3, "event")
    with pytest.raises(epsilond.InvalidInput):
        start(process, budget=budget, relation="replace-one")


def test_a_round_that_is_paid_by_itself_contradicts_through_the_budget():
    process = Process()
    spec = spec_from_tff_state(process.initialize(), planned=True)
    for run_round, premise in (
        (lambda: Process(G(0.5)).next(process.initialize()), "event"),
        (lambda: SimpleNamespace(state=process.initialize()), "rounds"),
    ):
        budget = Budget()
        with pytest.raises(RunDiffers):
            paid_round(budget, spec, run_round)
        assert (budget.paid, budget.observations[0].premise) == (1, premise)


def test_a_run_without_a_round_has_no_epsilon_and_a_declaration_is_printed():
    process = Process()
    run = start(process)
    with pytest.raises(RunDiffers, match="no round was seen"):
        run.statement(delta=DELTA)
    assert run.status is RunStatus.CONTRADICTED
    run.take_round(process.next)
    run.declare("fresh-cohort", "the coordinator drew each client by a fair coin")
    assert any("fair coin" in item for item in run.statement(delta=DELTA).declared)

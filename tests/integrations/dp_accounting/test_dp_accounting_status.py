"""The status of ε from events of dp-accounting: declared, and contradicted where the budget knows better."""

import copy

import dp_accounting
import pytest

import epsilond
from epsilond.accountants.errors import Observation
from epsilond.integrations.dp_accounting import EpsilondAccountant
from epsilond.runs.status import RunStatus

Relation = dp_accounting.NeighboringRelation
STEP = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
DELTA = 1e-5


class Budget:
    """A budget of enough, which can be informed of a contradiction."""

    relation, unit, observer = "add-or-remove-one", "record", "released-models"

    def __init__(self):
        self.paid, self.observations = 0, ()

    def pay(self, step, count=1):  # noqa: ARG002
        self.paid += count

    def would_exceed(self, step, count=1):  # noqa: ARG002
        return False

    def contradict(self, observations):
        self.observations = tuple(observations)


def central(**options):
    return EpsilondAccountant(Relation.ADD_OR_REMOVE_ONE, **{"unit": "record", "observer": "released-models"} | options)


def test_events_are_declared_with_the_figure_of_the_accountant():
    accountant = central().compose(STEP, 300).compose(dp_accounting.LaplaceDpEvent(20.0))
    statement = accountant.statement(delta=DELTA)
    assert statement.status is accountant.status is RunStatus.DECLARED
    assert statement.epsilon.upper == accountant.get_epsilon(DELTA)
    assert (statement.steps, statement.shown) == (301, {"event": 0})
    assert ["composed this event" in item for item in statement.declared] == [True]
    assert "Each protected person contributes one record." in statement.outside
    assert copy.deepcopy(accountant).statement(delta=DELTA) == statement


def test_the_word_of_the_caller_is_printed():
    accountant = central(unit="client").compose(STEP)
    accountant.declare("event", "the notebook of the run lists each step")
    statement = accountant.statement(delta=DELTA)
    assert any("the notebook of the run" in item for item in statement.declared)
    assert "Each client represents one protected person." in statement.outside
    with pytest.raises(epsilond.InvalidInput):
        accountant.declare("noise", "there was enough of it")


def test_nothing_composed_and_no_noise_have_their_bounds():
    assert central().statement(delta=DELTA).epsilon == (0.0, 0.0)
    lower, upper = central().compose(dp_accounting.NonPrivateDpEvent()).statement(delta=DELTA).epsilon
    assert lower == upper == float("inf")
    with pytest.raises(epsilond.InvalidInput):
        central().statement(delta=0.0)


@pytest.mark.parametrize("through", ["evidence", "budget"])
def test_a_contradicted_run_has_no_epsilon_and_takes_no_event(through):
    budget = Budget()
    accountant = EpsilondAccountant(Relation.ADD_OR_REMOVE_ONE, budget=budget).compose(STEP, 3)
    if through == "budget":
        budget.contradict([Observation("noise", "the noise repeats", remedy="Seed once.")])
    else:
        event = accountant.evidence.premises[0]
        accountant.evidence.contradict(event, "the mechanism of a step had no noise", remedy="Compose what ran.")
    for method in (
        lambda: accountant.get_epsilon(DELTA),
        lambda: accountant.get_delta(1.0),
        lambda: accountant.statement(delta=DELTA),
        lambda: accountant.compose(STEP),
    ):
        with pytest.raises(epsilond.RunDiffers, match="noise"):
            method()
    assert accountant.status is RunStatus.CONTRADICTED
    assert (budget.paid, len(budget.observations)) == (3, 1)
    assert accountant.ledger == dp_accounting.SelfComposedDpEvent(STEP, 3)


def test_calibration_does_not_depend_on_the_status():
    noise = dp_accounting.calibrate_dp_mechanism(
        central,
        lambda each: dp_accounting.SelfComposedDpEvent(
            dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(each)), 200
        ),
        1.0,
        DELTA,
        tol=1e-3,
    )
    assert 0.5 < noise < 2.0

"""Test the status of a run of `epsilond.train`, also for runs that differ from their calibration."""

import numpy as np
import pytest

import epsilond
from epsilond import RunDiffers, RunStatus
from epsilond.accountants.errors import Observation
from epsilond.mechanisms import seeded
from epsilond.runs.training import GIVEN_RANDOMNESS, OF_DEPLOYMENT, ROWS_OF_FUNCTIONS, UNPROTECTED_LOG
from epsilond.training import Client
from tests.training.runs import ALGORITHMS
from tests.training.test_train import trained

SETTING = {"relation": "replace-one", "unit": "record", "observer": "server"}
PROJECTED = {
    "epsilon": 2.0,
    "delta": 1e-5,
    "participants": 50,
    "radius": 4.0,
    "step_schedule": {"kind": "constant", "value": 4.0},
    "relation": "replace-one",
    "unit": "record",
    "observer": "final-model",
}


def hospitals(count=5, records=60, seed=0):
    features = np.random.default_rng(seed).standard_normal((count, records, 3)) / 3.0
    return [(each, np.where(each[:, 0] > 0.0, 1, -1)) for each in features]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_run_has_a_statement_whose_epsilon_is_the_calibrations(algorithm):
    run = trained(algorithm)
    statement = run.statement
    assert tuple(statement.epsilon) == (run.guarantee.epsilon.lower, run.guarantee.epsilon.upper)
    assert statement.delta == pytest.approx(10.0**run.guarantee.target.log10_delta)
    assert (statement.relation, statement.unit, statement.observer) == (
        run.guarantee.relation,
        run.guarantee.unit,
        run.guarantee.observer,
    )
    assert statement.steps == run.rounds
    assert statement.shown == {condition.id: run.rounds for condition in run.carried_out}
    needed = {condition.id for condition in run.calibration.declared_conditions}
    left = {condition.id for condition in run.left_to_you} & needed
    assert left - OF_DEPLOYMENT <= {condition.id for condition in run.left_to_you}
    assert statement.status == RunStatus.DECLARED  # clients are functions
    assert ROWS_OF_FUNCTIONS in statement.declared
    assert str(run.status) in repr(run)
    assert statement.outside


def test_a_run_on_tables_is_certified():
    run = epsilond.train(
        "mb-sgd", hospitals(), epsilon=2.0, delta=1e-5, diameter=8.0, rounds=5, batch_size=20, **SETTING
    )
    assert run.status == "certified"
    assert run.statement.declared == ()


def test_randomness_that_is_given_is_declared():
    features = hospitals()
    words = {"epsilon": 2.0, "delta": 1e-5, "diameter": 8.0, "rounds": 5, "batch_size": 20, **SETTING}
    run = epsilond.train("mb-sgd", features, randomness=seeded(3), **words)
    assert run.status == "declared"
    assert run.statement.declared == (GIVEN_RANDOMNESS,)
    shown = epsilond.train("mb-sgd", features, unprotected=True, **words)
    assert shown.statement.declared == (UNPROTECTED_LOG,)


def test_means_are_declared():
    features, targets = hospitals()[0]

    def gradient(model, places):
        margins = features[places] @ model
        rows = -(targets[places] / (1.0 + np.exp(targets[places] * margins)))[:, None] * features[places]
        return rows.mean(axis=0)

    clients = [Client(gradient=gradient, records=60, returns="means")] * 3
    run = epsilond.train(
        "mb-sgd", clients, dimension=3, lipschitz=1.0, epsilon=2.0, delta=1e-5, diameter=8.0, rounds=5, **SETTING
    )
    assert run.status == "declared"
    assert any("gradient" in item for item in run.statement.declared)


def test_projected_sgd_on_tables_is_certified_for_the_constants_of_its_losses():
    clients = epsilond.tabular(hospitals(200, 1))
    run = epsilond.train("projected-sgd", clients, **PROJECTED)
    assert run.status == "certified"
    assert "convex-losses" in run.statement.shown


@pytest.mark.parametrize(("name", "value"), [("smoothness", 0.2), ("lipschitz", 0.5)])
def test_constants_below_those_of_the_losses_are_contradicted_before_the_first_step(name, value):
    clients = epsilond.tabular(hospitals(200, 1))
    with pytest.raises(RunDiffers) as raised:
        epsilond.train(
            "projected-sgd", clients, **PROJECTED, **{name: value}, on_round=lambda *_: pytest.fail("it ran")
        )
    assert [each.premise for each in raised.value.observations] == [f"{name}-of-losses"]
    assert f"the calibration assumes {value:g}" in str(raised.value)


def test_the_report_has_the_status_and_is_confirmed():
    run = epsilond.train(
        "mb-sgd", hospitals(), epsilon=2.0, delta=1e-5, diameter=8.0, rounds=5, batch_size=20, **SETTING
    )
    page = run.report(date="2026-01-31")
    assert "Status of the run: certified" in page
    assert epsilond.verify(page).outcome == "exactly"


class Paid:
    """A ledger that takes any payment."""

    def __init__(self):
        self.observations = []

    def show(self):
        return {"relation": "replace-one", "unit": "record", "observer": "final-model", "slots": [{"kind": "gdp"}]}

    def reserve(self, *_, **__):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def commit(self):
        return self

    def contradict(self, observations):
        self.observations.extend(observations)


def test_a_gradient_beyond_lipschitz_marks_the_ledger_that_paid():
    ledger = Paid()
    clients = [Client(gradient=lambda _, places: np.full((len(places), 3), 9.0), records=1)] * 200
    with pytest.raises(RunDiffers, match="nothing is released"):
        epsilond.train(
            "projected-sgd", clients, **PROJECTED, dimension=3, lipschitz=1.0, smoothness=0.25, ledger=ledger
        )
    assert [(each.premise, each.count) for each in ledger.observations] == [("lipschitz-losses", 0)]
    assert isinstance(ledger.observations[0], Observation)

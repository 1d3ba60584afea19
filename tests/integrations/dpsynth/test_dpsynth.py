"""dpsynth's mechanisms, with their budgets searched and accounted for by epsilond."""

from functools import partial

import dp_accounting
import numpy as np
import pytest

from epsilond.integrations.dp_accounting import EpsilondAccountant
from tests.integrations.shown import assert_goes_as_shown

pytest.importorskip("dpsynth", reason="EPSILOND_PEERS names no folder with the source trees of dpsynth and mbi")
import mbi
from dpsynth import api, data_generation_v3, discrete_mechanisms, domain

ADD_OR_REMOVE = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
EPSILON, DELTA = 1.0, 1e-6
WORKLOAD = [("a", "b"), ("b", "c")]
MECHANISMS = {
    "AIM": discrete_mechanisms.AIMConfig(workload=WORKLOAD, max_rounds=2, pgm_iters=50),
    "AIM-GDP": discrete_mechanisms.AIMGDPConfig(workload=WORKLOAD, max_rounds=2, pgm_iters=50),
    "MST": discrete_mechanisms.MSTConfig(pgm_iters=50),
    "SWIFT": discrete_mechanisms.SWIFTConfig(workload=WORKLOAD, pgm_iters=50),
    "Direct": discrete_mechanisms.DirectConfig(prespecified_marginal_queries=WORKLOAD, pgm_iters=50),
}
COLUMNS = {
    "colour": domain.CategoricalAttribute(possible_values=["red", "green", "blue"]),
    "height": domain.NumericalAttribute(min_value=0, max_value=10),
    "town": domain.OpenSetCategoricalAttribute(),
}


def make_accountant(relation=ADD_OR_REMOVE, **_):
    return EpsilondAccountant(relation, unit="record", observer="released-models")


@pytest.fixture
def ours_in_place(monkeypatch):
    """Let epsilond answer where dpsynth asks dp-accounting for an accountant."""
    monkeypatch.setattr(dp_accounting.pld, "PLDAccountant", make_accountant)
    monkeypatch.setattr(dp_accounting.rdp, "RdpAccountant", make_accountant)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_event_of_each_mechanism_has_an_account(name):
    event = MECHANISMS[name].configure(zcdp_rho=0.05).dp_event
    epsilon = make_accountant().compose(event).get_epsilon(DELTA)
    assert 0.0 < epsilon <= dp_accounting.rdp.RdpAccountant().compose(event).get_epsilon(DELTA) * (1.0 + 1e-6)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_calibrated_by_ours(name, ours_in_place):
    event = MECHANISMS[name].calibrate(epsilon=EPSILON, delta=DELTA).dp_event
    epsilon = make_accountant().compose(event).get_epsilon(DELTA)
    assert 0.999 * EPSILON <= epsilon <= EPSILON


def test_a_calibrated_mechanism_synthesizes(ours_in_place):
    data = mbi.Dataset.synthetic(mbi.Domain(["a", "b", "c"], [3, 4, 5]), N=200)
    mechanism = MECHANISMS["MST"].calibrate(epsilon=EPSILON, delta=DELTA)
    assert mechanism(np.random.default_rng(0), data).synthetic_data.domain == data.domain


def test_a_table_has_a_larger_budget_than_by_renyi_divergences():
    config = data_generation_v3.TabularConfig(domains=COLUMNS)

    def find(make):
        make_event = partial(lambda rho: config.configure(zcdp_rho=rho, delta=DELTA / 10.0).dp_event)
        return dp_accounting.calibrate_dp_mechanism(make, make_event, EPSILON, DELTA)

    assert find(make_accountant) >= find(dp_accounting.rdp.RdpAccountant) * (1.0 - 1e-4)


def test_a_batch_of_a_table_is_answered_though_dpsynth_rejects_it(ours_in_place):
    config = data_generation_v3.TabularConfig(domains=COLUMNS)
    mechanism = config.calibrate(epsilon=EPSILON, delta=DELTA, poisson_sampling_prob=0.1)
    assert isinstance(mechanism, api.CalibratedMechanism)


def test_the_session_goes_as_shown():
    assert_goes_as_shown("dpsynth/test_dpsynth.py")

"""Accountants in the places of Opacus' own, against Opacus' own at the same history."""

import copy
import math

import pytest
from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant, create_accountant
from opacus.accountants.registry import _ACCOUNTANTS
from opacus.accountants.utils import get_noise_multiplier

from epsilond import InvalidInput
from epsilond.integrations.opacus import EpsilondAccountant, replace_accountants
from epsilond.integrations.opacus.drop_in import DROP_INS
from epsilond.runs.status import RunStatus

THEIRS = {"rdp": RDPAccountant, "gdp": GaussianAccountant, "prv": PRVAccountant}
HISTORY = [(1.5, 0.04, 2250)]


@pytest.fixture(autouse=True)
def places():
    """Put Opacus' own accountants back after each test."""
    before = dict(_ACCOUNTANTS)
    yield
    _ACCOUNTANTS.clear()
    _ACCOUNTANTS.update(before)


def test_every_mechanism_of_opacus_has_one():
    assert set(DROP_INS) == set(THEIRS) == {"rdp", "gdp", "prv"}


@pytest.mark.filterwarnings("ignore:GDP accounting is experimental")
@pytest.mark.parametrize("mechanism", THEIRS)
def test_a_program_that_names_a_mechanism_gets_certified_bounds(mechanism):
    replace_accountants(mechanism)
    ours, theirs = create_accountant(mechanism), THEIRS[mechanism]()
    assert isinstance(ours, EpsilondAccountant)
    assert ours.mechanism() == theirs.mechanism()
    ours.history = theirs.history = list(HISTORY)
    epsilon = ours.get_epsilon(delta=1e-5)
    assert ours.epsilon(delta=1e-5).lower <= epsilon
    if mechanism == "rdp":
        assert epsilon <= theirs.get_epsilon(delta=1e-5)
        assert ours.get_privacy_spent(delta=1e-5)[0] == epsilon
        assert math.isnan(ours.get_privacy_spent(delta=1e-5, alphas=[2.0])[1])
    elif mechanism == "prv":
        assert epsilon == pytest.approx(theirs.get_epsilon(delta=1e-5), abs=0.02)
    else:  # the limit of many steps is below the truth
        assert theirs.get_epsilon(delta=1e-5) < ours.epsilon(delta=1e-5).lower


def test_only_the_named_places_are_taken():
    replace_accountants("gdp")
    assert type(create_accountant("rdp")) is RDPAccountant
    assert isinstance(create_accountant("gdp"), DROP_INS["gdp"])
    replace_accountants()
    assert {name: type(create_accountant(name)) for name in DROP_INS} == DROP_INS
    with pytest.raises(InvalidInput):
        replace_accountants("moments")


def test_checkpoints_are_those_of_the_same_mechanism():
    replace_accountants()
    theirs = RDPAccountant()
    theirs.history = list(HISTORY)
    ours = create_accountant("rdp")
    ours.load_state_dict(theirs.state_dict())
    assert ours.history == HISTORY
    assert ours.status is RunStatus.DECLARED
    other = create_accountant("gdp")
    for wrong in (ours.state_dict(), {}, {"history": []}, {"1": 2}):
        with pytest.raises(ValueError, match=r"."):
            other.load_state_dict(wrong)
    again = copy.deepcopy(ours)
    assert type(again) is type(ours)
    assert again.get_epsilon(1e-5) == ours.get_epsilon(1e-5)


def test_noise_is_calibrated_by_the_accountant_in_the_place():
    before = get_noise_multiplier(target_epsilon=8, target_delta=1e-5, sample_rate=0.04, epochs=90, accountant="rdp")
    replace_accountants("rdp")
    after = get_noise_multiplier(target_epsilon=8, target_delta=1e-5, sample_rate=0.04, epochs=90, accountant="rdp")
    assert after < before
    ours = create_accountant("rdp")
    ours.history = [(after, 0.04, 2250)]
    assert ours.get_epsilon(1e-5) <= 8

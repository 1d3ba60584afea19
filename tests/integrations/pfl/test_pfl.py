"""pfl-research, as it is installed: our accountants in its mechanisms, and what its own leave to the user."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from mpmath import exp, mp, mpf, ncdf
from pfl.aggregate.weighting import WeightByDatapoints, WeightByUser
from pfl.context import UserContext
from pfl.privacy.gaussian_mechanism import GaussianMechanism
from pfl.privacy.joint_privacy_accountant import JointPrivacyAccountant
from pfl.privacy.privacy_accountant import (
    PLDPrivacyAccountant,
    PrivacyAccountant,
    PRVPrivacyAccountant,
    RDPPrivacyAccountant,
)
from pfl.privacy.privacy_mechanism import CentrallyAppliedPrivacyMechanism
from pfl.stats import MappedVectorStatistics

import epsilond
from epsilond.integrations.pfl import (
    EpsilondJointPrivacyAccountant,
    EpsilondPrivacyAccountant,
    PflPrivacyWarning,
    check_postprocessors,
    spec_from_pfl,
)
from tests.integrations.shown import assert_goes_as_shown

DELTA = 1e-6
ONCE = {"num_compositions": 10, "sampling_probability": 1.0, "mechanism": "gaussian"}
SAMPLED = {"num_compositions": 500, "sampling_probability": 0.01, "mechanism": "gaussian"}


def gaussian_delta(epsilon, mu):
    """δ of the Gaussian mechanism, from the two normal tails, in forty digits."""
    with mp.workdps(40 + int(abs(epsilon))):
        ratio, half = mpf(epsilon) / mpf(mu), mpf(mu) / 2
        return float(ncdf(half - ratio) - exp(mpf(epsilon)) * ncdf(-half - ratio))


def certified(noise, told):
    """The certified δ of this noise at ε = 2."""
    run = spec_from_pfl(noise_parameter=noise, **told)
    account = epsilond.account(run, relation="add-or-remove-one", unit="client", observer="released-models")
    return account.guarantee.curve.delta(epsilon=2.0)


def test_the_noise_is_the_smallest_that_meets_the_target():
    found = EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, **ONCE)
    assert isinstance(found, PrivacyAccountant)
    mu = math.sqrt(10) / found.noise_parameter
    assert gaussian_delta(2.0, mu) <= DELTA * (1.0 + 1e-12)
    assert gaussian_delta(2.0, mu * (1.0 + 1e-6)) > DELTA


@pytest.mark.parametrize("told", [ONCE, SAMPLED])
def test_pfls_own_search_ends_on_either_side_of_the_target_and_ours_on_the_safe_one(told):
    ours = EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, **told).noise_parameter
    assert certified(ours, told).upper <= DELTA
    theirs = PLDPrivacyAccountant(epsilon=2.0, delta=DELTA, **told).noise_parameter
    assert theirs == pytest.approx(ours, rel=2e-3)
    assert certified(theirs, told).lower > DELTA
    if told is SAMPLED:
        assert (round(ours, 6), round(theirs, 6)) == (0.913254, 0.913239)
        assert certified(theirs, told).lower == pytest.approx(1.0006e-6, rel=1e-5)
    assert RDPPrivacyAccountant(epsilon=2.0, delta=DELTA, **told).noise_parameter > 1.01 * ours


def test_an_estimate_may_promise_more_than_is_so():
    told = {"num_compositions": 1000, "sampling_probability": 0.001, "mechanism": "gaussian"}
    estimated = PRVPrivacyAccountant(epsilon=1.0, delta=1e-8, **told).noise_parameter
    run = spec_from_pfl(noise_parameter=estimated, **told)
    curve = epsilond.account(
        run, relation="add-or-remove-one", unit="client", observer="released-models"
    ).guarantee.curve
    assert curve.delta(epsilon=1.0).lower > 1e-8
    ours = EpsilondPrivacyAccountant(epsilon=1.0, delta=1e-8, **told)
    assert ours.curve.delta(epsilon=1.0).upper <= 1e-8


@pytest.mark.parametrize("told", [ONCE, SAMPLED])
def test_epsilon_and_delta_are_upper_ends_of_one_curve(told):
    found = EpsilondPrivacyAccountant(noise_parameter=3.0, delta=DELTA, **told)
    back = EpsilondPrivacyAccountant(noise_parameter=3.0, epsilon=found.epsilon, **told)
    assert back.delta == pytest.approx(DELTA, rel=1e-6)
    theirs = PLDPrivacyAccountant(noise_parameter=3.0, delta=DELTA, **told)
    assert found.epsilon == pytest.approx(theirs.epsilon, rel=2e-3)
    if told is ONCE:
        assert gaussian_delta(found.epsilon, math.sqrt(10) / 3.0) == pytest.approx(DELTA, rel=1e-9)


def test_three_numbers_are_checked_and_more_noise_than_needed_is_fine():
    needed = EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, **ONCE).noise_parameter
    assert EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, noise_parameter=needed * 1.1, **ONCE).epsilon == 2.0
    with pytest.raises(ValueError, match=r"gives ε = 2\.00"):
        EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, noise_parameter=needed * 0.999, **ONCE)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"epsilon": 2.0}, AssertionError),
        ({"epsilon": 2.0, "delta": 2.0}, AssertionError),
        ({"epsilon": 2.0, "delta": DELTA, "mechanism": "uniform"}, ValueError),
        ({"epsilon": 2.0, "delta": DELTA, "noise_scale": 0.0}, ValueError),
        ({"epsilon": 2.0, "delta": DELTA, "sampling_probability": 0.0}, ValueError),
    ],
)
def test_what_no_run_can_have_is_refused(fields, error):
    with pytest.raises(error):
        EpsilondPrivacyAccountant(**ONCE | fields)


def test_sampling_of_laplace_noise_counts():
    told = {"num_compositions": 10, "sampling_probability": 0.05, "mechanism": "laplace"}
    ours = EpsilondPrivacyAccountant(noise_parameter=1.0, delta=DELTA, **told)
    theirs = PLDPrivacyAccountant(noise_parameter=1.0, delta=DELTA, **told)
    assert ours.epsilon == pytest.approx(theirs.epsilon, rel=1e-2)
    assert RDPPrivacyAccountant(noise_parameter=1.0, delta=DELTA, **told).epsilon > 3.0 * ours.epsilon


def test_the_mechanism_takes_the_noise_of_the_accountant():
    found = EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, **ONCE)
    mechanism = GaussianMechanism.from_privacy_accountant(found, 0.5)
    assert mechanism.relative_noise_stddev == found.noise_parameter == found.cohort_noise_parameter
    assert mechanism.privacy_accountant is found
    zeros = MappedVectorStatistics({"model": np.zeros(20_000)}, weight=1.0)
    noisy, _ = mechanism.add_noise(zeros, cohort_size=10, seed=3)
    assert np.std(noisy["model"]) == pytest.approx(0.5 * found.noise_parameter, rel=0.03)


def test_less_noise_for_a_small_cohort_is_warned_of_with_what_it_gives():
    with pytest.warns(PflPrivacyWarning, match="This run as it is has ε ≤") as told:
        found = EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, noise_scale=0.25, **ONCE)
    assert found.cohort_noise_parameter == 0.25 * found.noise_parameter
    assert gaussian_delta(found.epsilon_as_run, math.sqrt(10) / found.cohort_noise_parameter) == pytest.approx(
        DELTA, rel=1e-9
    )
    assert found.epsilon_as_run > 4.0 * found.epsilon
    assert f"{found.epsilon_as_run:.6g}" in str(told[0].message)
    assert Path(told[0].filename).name == "test_pfl.py"  # the warning points at who made the accountant


def test_without_a_scale_nothing_is_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PflPrivacyWarning)
        found = EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, **ONCE)
    assert found.epsilon_as_run <= found.epsilon


# Several mechanisms together


def test_joint_mechanisms_meet_their_totals_and_waste_little():
    told = (["gaussian", "gaussian"], [10, 40], [1.0, 1.0])
    found = EpsilondJointPrivacyAccountant(*told, total_epsilon=2.0, total_delta=DELTA, budget_proportions=[0.75, 0.25])
    assert isinstance(found, JointPrivacyAccountant)
    mu = math.hypot(math.sqrt(10) / found.noise_parameters[0], math.sqrt(40) / found.noise_parameters[1])
    assert 0.97 * DELTA < gaussian_delta(2.0, mu) <= DELTA * (1.0 + 1e-12)
    theirs = JointPrivacyAccountant(
        told[0], PLDPrivacyAccountant, *told[1:], total_epsilon=2.0, total_delta=DELTA, budget_proportions=[0.75, 0.25]
    )
    assert found.noise_parameters == pytest.approx(theirs.noise_parameters, rel=5e-3)
    assert found.cohort_noise_parameters == found.noise_parameters


def test_each_share_is_that_of_the_same_epsilon():
    found = EpsilondJointPrivacyAccountant(["gaussian"] * 2, 10, 1.0, total_epsilon=2.0, total_delta=DELTA)
    first, second = found.noise_parameters
    assert first == second
    together = epsilond.calibrate(
        "gaussian",
        solve_for="noise_multiplier",
        relation="add-or-remove-one",
        sampling="full",
        rounds=20,
        epsilon=2.0,
        delta=DELTA,
        unit="record",
        observer="server",
    )
    assert first == pytest.approx(together.parameters.noise_multiplier, rel=1e-3)
    assert first >= together.parameters.noise_multiplier * (1.0 - 1e-9)


def test_joint_noises_are_composed_and_checked():
    told = (["gaussian", "gaussian"], [10, 40], [1.0, 1.0])
    found = EpsilondJointPrivacyAccountant(*told, total_delta=DELTA, noise_parameters=[5.0, 20.0])
    mu = math.hypot(math.sqrt(10) / 5.0, math.sqrt(40) / 20.0)
    assert gaussian_delta(found.total_epsilon, mu) == pytest.approx(DELTA, rel=1e-9)
    back = EpsilondJointPrivacyAccountant(*told, total_epsilon=found.total_epsilon, noise_parameters=[5.0, 20.0])
    assert back.total_delta == pytest.approx(DELTA, rel=1e-6)
    with pytest.raises(ValueError, match="gives ε"):
        EpsilondJointPrivacyAccountant(*told, total_epsilon=1.0, total_delta=DELTA, noise_parameters=[5.0, 20.0])


def test_budgets_of_each_are_composed_better_than_their_sum():
    found = EpsilondJointPrivacyAccountant(
        ["gaussian", "gaussian"],
        10,
        1.0,
        mechanism_epsilons=[1.0, 1.0],
        mechanism_deltas=[DELTA, DELTA],
        total_delta=DELTA,
    )
    mu = math.sqrt(20) / found.noise_parameters[0]
    assert found.noise_parameters[0] == found.noise_parameters[1]
    assert gaussian_delta(1.0, mu / math.sqrt(2)) == pytest.approx(DELTA, rel=1e-5)
    assert gaussian_delta(found.total_epsilon, mu) == pytest.approx(DELTA, rel=1e-9)
    assert found.total_epsilon < 1.6


def test_a_joint_scale_is_warned_of():
    with pytest.warns(PflPrivacyWarning, match="This run as it is"):
        EpsilondJointPrivacyAccountant(
            ["gaussian"] * 2, 10, 1.0, total_delta=DELTA, noise_parameters=[5.0, 5.0], noise_scale=0.5
        )


# Postprocessors


def mechanism():
    accountant = EpsilondPrivacyAccountant(epsilon=2.0, delta=DELTA, **ONCE)
    return CentrallyAppliedPrivacyMechanism(GaussianMechanism.from_privacy_accountant(accountant, 1.0))


def sent(postprocessors, examples):
    """What a user with so many examples sends of an update of norm 5."""
    stats = MappedVectorStatistics({"model": np.array([3.0, 4.0])}, weight=1.0)
    user = UserContext(num_datapoints=examples, seed=1)
    for each in postprocessors:
        stats, _ = each.postprocess_one_user(stats=stats, user_context=user)
    return float(np.linalg.norm(stats["model"])), stats.weight


def test_users_weighed_by_examples_after_the_clipping_are_clipped_no_more():
    order = [mechanism(), WeightByDatapoints()]
    norm, weight = sent(order, 40)
    assert (norm, weight) == (pytest.approx(40.0, rel=1e-6), 40)
    with pytest.warns(PflPrivacyWarning) as told:
        found = check_postprocessors(order)
    assert [str(each.message) for each in told] == found
    assert [("stands after" in each, "generator" in each) for each in found] == [(False, True), (True, False)]


def test_users_weighed_before_the_clipping_tell_their_examples_by_the_weights():
    order = [WeightByDatapoints(), mechanism()]
    norm, weight = sent(order, 40)
    assert (norm, weight) == (pytest.approx(1.0, rel=1e-6), 40)
    with pytest.warns(PflPrivacyWarning):
        found = check_postprocessors(order)
    assert [("gets no noise" in each, "generator" in each) for each in found] == [(True, False), (False, True)]


def test_users_weighed_alike_are_warned_of_for_the_generator_only():
    order = [WeightByUser(), mechanism()]
    assert sent(order, 40) == (pytest.approx(1.0, rel=1e-6), 1)
    with pytest.warns(PflPrivacyWarning, match="framework's generator") as told:
        assert len(check_postprocessors(order)) == len(told) == 1
    assert check_postprocessors([WeightByDatapoints()]) == []


def test_the_sessions_of_the_documents():
    assert_goes_as_shown("pfl/test_pfl.py", "docs/integrations-federated.md")

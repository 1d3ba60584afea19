"""A privacy loss distribution of dp-accounting as a profile, also with a mass of infinite losses."""

import pytest
from dp_accounting.pld import privacy_loss_distribution as distributions

import epsilond
from epsilond.integrations.dp_accounting import profile_from_pld

SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
DISTRIBUTIONS = {
    "no infinite loss": distributions.from_laplace_mechanism(1.0),
    "a small mass of infinite losses": distributions.from_gaussian_mechanism(0.4, sampling_prob=0.1).self_compose(5),
    "a large mass of infinite losses": distributions.from_privacy_parameters(
        distributions.common.DifferentialPrivacyParameters(1.0, 0.01)
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_profile_is_at_least_the_distribution_and_close_to_it(name):
    distribution = DISTRIBUTIONS[name]
    curve = epsilond.account(profile_from_pld(distribution), **SETTING).guarantee.curve
    for epsilon in (0.0, 0.3, 1.0, 2.0, 5.0):
        theirs = float(distribution.get_delta_for_epsilon(epsilon))
        assert theirs <= curve.delta(epsilon=epsilon).upper <= theirs * 1.01 + 2e-5

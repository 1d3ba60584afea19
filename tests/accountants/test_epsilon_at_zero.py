"""ε is exactly 0 where δ(0) meets the target already: a search ends close to 0, and callers compare with 0."""

import pytest

import epsilond

SETTING = {"relation": "add-or-remove-one", "unit": "record", "observer": "released-models"}
GAUSSIAN = epsilond.Gaussian(noise_multiplier=2.0)
BATCHES = epsilond.Repeated(times=100, mechanism=epsilond.Subsampled(sampling="poisson", rate=0.01, mechanism=GAUSSIAN))


@pytest.mark.parametrize(
    "spec", [GAUSSIAN, BATCHES, epsilond.Laplace(scale_multiplier=3.0), epsilond.Zcdp(rho=0.01)], ids=lambda s: s.kind
)
def test_epsilon_is_zero_where_the_advantage_meets_the_target(spec):
    curve = epsilond.account(spec, **SETTING).guarantee.curve
    largest = curve.delta(epsilon=0.0).upper
    for factor in (1.0 + 1e-9, 1.01, 1.5):
        bounds = curve.epsilon(delta=largest * factor)
        assert (bounds.lower, bounds.upper) == (0.0, 0.0)
    assert curve.epsilon(delta=largest * 0.99).upper > 1e-6

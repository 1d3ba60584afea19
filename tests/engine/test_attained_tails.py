"""Lower bounds of products in which a part is itself a product: they are below the truth, which tails of tables are not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.enclosure import Enclosure
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.profiles.amplification import subsample_at
from epsilond.accountants.profiles.attained_tails import attained_table
from epsilond.accountants.profiles.gaussian import GaussianProfile, ZeroProfile, gaussian_pair
from epsilond.accountants.profiles.thinned import thin
from epsilond.accountants.rule import Effort
from epsilond.accountants.specs import DiscreteGaussian, Gaussian, Repeated, Subsampled
from epsilond.accountants.specs.mechanisms import Mechanism
from epsilond.accountants.theorems.conversions.escape import FailingProfile


def product(mu: float, times: int = 4) -> Pair:
    """The pair of μ as a product on a lattice: each factor is Gaussian, and the lattice does not know it."""
    pair = compose([(gaussian_pair(mu / math.sqrt(times)), times)])
    assert isinstance(pair.forward, ComposedProfile)
    return Pair(pair.forward, pair.backward)


def gaussian_profile(mu: float, alpha: np.ndarray) -> np.ndarray:
    """E_α of N(μ, 1) against N(0, 1), also for α < 1, where it is 1 − α + α E_{1/α}."""
    exact = np.exp(gaussian_pair(mu).forward.log_delta(np.abs(np.log(alpha))).upper)
    return np.where(alpha < 1.0, 1.0 - alpha + alpha * exact, exact)


@pytest.mark.parametrize("mu", [0.05, 0.5, 2.0])
def test_attained_lines_are_below_the_profile_at_every_place(mu: float) -> None:
    profile = product(mu).forward
    thresholds = mu * np.linspace(0.0, 6.0, 200)
    tails = profile.attained_log_tails(thresholds)
    assert tails is not None
    alpha = np.exp(np.linspace(-8.0 * mu, 8.0 * mu, 999))
    truth = gaussian_profile(mu, alpha)
    lines = np.exp(tails.log_p)[:, None] - np.exp(tails.log_q)[:, None] * alpha
    assert (lines <= truth * (1.0 + 1e-9)).all()
    # Each line is close to the profile at its own threshold, where there is much to be seen.
    own = np.exp(tails.log_p) - np.exp(tails.log_q + thresholds)
    exact = gaussian_profile(mu, np.exp(thresholds))
    assert (own[exact > 1e-6] >= 0.9 * exact[exact > 1e-6]).all()


@pytest.mark.parametrize(("mu", "rate", "times"), [(0.3, 0.1, 3), (1.0, 0.02, 100), (0.3, 0.5, 1000)])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 1.0])
def test_a_sampled_product_composes_to_bounds_around_the_truth(
    mu: float, rate: float, times: int, epsilon: float
) -> None:
    exact = compose([(subsample_at(gaussian_pair(mu), rate), times)])
    tabulated = compose([(subsample_at(product(mu), rate), times)])
    for truth, bounds in zip(exact.directions(), tabulated.directions(), strict=True):
        lower, upper = bounds.log_delta_bounds(epsilon)
        least, most = truth.log_delta_bounds(epsilon)
        assert lower <= most
        assert least <= upper
        if most > -30.0:
            assert lower >= most - 0.1 * (1.0 + abs(most))


@pytest.mark.parametrize("times", [3, 100])
def test_a_product_that_may_fail_composes_to_bounds_around_the_truth(times: int) -> None:
    def failing(pair: Pair) -> Pair:
        return Pair(FailingProfile(pair.forward, math.log(1e-6)), FailingProfile(pair.backward, math.log(1e-6)))

    exact, tabulated = (compose([(failing(pair), times)]) for pair in (gaussian_pair(0.3), product(0.3)))
    for truth, bounds in zip(exact.directions(), tabulated.directions(), strict=True):
        lower, upper = bounds.log_delta_bounds(0.0)
        least, most = truth.log_delta_bounds(0.0)
        assert lower <= most
        assert least <= upper


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_a_product_that_is_run_at_random_composes_to_bounds_around_the_truth(epsilon: float) -> None:
    exact, tabulated = (compose([(thin(pair, 0.25), 7)]) for pair in (gaussian_pair(0.3), product(0.3)))
    assert tabulated.log_delta_bounds(epsilon).lower <= exact.log_delta_bounds(epsilon).upper
    assert exact.log_delta_bounds(epsilon).lower <= tabulated.log_delta_bounds(epsilon).upper


@pytest.mark.parametrize("effort", ["coarse", "default", "fine"])
@pytest.mark.parametrize("times", [3, 100])
def test_batches_of_several_integer_releases_are_those_of_gaussian_noise(times: int, effort: Effort) -> None:
    """At scale 30 both kinds of noise have the same profile to eight digits."""

    def batches(mechanism: Mechanism) -> Repeated:
        batch = Subsampled(sampling="poisson", rate=0.1, mechanism=Repeated(times=100, mechanism=mechanism))
        return Repeated(times=times, mechanism=batch)

    gaussian, integers = (
        account(batches(mechanism), relation="add-or-remove-one", effort=effort).guarantee.curve
        for mechanism in (
            Gaussian(noise_multiplier=30.0),
            DiscreteGaussian(scale=30.0, l2_sensitivity=1.0, dimension=1),
        )
    )
    for epsilon in (0.0, 0.25, 0.5, 1.5):
        lower, upper = integers.log_delta(epsilon)
        least, most = gaussian.log_delta(epsilon)
        assert lower <= most + 1e-5
        assert least - 1e-5 <= upper


@pytest.mark.parametrize("width", [0.0, 0.01, 1.0])
def test_a_table_of_wide_bounds_is_below_the_profile_too(width: float) -> None:
    mu, points = 0.5, np.linspace(0.0, 4.0, 40)
    known = GaussianProfile(mu).log_delta(points)
    table = attained_table(points, Enclosure(known.lower - width, known.upper), -math.inf)
    assert table is not None
    alpha = np.exp(np.linspace(-4.0, 4.0, 999))
    tails = table.tails(points)
    lines = np.exp(tails.log_p)[:, None] - np.exp(tails.log_q)[:, None] * alpha
    assert (lines <= gaussian_profile(mu, alpha) * (1.0 + 1e-9)).all()


def test_a_few_points_have_no_table() -> None:
    points = np.linspace(0.0, 4.0, 2)
    assert attained_table(points, GaussianProfile(0.5).log_delta(points), -math.inf) is None
    assert ZeroProfile().attained_log_tails(points) is None

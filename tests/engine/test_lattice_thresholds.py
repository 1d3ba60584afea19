"""True positive rates of a composition against the closed form."""

import math

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from epsilond.accountants.curve.least import LeastProfile
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.trade_off import TradeOff

SIZES = (1e-3, 1e-2, 1e-5)


def exact_rate(mu: float, size: float) -> float:
    """Φ(Φ⁻¹(α) + μ), of N(μ, 1) against N(0, 1)."""
    return float(ndtr(ndtri(size) + mu))


@pytest.mark.parametrize(("mu", "times"), [(0.1, 9), (0.02, 1000), (0.3, 40)])
def test_rates_of_composed_gaussians_are_enclosed_closely(mu: float, times: int) -> None:
    order = compose([(gaussian_pair(mu), times)]).forward
    trade = TradeOff.of(order, order, SIZES)
    for size in SIZES:
        total = mu * math.sqrt(times)
        found, truth = trade.true_positives(size, floor=size), exact_rate(total, size)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= 4e-3 * truth


def test_the_least_of_composed_bounds_is_the_smaller_one() -> None:
    small, large = (compose([(gaussian_pair(mu), 100)]).forward for mu in (0.05, 0.5))
    least = LeastProfile((large, small))
    epsilon = np.asarray([0.0, 0.5, 1.5])
    assert np.array_equal(least.log_delta(epsilon).upper, small.log_delta(epsilon).upper)


@pytest.mark.parametrize(("mu", "times"), [(0.1, 9), (0.02, 1000), (0.3, 40)])
def test_upper_ends_alone_are_those_of_a_bound_that_is_as_close(mu: float, times: int) -> None:
    """Without lower ends nothing but time changes: they are never read, and the rate is as close from above."""
    order = compose([(gaussian_pair(mu), times)]).forward
    assert isinstance(order, ComposedProfile)
    trade = TradeOff.of(order, order, SIZES, lower=False)
    assert trade.advantage.lower == 0.0
    for size in SIZES:
        found, truth = trade.true_positives(size, floor=size), exact_rate(mu * math.sqrt(times), size)
        assert found.lower == pytest.approx(size)
        assert truth <= found.upper <= truth * (1.0 + 5e-4)
    half = 0.5 * mu * math.sqrt(times)
    assert trade.advantage.upper == pytest.approx(math.erf(half / math.sqrt(2.0)), rel=5e-4)
    assert not any(upper is False for _, upper in order._transforms.spectra)


def test_upper_ends_of_several_epsilons_hold_at_each() -> None:
    """δ of N(μ, 1) against N(0, 1) in closed form, far from and near to the ε that the transform suits."""
    total = 0.1 * math.sqrt(50)
    order = compose([(gaussian_pair(0.1), 50)]).forward
    assert isinstance(order, ComposedProfile)
    epsilons = [0.0, 0.5, 1.0, 2.5]
    for epsilon, end in zip(epsilons, order.upper_log_deltas(epsilons), strict=True):
        truth = ndtr(0.5 * total - epsilon / total) - math.exp(epsilon) * ndtr(-0.5 * total - epsilon / total)
        assert truth <= math.exp(end)
    assert math.exp(order.upper_log_deltas([1.0])[0]) == pytest.approx(
        ndtr(0.5 * total - 1.0 / total) - math.e * ndtr(-0.5 * total - 1.0 / total), rel=1e-3
    )

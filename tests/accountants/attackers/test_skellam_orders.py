"""ρ and μ of Skellam noise, also of small noise, against sums and roots in many digits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.attackers.smallest_gaussian import smallest_gaussian
from epsilond.accountants.profiles.integers.skellam_renyi import SkellamRenyi
from epsilond.accountants.specs import Skellam
from tests.accountants.attackers.test_orders import curve, divergence, skellam_law


def root(ratio: Any) -> Any:
    """The v with v cosh v equal to a ratio."""
    return mp.findroot(lambda v: mp.log(v) + mp.log(mp.cosh(v)) - mp.log(ratio), min(ratio, mp.asinh(ratio)))


@pytest.mark.parametrize(
    ("variance", "shift"), [(9.0, 2), (0.3, 1), (400.0, 30), (1e-5, 1), (0.01, 1), (0.05, 1), (0.01, 3), (2.0, 9)]
)
def test_a_rho_of_skellam_noise_is_the_largest_quotient(variance: float, shift: int) -> None:
    """No order has a larger D_a/a, and one of the listed orders is close, also where k²/2μ is thousands of times ρ."""
    noise = SkellamRenyi(variance, shift)
    for order in 1.0 + np.geomspace(1e-4, 1e3, 29):
        assert noise.divergence(float(order)).lower <= noise.rho * order
    with mp.workdps(40):
        law = skellam_law(variance, 60 + 12 * shift + int(25 * math.sqrt(variance)))
        quotients = [divergence(law, shift, 1 + mp.mpf(10) ** t) / (1 + mp.mpf(10) ** t) for t in (-5, -2, -1, 0, 0.5)]
    assert max(quotients) <= noise.rho <= 1.003 * max(quotients)


@pytest.mark.parametrize("noise", [SkellamRenyi(0.05, 1), SkellamRenyi(9.0, 2), SkellamRenyi(2.0**-20, 4)])
def test_the_closed_bound_of_the_far_quotients_of_skellam_noise_falls(noise: SkellamRenyi) -> None:
    """The bound from an order on is above the quotients at all larger orders, by the bounds in closed form as well."""
    orders = np.geomspace(1e-3, 1e6, 41)
    bounds = [noise._quotient_from(float(t)) for t in orders]
    assert all(later <= earlier * (1.0 + 1e-12) for earlier, later in itertools.pairwise(bounds))
    for t, bound in zip(orders.tolist(), bounds, strict=True):
        assert noise.divergence(1.0 + t).lower / (1.0 + t) <= bound
        v = root(t * noise.shift / mp.mpf(noise.variance))
        area = v**2 * mp.cosh(v) - v * mp.sinh(v) + mp.cosh(v) - 1
        parts = noise._closed_parts(t)
        assert noise.variance * area <= parts[0] <= noise.variance * area * (1 + 1e-6)
        assert noise.shift * v + mp.log(2) <= parts[1]


@pytest.mark.parametrize("noise", [SkellamRenyi(2.0**-20, 10**15), SkellamRenyi(9.0, 10**6)])
def test_a_rho_of_a_far_shift_of_skellam_noise_is_near_the_loss_of_its_centre(noise: SkellamRenyi) -> None:
    """The mean loss is about k arsinh(k/μ) − k, where k²/2μ is thousands of times as large."""
    k = noise.shift
    mean_loss = k * math.asinh(k / noise.variance) - k
    assert mean_loss * 0.99 <= noise.rho <= 2.5 * mean_loss


@pytest.mark.parametrize(("variance", "shift"), [(1e-5, 1), (0.01, 1), (0.05, 1), (0.01, 3)])
def test_the_smallest_mu_of_small_skellam_noise_is_finite_and_close(variance: float, shift: int) -> None:
    spec = Skellam(variance=variance, l1_sensitivity=shift, l2_sensitivity=shift, dimension=1)
    lower, upper = smallest_gaussian(curve(spec, "replace-one"))
    with mp.workdps(40):
        law = skellam_law(variance, 60)
        total = mp.fsum(max(law[abs(y)] - law[abs(y - shift)], 0) for y in range(-50, 51))
        # δ(0) = 2 Φ(μ/2) − 1 is the δ that needs the largest μ of small noise.
        least = 2 * mp.sqrt(2) * mp.erfinv(total)
    assert lower <= upper <= least * 1.00001
    assert least <= upper * (1.0 + 1e-9)

"""N(μ, 1) against N(0, 1): ends at one ε against the definition, and ε(δ) against the inverse in many digits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, MixtureProfile
from tests.oracles.hockey_stick import theta

MUS = (1e-6, 0.02, 0.7, 5.0, 90.0)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0, 3.0])
def test_ends_at_one_epsilon_enclose_the_definition(mu: float, share: float) -> None:
    epsilon = share * mu * (0.5 * mu + 6.0)
    ends = gaussian_pair(mu).log_delta_bounds(epsilon)
    with mp.workdps(50):
        truth = mp.log(theta(epsilon, mu)[0])
    assert ends.lower <= truth <= ends.upper
    assert ends.upper - ends.lower <= 1e-14 * (1.0 + abs(ends.upper)) * (1.0 + mu)


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("log_delta", [-1e-3, -1.0, -14.0, -300.0, -20000.0])
def test_epsilon_lies_between_ends_on_both_sides_of_the_target(mu: float, log_delta: float) -> None:
    found = gaussian_pair(mu).epsilon(log_delta)
    with mp.workdps(60):
        if found.lower > 0.0:
            assert mp.log(theta(found.lower, mu)[0]) > log_delta
        assert mp.log(theta(found.upper, mu)[0]) <= log_delta
    assert math.isfinite(found.upper)
    assert found.upper - found.lower <= 1e-9 * found.upper


def test_a_flat_loss_between_far_means_is_inverted_without_an_overflow() -> None:
    weights, mean = (-1.0000000500000032e-07, -16.11809565095832), 4377.742059698126
    p, q = (LineMixture(weights, (0.0, side * mean)) for side in (1.0, -1.0))
    tails = MixtureProfile(p, q, side=1).log_tails(np.array([626.5484367904307]))
    # Between the means the loss exceeds ε where P drew its far component, which Q never does.
    assert tails.log_p == pytest.approx(weights[1], abs=1e-6)

"""Few outcomes beside a Gaussian mechanism, against sums over the outcomes to fifty digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants import specs
from epsilond.accountants.account import account
from epsilond.accountants.profiles.products.finite_and_gaussian import FiniteAndGaussianProfile

AT = np.asarray([0.0, 0.01, 0.3, 1.0, 2.5, 5.0, 20.0, 60.0])
CASES = [(0.1, 1, 0.5), (0.5, 3, 1.2), (1.0, 1, 0.01), (3.0, 2, 4.0), (0.02, 40, 0.3), (8.0, 5, 0.001)]


def tails(mu: mp.mpf, at: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """P(L > x) and Q(L > x) of N(μ, 1) against N(0, 1), at any x."""
    return mp.ncdf(mu / 2 - at / mu), mp.ncdf(-mu / 2 - at / mu)


@pytest.mark.parametrize(("epsilon0", "times", "mu"), CASES)
def test_it_is_the_sum_over_outcomes(epsilon0: float, times: int, mu: float) -> None:
    """Of δ and of both tails, with the loss j ε₀ − (T − j) ε₀ where j of T answers are a record's own."""
    noise = 2.0 / mu
    response = specs.RandomizedResponse(epsilon=epsilon0, categories=2)
    both = (specs.Repeated(times=times, mechanism=response), specs.Gaussian(noise_multiplier=noise))
    found = account(specs.Composed(mechanisms=both), relation="replace-one").guarantee.curve.upper.forward
    assert isinstance(found, FiniteAndGaussianProfile)
    ends, read = found.log_delta(AT), found.log_tails(AT)
    with mp.workdps(50):
        own, shift = 1 / (1 + mp.exp(-mp.mpf(epsilon0))), mp.mpf(2) / mp.mpf(noise)
        for place, epsilon in enumerate(AT.tolist()):
            first = second = raised_first = raised_second = mp.mpf(0)
            for j in range(times + 1):
                loss = (2 * j - times) * mp.mpf(epsilon0)
                mass = mp.binomial(times, j) * own**j * (1 - own) ** (times - j)
                above, below = tails(shift, mp.mpf(epsilon) - loss)
                first += mass * above
                second += mass * mp.exp(-loss) * below
                above, below = tails(shift, mp.mpf(epsilon) - mp.mpf(found.loss_error) - loss)
                raised_first += mass * above
                raised_second += mass * mp.exp(-loss) * below
            delta = mp.log(first - mp.exp(mp.mpf(epsilon)) * second)
            assert ends.lower[place] <= delta <= ends.upper[place]
            assert ends.upper[place] - ends.lower[place] <= 1e-9 * (1 + abs(delta))
            for log_tail, truth in ((read.log_p[place], raised_first), (read.log_q[place], raised_second)):
                slack = found.tail_accuracy * (1 + abs(mp.log(truth)))
                assert abs(mp.mpf(float(log_tail)) - mp.log(truth)) <= slack

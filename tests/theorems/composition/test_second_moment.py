"""What a second moment bounds, against exact sums and closed forms, and where it takes the place of a lattice."""

from __future__ import annotations

import math

import pytest
from mpmath import binomial, exp, mp, mpf

from epsilond.accountants.account import account
from epsilond.accountants.composition.methods import Fallback, RareMethod
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.profiles.amplification import AmplifiedProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.products.one_large_step import OneLargeStep, RepeatedStep
from epsilond.accountants.profiles.products.second_moment import rare_composition, second_moment
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled


def batch(rate: float, mu: float = 2.0) -> Pair:
    profile = AmplifiedProfile(gaussian_pair(mu).forward, rate)
    return Pair(profile, profile)


def never() -> Pair:
    raise AssertionError("nothing asks for the lattice")


def exact_delta(times: int, local: float, epsilon: float) -> float:
    """Of so many binary randomised responses, by the sum over how many are true."""
    with mp.workdps(60):
        keep = exp(mpf(local)) / (1 + exp(mpf(local)))
        terms = (
            binomial(times, k)
            * max(
                mpf(0), keep**k * (1 - keep) ** (times - k) - exp(mpf(epsilon)) * keep ** (times - k) * (1 - keep) ** k
            )
            for k in range(times + 1)
        )
        return float(sum(terms))


@pytest.mark.parametrize("local", [1e-6, 1e-3, 0.02])
@pytest.mark.parametrize("share", [0.0, 0.5, 2.0])
def test_it_bounds_many_responses_and_not_by_much(local: float, share: float) -> None:
    times = 400
    epsilon = share * local * math.sqrt(times)
    moment = second_moment([(response_pair(local, 2), times)])
    assert moment is not None
    truth = math.log(exact_delta(times, local, epsilon))
    assert truth <= moment.log_delta(epsilon) <= truth + (0.3 if share == 0.0 else 3.0)


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("rate", [1e-12, 1e-7])
def test_the_moment_of_a_batch_is_that_of_its_profile(rate: float, backward: bool) -> None:
    """By hand 2∫E dγ is q² (χ² of the base less its part below one), and e^{μ²} − 1 is χ² in all."""
    count, square = 10**9, rate * rate * math.expm1(4.0)
    moment = second_moment([(batch(rate), count)], backward=backward)
    assert moment is not None
    growth = math.log1p(moment.variance) / (count * square)
    assert 1.0 < growth < 2.01
    assert moment.log_exceeding < -100.0


@pytest.mark.parametrize("epsilon", [0.0, 1e-7, 1e-6, 1e-5, 1e-3])
def test_rare_steps_need_no_lattice(epsilon: float) -> None:
    rare = rare_composition([(batch(1e-12), 10**9)], never)
    assert rare is not None
    pair = rare.pair
    large = OneLargeStep((RepeatedStep(batch(1e-12), 10**9),))
    ends = pair.log_delta_bounds(epsilon)
    assert ends.lower <= ends.upper < -15.0
    if epsilon > 0.0:
        assert ends.upper <= large.log_delta(epsilon).upper
    # Opposite contributions on the batch are realised, and known from an engine.
    draw = Subsampled(
        sampling="without-replacement", batch_size=1, population=10**12, mechanism=Gaussian(noise_multiplier=1.0)
    )
    known = account(Repeated(times=10**9, mechanism=draw), relation="replace-one").guarantee.curve.log_delta(epsilon)
    assert known.lower <= ends.upper
    if epsilon == 0.0:
        assert known.lower == pytest.approx(-17.4144599, abs=1e-6)


def test_other_products_are_left_to_the_engines() -> None:
    assert rare_composition([(batch(1e-6), 10**9)], never) is None
    fallback = Fallback(never)
    assert RareMethod().replace_fallback([(batch(1e-12), 10**5)], fallback) is fallback
    assert rare_composition([(batch(1e-12), 10**9), (gaussian_pair(1e-6), 1)], never) is None


def test_epsilon_is_zero_where_delta_is_never_reached() -> None:
    rare = rare_composition([(batch(1e-12), 10**9)], never)
    assert rare is not None
    pair = rare.pair
    assert pair.epsilon(math.log(1e-6)) == (0.0, 0.0)
    found = pair.epsilon(math.log(1e-12))
    assert pair.log_delta_bounds(found.upper).upper <= math.log(1e-12)
    assert found.upper < 3e-5

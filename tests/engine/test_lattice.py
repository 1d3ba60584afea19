"""The lattice engine against closed forms, direct convolution and published figures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.profiles.amplification import AmplifiedProfile, subsample_at
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.gaussian import GaussianProfile, gaussian_pair
from tests.oracles.convolution import Law, delta


@pytest.fixture(autouse=True)
def _forty_digits() -> Iterator[None]:
    with mp.workdps(40):
        yield


def ends(pair: Pair, epsilon: float) -> tuple[float, float]:
    found = pair.forward.log_delta(np.asarray([epsilon]))
    return float(found.lower[0]), float(found.upper[0])


def encloses(pair: Pair, epsilon: float, truth: mp.mpf, width: float) -> None:
    lower, upper = ends(pair, epsilon)
    exact = float(mp.log(truth))
    assert lower <= exact + 1e-13 * abs(exact)
    assert exact <= upper + 1e-13 * abs(exact)
    assert upper - lower <= width


def without_replacement(rate: float, shift: float) -> Pair:
    profile = AmplifiedProfile(GaussianProfile(shift), rate)
    return Pair(profile, profile)


@pytest.mark.parametrize("mu", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("times", [2, 50, 10**6])
def test_composed_gaussians_are_gaussian(mu: float, times: int) -> None:
    hidden = replace(gaussian_pair(mu), gaussian_dp_mu=None)
    product = compose([(hidden, times)])
    whole = GaussianProfile(mu * math.sqrt(times))
    for target in (-1.0, -14.0, -70.0):
        epsilon = Curve(Pair(whole, whole)).bound_epsilon(target).upper
        exact = float(whole.log_delta(np.asarray([epsilon])).upper[0])
        lower, upper = ends(product, epsilon)
        assert lower <= exact + 1e-12 * abs(exact)
        assert exact <= upper + 1e-12 * abs(exact)
        assert upper - lower <= 5e-3


def response(epsilon: float, failure: float = 0.0) -> tuple[Pair, Law]:
    """Binary randomised response that fails, revealing all, with some probability."""
    with mp.workdps(40):
        odds = mp.e ** mp.mpf(epsilon)
        kept = 1 - mp.mpf(failure)
        high, low = kept * odds / (1 + odds), kept / (1 + odds)
        atoms = ((mp.mpf(epsilon), high), (-mp.mpf(epsilon), low))
        profile = AtomicProfile((epsilon,), (float(mp.log(high)),), float(mp.log(failure)) if failure else -math.inf)
    return Pair(profile, profile), (atoms, mp.mpf(failure))


@pytest.mark.parametrize("failure", [0.0, 1e-3])
@pytest.mark.parametrize(("level", "times"), [(0.3, 10), (0.501, 20), (1.5, 7)])
def test_randomised_response_against_direct_convolution(level: float, times: int, failure: float) -> None:
    pair, law = response(level, failure)
    product = compose([(pair, times)])
    for share in (0.0, 0.37, 0.8):
        epsilon = share * level * times
        encloses(product, epsilon, delta(law, times, epsilon), 5e-2)


def test_an_infinite_loss_is_never_left_out_of_the_upper_end() -> None:
    pair, _ = response(0.501, 1e-3)
    assert math.exp(ends(compose([(pair, 20)]), 6.0)[1]) >= 1 - (1 - 1e-3) ** 20


def test_beyond_the_largest_loss_delta_is_zero() -> None:
    pair, _ = response(0.5)
    assert ends(compose([(pair, 10)]), 5.0001) == (-math.inf, -math.inf)


@pytest.mark.parametrize(
    ("rate", "noise", "target", "golden"),
    [(0.01, 2.0, 1e-6, (2.512843729609184, 2.512844506451615)), (0.01, 1.0, 1e-6, (16.9615, 16.9625))],
)
def test_sampling_without_replacement(rate: float, noise: float, target: float, golden: tuple[float, float]) -> None:
    product = compose([(without_replacement(rate, 2 / noise), 1000)])
    bound = Curve(product).bound_epsilon(math.log(target))
    assert bound.lower <= golden[1]
    assert golden[0] <= bound.upper
    assert bound.upper - bound.lower <= 1e-3


@pytest.mark.parametrize(
    ("log10_delta", "epsilon"), [(-6, 2.124515171120119), (-12, 3.914298156037466), (-30, 9.34189563270514)]
)
def test_poisson_sampling(log10_delta: int, epsilon: float) -> None:
    product = compose([(subsample_at(gaussian_pair(1.0), 0.01), 1000)])
    bound = Curve(product).bound_epsilon(log10_delta * math.log(10))
    assert bound.lower <= epsilon <= bound.upper
    assert bound.upper - bound.lower <= 1e-3 * epsilon


@pytest.mark.parametrize("epsilon", [0.0, 0.0243, 0.03, 0.1])
def test_rare_giant_losses_do_not_blind_it(epsilon: float) -> None:
    """At the tilt this δ asks for, the transform is ruled by events of probability e^−1000. Both engines must agree."""
    rate, shift, times = 25 / 60_000, 2 / 15.572745513539457, 10_000
    other = contour.log_delta([(SampledGaussianLaw(rate, shift, "remove"), times)], epsilon)
    lower, upper = ends(compose([(subsample_at(gaussian_pair(shift), rate), times)]), epsilon)
    assert lower <= other.upper
    assert other.lower <= upper
    assert upper - lower <= 1e-3


def test_a_count_is_a_list_of_copies() -> None:
    pair = without_replacement(0.02, 1.0)
    for epsilon in (0.0, 0.3):
        assert ends(compose([(pair, 6)]), epsilon) == ends(compose([(pair, 2), (pair, 4)]), epsilon)


def test_different_mechanisms_in_any_order() -> None:
    parts = [(without_replacement(0.02 + 0.001 * place, 0.8), 3 + place) for place in range(12)]
    there, back = ends(compose(parts), 0.5), ends(compose(parts[::-1]), 0.5)
    assert there[0] <= back[1]
    assert back[0] <= there[1]
    assert there[1] - there[0] <= 1e-2


RUNS = {
    "rate": st.floats(1e-6, 1.0),
    "noise": st.floats(0.3, 30.0),
    "times": st.integers(2, 10**6),
    "epsilon": st.floats(0.0, 8.0),
}


@settings(max_examples=8, deadline=None, derandomize=True, database=None)
@given(**RUNS)
def test_ends_are_ordered_and_finite_where_they_should_be(**run: float) -> None:
    require_ordered_ends(**run)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(**RUNS)
def test_ends_of_many_runs_are_ordered_and_finite(**run: float) -> None:
    require_ordered_ends(**run)


def require_ordered_ends(rate: float, noise: float, times: float, epsilon: float) -> None:
    lower, upper = ends(compose([(without_replacement(rate, 2 / noise), int(times))], budget=Budget.coarse()), epsilon)
    assert not math.isnan(lower)
    assert not math.isnan(upper)
    assert lower <= upper <= 0.0

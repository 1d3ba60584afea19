"""How the lattice engine finds tilts, takes frequencies and searches ε: any way is certified, and the short way close."""

from __future__ import annotations

import math

import numpy as np
import pytest

import epsilond
from epsilond.accountants.curve.enclosure import LARGEST_EPSILON
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.discretise import LatticeDistribution
from epsilond.accountants.engine.lattice.laws import LatticeComposition
from epsilond.accountants.engine.lattice.periodic.direct_transform import SplitFrequencies
from epsilond.accountants.engine.lattice.powers import Power
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.engine.lattice.search import _bounded_search, epsilon_of
from epsilond.accountants.engine.lattice.tilted import FlatDistributions, TiltCoordinate
from epsilond.accountants.engine.lattice.tilted_line import (
    TiltedDistribution,
    TiltedLine,
    all_frequencies,
    transform_at_frequencies,
)
from epsilond.accountants.numerics.root_search import Guess
from epsilond.accountants.profiles.amplification import subsample_at
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair
from tests.engine.pairs import poisson, randomized_response, without_replacement

BELL = (np.linspace(-1.0, 1.2, 81), -(np.linspace(-1.0, 1.2, 81) ** 2))
GIANT = (np.append(BELL[0], 300.0), np.append(BELL[1] - 3.6, -900.0))


def weighted(*laws: tuple[np.ndarray, np.ndarray], counts: list[float]) -> FlatDistributions:
    sizes = [location.size for location, _ in laws]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    return FlatDistributions(
        np.concatenate([location for location, _ in laws]),
        np.concatenate([mass - np.logaddexp.reduce(mass) for _, mass in laws]),
        starts,
        np.asarray(counts),
    )


LAWS = {
    "one law": weighted(BELL, counts=[50.0]),
    "two laws": weighted(BELL, (0.1 * BELL[0], BELL[1]), counts=[5.0, 900.0]),
    "a rare giant loss": weighted(GIANT, counts=[100.0]),
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 3.0, 20.0, 45.0, 200.0])
@pytest.mark.parametrize("start", [-40.0, -2.0, 0.0, 3.0, 19.0])
def test_the_tilt_is_found_wherever_the_search_begins(name: str, direct: bool, epsilon: float, start: float) -> None:
    """The derivative of K(λ) − λε − log|λ (1 + λ)| changes sign within a thirtieth of it, or the chart ends there."""
    laws = LAWS[name]

    def rises(y: float) -> bool:
        place = TiltCoordinate(y, direct)
        return laws.cumulants(place.tilt).mean - epsilon > place.pull

    lowest, highest = (-45.0, 20.0) if direct else (-30.0, 30.0)
    y = laws.saddle(epsilon, direct=direct, start=start).y
    assert y <= lowest + 0.03 or not rises(y - 0.03)
    assert y >= highest - 0.03 or rises(y + 0.03)


def test_cumulants_of_one_law_are_those_of_it_beside_another() -> None:
    alone, beside = weighted(BELL, counts=[7.0]), weighted(BELL, (BELL[0], BELL[1]), counts=[7.0, 0.0])
    np.testing.assert_allclose(alone.cumulants(1.7), beside.cumulants(1.7), rtol=1e-14)
    assert alone.log_moments(1.7)[0] == pytest.approx(beside.log_moments(1.7)[1], rel=1e-14)


def line() -> TiltedLine:
    index = np.asarray([-37, -12, 0, 5, 60, 301], dtype=np.int64)
    law = LatticeDistribution(index, np.log([0.1, 0.2, 0.3, 0.25, 0.1, 0.05]), -math.inf)
    return TiltedLine.of(LatticeComposition.of([law], [7], 0.01), TiltCoordinate(0.3, direct=True))


def values(power: Power) -> np.ndarray:
    return np.exp(power.log_size + 1j * power.angle)


@pytest.mark.parametrize("kept", [np.arange(40), np.arange(0, 4000, 7), np.arange(900, 2900), np.asarray([0, 1, 3999])])
def test_frequencies_are_the_same_by_sums_and_by_one_fft(kept: np.ndarray) -> None:
    """And the same as φ summed as it stands, within the errors that both state."""
    size, made = 8000, line()
    by_sums = transform_at_frequencies(made, size, kept.astype(np.int64), 0.25)
    by_fft = all_frequencies(made, size, kept.astype(np.int64), 0.25)
    (law,) = made.parts()
    phi = np.exp(-2j * np.pi / size * np.multiply.outer(kept, law.index)) @ law.weights
    for power in (by_sums, by_fft):
        assert power.skipped == 0.25
        assert np.all(power.growth < 1e-9)
        # The direct sum itself is good to 1e-12.
        errors = np.abs(values(power) - phi**law.count)
        assert np.all(errors <= np.exp(power.log_size) * np.expm1(power.growth) + 1e-12)
    everything = all_frequencies(made, size)
    np.testing.assert_array_equal(everything.log_size[kept], by_fft.log_size)


@pytest.mark.parametrize("kept", [np.arange(300), np.arange(0, 4000, 61), np.arange(900, 2900), np.arange(0, 5000, 3)])
@pytest.mark.parametrize("outcomes", [3, 2500])
def test_sums_by_runs_are_the_plain_ones(kept: np.ndarray, outcomes: int) -> None:
    """Compare them for few outcomes and for more than are summed at a time."""
    random, size = np.random.default_rng(7), 10_007
    index = np.sort(random.choice(np.arange(-3000, 3000), outcomes, replace=False)).astype(np.int64)
    weights = random.dirichlet(np.ones(outcomes))
    law = TiltedDistribution(5, index, weights, np.zeros(outcomes), 0.0)
    plain = np.expm1(-2j * np.pi / size * np.multiply.outer(kept, index)) @ weights
    np.testing.assert_allclose(
        SplitFrequencies.of(kept).transform_less_one(law.index, law.weights, size), plain, atol=1e-12
    )


def test_sums_of_small_angles_keep_their_digits() -> None:
    """Σ w (e^{−iθ} − 1) is about −i Σ w θ, which is far below the rounding of Σ w e^{−iθ}."""
    size, index = 2**50, np.asarray([-3, 2, 9], dtype=np.int64)
    law = TiltedDistribution(1, index, np.asarray([0.2, 0.3, 0.5]), np.zeros(3), 0.0)
    kept = np.arange(200, dtype=np.int64)
    found = SplitFrequencies.of(kept).transform_less_one(law.index, law.weights, size)
    theta = 2.0 * np.pi / size * kept
    np.testing.assert_allclose(found.imag, -theta * float(law.weights @ index), rtol=1e-13)
    np.testing.assert_allclose(found.real, -0.5 * theta**2 * float(law.weights @ index**2), rtol=1e-13)


COMPOSED = {
    "laplace": compose([(laplace_pair(0.1), 10)]),
    "many laplace": compose([(laplace_pair(0.01), 1000)]),
    "poisson": compose([(poisson(0.05, 0.8), 30)]),
    "without replacement": compose([(without_replacement(0.02, 1.0), 10)]),
    "response that fails": compose([(randomized_response(0.3, 1e-7), 30)]),
}


def order_of(pair: Pair) -> ComposedProfile:
    assert isinstance(pair.forward, ComposedProfile)
    return pair.forward


@pytest.mark.parametrize("name", COMPOSED)
@pytest.mark.parametrize("log_delta", [-1.0, -6.0, -13.8, -60.0])
def test_epsilon_of_one_order_lies_on_its_side_whatever_the_guess(name: str, log_delta: float) -> None:
    order = order_of(COMPOSED[name])
    good = order.guess(log_delta)
    found = [
        epsilon_of(order, log_delta, guess) for guess in (good, Guess(3.0 * good.epsilon + 0.1, 1.0), Guess(0.0, 0.0))
    ]
    for lower, upper in found:
        assert lower <= upper
        assert math.isinf(upper) or order.upper_log_delta(upper) <= log_delta
        assert lower == 0.0 or order.log_delta_bounds(lower).lower > log_delta
    widest = max(upper - lower for lower, upper in found)
    assert math.isinf(widest) or found[0].upper - found[0].lower <= 1e-3 * (1e-9 + found[0].upper)


def test_a_loss_that_is_infinite_too_often_needs_no_search() -> None:
    order = order_of(compose([(randomized_response(0.3, 1e-3), 30)]))
    assert order.least_log_infinite_mass <= math.log(-math.expm1(30 * math.log1p(-1e-3))) <= order.log_infinite_mass
    assert epsilon_of(order, -6.0, Guess(1.0, 1.0)) == (LARGEST_EPSILON, math.inf)
    assert not order._transforms.spectra


def test_both_orders_meet_the_target_at_the_epsilon_of_a_pair() -> None:
    pair = compose([(poisson(0.3, 0.7), 40)])
    orders = [order_of(pair), order_of(Pair(pair.backward, pair.forward))]
    for log_delta in (-3.0, -20.0):
        found = pair.epsilon(log_delta)
        assert all(order.log_delta_bounds(found.upper).upper <= log_delta for order in orders)
        assert max(order.log_delta_bounds(found.lower).lower for order in orders) > log_delta


def turns(pair: Pair) -> tuple[tuple[Profile, Profile], ...]:
    return (pair.forward, pair.backward), (pair.backward, pair.forward)


@pytest.mark.parametrize("log_delta", [-3.0, -14.0, -60.0])
@pytest.mark.parametrize(
    "pair",
    [poisson(0.01, 1.0), without_replacement(0.02, 1.0), randomized_response(0.3)],
    ids=["poisson", "batch", "response"],
)
def test_one_end_alone_is_that_of_both(pair: Pair, log_delta: float) -> None:
    composed = compose([(pair, 40)])
    ends = composed.epsilon(log_delta)
    assert composed.upper_epsilon(log_delta) == ends.upper
    lower = composed.lower_epsilon(log_delta)
    assert ends.upper - 1.01 * (ends.upper - ends.lower) - 1e-9 <= lower <= ends.upper
    if lower > 0.0:
        assert max(order_of(Pair(*turn)).log_delta_bounds(lower).lower for turn in turns(composed)) > log_delta
    if ends.upper > 0.0:
        if pair.symmetric and log_delta > -50.0:  # not beyond every loss
            assert composed.likely_meets(1.05 * ends.upper, log_delta)
        assert not composed.likely_meets(0.999 * ends.lower, log_delta)


@pytest.mark.parametrize(("rate", "mu", "rounds", "epsilon"), [(0.1, 1.0, 100, 1.0), (1e-4, 2.4, 100, 1.0)])
def test_a_lower_end_sought_near_an_epsilon_is_as_close(rate: float, mu: float, rounds: int, epsilon: float) -> None:
    """Where δ at the ε is about the target's, and where it is not."""
    pair = compose([(without_replacement(rate, mu), rounds)])
    at = pair.log_delta_bounds(epsilon).upper
    for moved in (-0.3, 0.0, 0.2, 3.0):
        whole = pair.epsilon(at - moved)
        lower = pair.lower_epsilon(at - moved, epsilon)
        assert pair.log_delta_bounds(lower).lower > at - moved
        assert lower <= whole.upper
        assert lower == pytest.approx(whole.lower, rel=1e-4)


def test_one_law_has_the_cumulants_of_several_that_are_alike() -> None:
    """Those of a single law are worked out by themselves."""
    one, two = weighted(GIANT, counts=[80.0]), weighted(GIANT, GIANT, counts=[30.0, 50.0])
    for tilt in (-0.3, 0.0, 0.5, 4.0):
        assert one.cumulants(tilt) == pytest.approx(two.cumulants(tilt), rel=1e-12)


PAIRS = {
    "drawn": (without_replacement(0.01, 0.8), 40),
    "randomized response": (randomized_response(0.3), 5),
    "laplace": (laplace_pair(0.2), 3),
}


@pytest.mark.parametrize("name", PAIRS)
def test_parts_that_are_coupled_one_by_one_bound_delta_at_zero(name: str) -> None:
    pair, count = PAIRS[name]
    for order in compose([(pair, count)]).directions():
        assert isinstance(order, ComposedProfile)
        assert order.log_delta_bounds(0.0).lower <= order.coupled_log_delta <= 0.0


def test_a_record_that_is_hardly_ever_drawn_needs_no_search() -> None:
    """Being drawn at all is less likely than δ: ε is 0, and nothing is transformed."""
    pair = compose([(without_replacement(1e-7, 0.1), 90)])
    assert pair.epsilon(math.log(1e-5)) == (0.0, 0.0)
    assert all(isinstance(order, ComposedProfile) and not order._transforms.spectra for order in pair.directions())


def test_a_search_that_ends_early_still_has_an_upper_end() -> None:
    """Of so many rounds the sum of losses is Gaussian but for a trifle, and ε is near its mean and deviations.

    The lattice's own steps add to every loss, so that the guess is far below what its upper end can show.
    """
    rate, decay, shift, times = 0.1, 0.1, 3, 10**8
    noisy = {"kind": "discrete_laplace", "decay_rate": decay, "sensitivity": shift}
    drawn = {"kind": "subsampled", "sampling": "poisson", "rate": rate, "mechanism": noisy}
    run = {"kind": "repeated", "times": times, "mechanism": drawn}
    account = epsilond.account(run, relation="add-or-remove-one", observer="server", unit="record")
    found = account.guarantee.curve.epsilon(delta=1e-6)

    values = np.arange(-600, 601)
    absent = np.exp(-decay * np.abs(values)) * np.tanh(decay / 2)
    present = rate * np.exp(-decay * np.abs(values - shift)) * np.tanh(decay / 2) + (1.0 - rate) * absent
    loss = np.log(present / absent)
    mean = float(present @ loss)
    deviation = math.sqrt(float(present @ (loss - mean) ** 2))
    about = times * mean + 4.75 * math.sqrt(times) * deviation
    assert 0.0 < found.lower < about < found.upper < 100.0 * about


# One end alone, many rounds, and what is roughly known -------------------------------------------------------------
@pytest.mark.parametrize(("pair", "times"), [(poisson(0.01, 1.0), 50), (without_replacement(0.05, 1.0), 10)])
def test_a_lower_end_alone_is_certified_and_close(pair: Pair, times: int) -> None:
    composed = compose([(pair, times)])
    for log_delta in (-7.0, -14.0, -30.0):
        both, alone = composed.epsilon(log_delta), composed.lower_epsilon(log_delta)
        assert alone <= both.upper
        assert alone == 0.0 or composed.log_delta_bounds(alone).lower > log_delta
        assert alone >= both.lower * (1.0 - 1e-4)


@pytest.mark.parametrize("log_delta", [-2.0, -14.0, -100.0])
def test_a_billion_large_losses_against_the_closed_form(log_delta: float) -> None:
    """N(1, 1) against N(0, 1): the total is 5e8 and deviates by 3e4, less than an outline's mean is off by."""
    total = gaussian_pair(math.sqrt(1e9)).epsilon(log_delta)
    composed = compose([(gaussian_pair(1.0), 10**9)])
    found = composed.epsilon(log_delta)
    assert found.lower <= total.upper
    assert total.lower <= found.upper
    assert found.upper - found.lower <= 5e-3 * found.upper


NEAR_THE_END = {
    "few large losses beside a few small ones": (
        [(subsample_at(laplace_pair(18.0), 0.99988), 4), (subsample_at(gaussian_pair(0.00125), 0.992), 3)],
        -5.0,
    ),
    "one large loss beside many small ones": (
        [(laplace_pair(1 / 0.1359388), 1), (subsample_at(gaussian_pair(1 / 302), 6.2e-6), 1000)],
        -5.0,
    ),
    "beyond all but the largest loss": ([(subsample_at(laplace_pair(0.0972), 2.4e-6), 10)], -300.0),
}


@pytest.mark.parametrize("name", NEAR_THE_END)
def test_an_epsilon_next_to_the_largest_loss_is_known_as_well(name: str) -> None:
    """A rough curve has one step there, in which δ falls by many orders."""
    parts, log10_delta = NEAR_THE_END[name]
    found = compose(parts).epsilon(log10_delta * math.log(10.0))
    assert 0.0 < found.upper - found.lower <= 1e-6 * found.upper


@pytest.mark.parametrize("share", [0.8, 0.95])
def test_a_guess_where_delta_is_all_but_one_leads_to_the_target(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = compose([(subsample_at(laplace_pair(1.0), 0.5), 10_000), (subsample_at(gaussian_pair(8.0), 0.3), 100)])
    order, log_delta = pair.forward, math.log(0.9)
    assert isinstance(order, ComposedProfile)
    closest = epsilon_of(order, log_delta, order.guess(log_delta))
    monkeypatch.setattr("epsilond.accountants.engine.lattice.search._bounded_search", None)
    early = Guess(share * closest.upper, 3e-3)
    assert order.upper_log_delta(early.epsilon) > -0.1
    found = epsilon_of(order, log_delta, early)
    assert found.upper == pytest.approx(closest.upper, rel=1e-5)
    assert found.lower == pytest.approx(closest.lower, rel=1e-4)


@pytest.mark.parametrize(("beyond", "most_calls", "width"), [(-math.inf, 25, 1e-3), (-50.0, 32, 1e-6)])
def test_a_search_ends_next_to_a_jump_to_minus_infinity(beyond: float, most_calls: int, width: float) -> None:
    epsilons: list[float] = []

    def bound(epsilon: float) -> float:
        epsilons.append(epsilon)
        return -1.0 if epsilon < 5.0 else beyond

    found = _bounded_search(bound, -2.0, Guess(100.0, 1.0))
    assert found.above < 5.0 <= found.below
    assert found.below - found.above <= width * found.below
    assert len(epsilons) <= most_calls

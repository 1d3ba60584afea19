"""True positive rates: against the best test worked out from its definition, and against every γ one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from epsilond.accountants.account import account
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.product import ComposedProfile
from epsilond.accountants.meaning import FALSE_POSITIVE_RATES, meaning
from epsilond.accountants.numerics.minimum import Known, Slopes, least_value
from epsilond.accountants.profiles.gaussian import ZeroProfile, gaussian_pair
from epsilond.accountants.profiles.laplace import laplace_pair
from epsilond.accountants.specs import Spec
from epsilond.accountants.trade_off import TradeOff
from epsilond.reading import read_body

TIGHT = 2e-6
"""A relative width that nodes and closed forms stay within."""


def sampled(rate: float, noise: float, times: int) -> dict[str, Any]:
    mechanism = {
        "kind": "subsampled",
        "sampling": "poisson",
        "rate": rate,
        "mechanism": {"kind": "gaussian", "noise_multiplier": noise},
    }
    return {"kind": "repeated", "times": times, "mechanism": mechanism} if times > 1 else mechanism


def curve_of(spec: dict[str, Any], relation: Any = "add-or-remove-one") -> Curve:
    return account(read_body(Spec, spec), relation=relation).guarantee.curve


corners = st.lists(st.floats(0.0, 10.0), min_size=1, max_size=5)
turns = st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6)
steps = st.lists(st.floats(1e-6, 3.0), min_size=2, max_size=9)
widths = st.lists(st.floats(0.0, 0.3), min_size=11, max_size=11)


@given(corners=corners, turns=turns, steps=steps, widths=widths)
def test_the_lower_bound_is_below_a_convex_function(
    corners: list[float], turns: list[float], steps: list[float], widths: list[float]
) -> None:
    """Straight pieces of slopes between −1 and 1, known within any widths at any points, but no closer than they round."""

    def value(x: float) -> float:
        return 2.0 + math.fsum(turn * abs(x - corner) for turn, corner in zip(turns, corners, strict=False)) / 6.0

    places = np.cumsum([0.0, *steps]).tolist()
    ends = [(value(x), low + 1e-15 * value(x)) for x, low in zip(places, widths, strict=False)]
    known = [Known(x, at - low, at + 0.5 * low) for x, (at, low) in zip(places, ends, strict=False)]
    found = least_value(known, Slopes(-1.0, 1.0))
    truth = min(value(x) for x in [*places, *corners] if x <= places[-1])
    assert found.value <= truth * (1.0 + 1e-12)
    assert places[0] <= found.x <= places[-1]


def test_two_straight_pieces_are_known_exactly() -> None:
    known = [Known(x, abs(x - 1.3), abs(x - 1.3)) for x in (0.0, 1.0, 2.0, 3.0)]
    found = least_value(known, Slopes(-1.0, 1.0))
    assert found.value == pytest.approx(0.0, abs=1e-13)
    assert found.x == pytest.approx(1.3)


def test_a_chord_to_a_further_point_is_the_better_one_where_close_ones_are_known_roughly() -> None:
    """Of x², each value within 1e-6: the slopes between points 1e-5 apart tell nothing."""
    places = [-2e-2, -1e-2 - 1e-5, -1e-2, 1e-2, 1e-2 + 1e-5, 2e-2]
    known = [Known(x, 1.0 + x * x - 1e-6, 1.0 + x * x + 1e-6) for x in places]
    found = least_value(known, Slopes(-1.0, 1.0))
    assert 1.0 - 4e-4 <= found.value <= 1.0


@pytest.mark.parametrize(("epsilon", "times"), [(0.3, 1), (3.0, 1), (0.3, 10), (2.0, 4), (20.0, 2)])
def test_randomized_response_by_enumeration(epsilon: float, times: int) -> None:
    """Outcomes in the order of their likelihood ratio, taken until the false positives are used up (Neyman–Pearson)."""
    mechanism = {"kind": "randomized_response", "epsilon": epsilon, "categories": 2}
    sense = meaning(curve_of({"kind": "repeated", "times": times, "mechanism": mechanism}, "replace-one"))
    with mp.workdps(50):
        true = 1 / (1 + mp.e ** -mp.mpf(epsilon))
        laws = [
            [mp.binomial(times, k) * p**k * (1 - p) ** (times - k) for k in range(times, -1, -1)]
            for p in (true, 1 - true)
        ]
        for one in sense.true_positives:
            spent, power = mp.mpf(0), mp.mpf(0)
            for p, q in zip(*laws, strict=True):
                share = min(mp.mpf(1), (mp.mpf(one.false_positive_rate) - spent) / q)
                spent, power = spent + share * q, power + share * p
            ends = one.true_positive_rate
            assert ends.lower <= power <= ends.upper
            assert ends.upper <= ends.lower * (1.0 + TIGHT)


@pytest.mark.parametrize(("rate", "noise"), [(0.01, 1.0), (1e-4, 1.0), (0.3, 0.5), (0.9, 3.0)])
def test_one_sampled_gaussian_in_forty_digits(rate: float, noise: float) -> None:
    """Both losses rise or fall with the noise, so that the best tests are its tails; the better of both counts."""
    sense = meaning(curve_of(sampled(rate, noise, 1)))
    with mp.workdps(40):
        q, shift = mp.mpf(rate), 1 / mp.mpf(noise)

        def mixture_below(x: Any) -> Any:
            return (1 - q) * mp.ncdf(x) + q * mp.ncdf(x - shift)

        for one in sense.true_positives:
            size, ends = mp.mpf(one.false_positive_rate), one.true_positive_rate
            right = mp.findroot(lambda x, size=size: mp.log(mp.ncdf(-x)) - mp.log(size), 3)
            left = mp.findroot(lambda x, size=size: mp.log(mixture_below(x)) - mp.log(size), -3)
            found = max(1 - mixture_below(right), mp.ncdf(left))
            assert ends.lower <= found <= ends.upper
            assert ends.upper <= ends.lower * (1.0 + TIGHT)


@pytest.mark.parametrize(
    ("rate", "noise", "times"),
    [(0.01, 1.0, 1000), (0.3, 1.0, 1000), (1e-4, 1.0, 10**6), (0.01, 100.0, 1000), (0.01, 1.0, 10**5)],
)
def test_no_gamma_does_better_than_the_lower_end(rate: float, noise: float, times: int) -> None:
    """h(γ) on a fine grid, both orders, nodes of their own: its least value is the rate, and none is below its ends."""
    curve = curve_of(sampled(rate, noise, times))
    reach = curve.bound_epsilon(math.log(1e-8)).upper
    for one in meaning(curve).true_positives:
        size, ends = one.false_positive_rate, one.true_positive_rate
        assert ends.upper <= ends.lower * (1.0 + TIGHT)
        better = []
        for forward, backward in (
            (curve.upper.forward, curve.upper.backward),
            (curve.upper.backward, curve.upper.forward),
        ):
            grid = np.linspace(0.0, min(reach, -math.log(size)), 24)
            above = size * np.exp(grid) + np.exp(forward.log_delta(grid).upper)
            turned = 1.0 - np.exp(-grid) * (1.0 - size) + np.exp(-grid) * np.exp(backward.log_delta(grid).upper)
            better.append(min(above.min(), turned.min()))
        assert ends.lower <= max(better) * (1.0 + 1e-12)


@pytest.mark.parametrize(
    "spec",
    [
        sampled(0.01, 1.0, 1000),
        sampled(0.01, 1.0, 1),
        {"kind": "laplace", "scale_multiplier": 0.1},
        {"kind": "repeated", "times": 3, "mechanism": {"kind": "laplace", "scale_multiplier": 3.0}},
    ],
)
def test_what_was_asked_before_changes_nothing(spec: dict[str, Any]) -> None:
    fresh = meaning(curve_of(spec))
    known = curve_of(spec)
    known.epsilon(math.log(1e-6))
    meaning(known)
    assert meaning(known) == fresh


def test_nothing_is_lost_without_losses() -> None:
    """δ is zero throughout: nobody does better than by guessing."""
    nothing = Pair(ZeroProfile(), ZeroProfile())
    sense = meaning(Curve(nothing, (nothing,)))
    assert sense.advantage == (0.0, 0.0)
    for one in sense.true_positives:
        assert one.true_positive_rate.lower <= one.false_positive_rate <= one.true_positive_rate.upper
        assert one.true_positive_rate.upper <= one.true_positive_rate.lower * (1.0 + 1e-12)


def test_a_test_whose_ratio_is_no_double_is_nearly_perfect() -> None:
    run = {"kind": "repeated", "times": 2_202_010, "mechanism": {"kind": "laplace", "scale_multiplier": 5.3}}
    for test in meaning(curve_of(run, "add-or-remove-one")).true_positives:
        assert 0.999 < test.true_positive_rate.lower <= test.true_positive_rate.upper <= 1.0


@pytest.mark.parametrize("size", FALSE_POSITIVE_RATES)
def test_infinite_losses_are_always_seen(size: float) -> None:
    """An (ε, δ) told as δ₀ at every ε is told apart with probability δ₀ and else as ε allows: δ₀ + α e^ε at most."""
    sense = meaning(curve_of({"kind": "approximate", "epsilon": 1.0, "delta": 1e-3}, "replace-one"))
    found = {one.false_positive_rate: one.true_positive_rate for one in sense.true_positives}[size]
    assert found.lower <= size
    assert found.upper == pytest.approx(1e-3 + size * math.e, rel=1e-6)


def test_two_places_of_one_gamma_are_one_point() -> None:
    """A search reads at log γ, whose exponential may be that of a place read before."""
    pair = curve_of(sampled(0.1, 1.0, 1)).upper
    trade = TradeOff.of(pair.forward, pair.backward, (1e-3,))
    place = next(
        t
        for t in np.arange(0.1, 2.0, 0.013).tolist()
        if (u := math.log(math.exp(t))) != t and math.exp(u) == math.exp(t)
    )
    for at in (place, math.log(math.exp(place))):
        lower, upper = (math.exp(float(end[0])) for end in pair.forward.log_delta(np.asarray([at])))
        trade.evaluated[at] = Interval(lower * (1.0 - 1e-15), upper * (1.0 + 1e-15))
    known = trade.true_positives(1e-3, floor=1e-3)
    fresh = TradeOff.of(pair.forward, pair.backward, (1e-3,)).true_positives(1e-3, floor=1e-3)
    assert max(known.lower, fresh.lower) <= min(known.upper, fresh.upper)
    assert known.upper - known.lower <= 1e-4 * known.upper


def test_both_orders_of_one_step_are_one_trade_off_turned_round() -> None:
    """The tests of Q against P are those of P against Q with their errors exchanged."""
    pair = curve_of(sampled(0.2, 1.0, 1)).upper
    there = TradeOff.of(pair.forward, pair.backward, (1e-3,)).true_positives(1e-3, floor=1e-3)
    missed = 1.0 - 0.5 * (there.lower + there.upper)
    back = TradeOff.of(pair.backward, pair.forward, (missed,)).true_positives(missed, floor=missed)
    assert back.lower - 1e-6 <= 1.0 - 1e-3 <= back.upper + 1e-6


@pytest.mark.parametrize("size", [0.3, 1e-2, 1e-3, 1e-5, 1e-9])
@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ({"kind": "randomized_response", "epsilon": 1.0, "categories": 3}, 1),
        ({"kind": "randomized_response", "epsilon": 0.7, "categories": 4}, 6),
        ({"kind": "discrete_laplace", "decay_rate": 0.3, "sensitivity": 2}, 3),
        ({"kind": "randomized_response", "epsilon": 1e-4, "categories": 2}, 2),
    ],
)
def test_few_outcomes_by_the_lemma_of_neyman_and_pearson(kind: dict[str, Any], times: int, size: float) -> None:
    """All kinds of runs in fifty digits, the likelier ones first, the last with the share of it that fits."""
    with mp.workdps(50):
        if kind["kind"] == "randomized_response":
            epsilon, categories = mp.mpf(kind["epsilon"]), kind["categories"]
            whole = mp.e**epsilon + categories - 1
            steps = [(epsilon, 1 / whole), (-epsilon, mp.e**epsilon / whole), (mp.mpf(0), (categories - 2) / whole)]
        else:
            rate, shift = mp.mpf(kind["decay_rate"]), kind["sensitivity"]
            flat = (1 - mp.exp(-rate)) / (1 + mp.exp(-rate))
            steps = [(rate * (shift - 2 * y), flat * mp.exp(-rate * y)) for y in range(1, shift)]
            steps += [(rate * shift, mp.exp(-rate * shift) / (1 + mp.exp(-rate)))]
            steps += [(-rate * shift, 1 / (1 + mp.exp(-rate)))]
        totals = {mp.mpf(0): mp.mpf(1)}
        for _ in range(times):
            joined: dict[Any, Any] = {}
            for loss, mass in totals.items():
                for step, share in steps:
                    place = mp.mpf(mp.nstr(loss + step, 40))
                    joined[place] = joined.get(place, mp.mpf(0)) + mass * share
            totals = joined
        left, truth = mp.mpf(size), mp.mpf(0)
        for loss, mass in sorted(totals.items(), reverse=True):
            taken = min(left, mass)
            left, truth = left - taken, truth + taken * mp.exp(loss)
        pair = curve_of({"kind": "repeated", "times": times, "mechanism": kind}, "replace-one").upper
        found = TradeOff.of(pair.forward, pair.backward, (size,)).true_positives(size, floor=size)
        assert found.lower <= truth <= found.upper
        assert found.upper - found.lower <= (1e-9 + 1e-15 / size) * truth


def test_a_witness_that_does_no_better_changes_nothing_and_is_read_from_above_alone() -> None:
    """The same mechanism with more noise, composed on lattices: its lower ends are not worth a transform."""
    better, worse = (compose([(laplace_pair(shift), 20)]) for shift in (0.2, 0.1))
    alone = meaning(Curve(better, (better,)))
    assert meaning(Curve(better, (better, worse))) == alone
    for order in worse.directions():
        assert isinstance(order, ComposedProfile)
        assert all(from_above for _, from_above in order._transforms.spectra)
    other_way_round = meaning(Curve(better, (worse, better)))
    assert other_way_round.true_positives == alone.true_positives


def test_a_witness_that_does_better_at_some_rates_counts_there() -> None:
    """A rare large loss is seen at few false positives, many small ones at many."""
    rare = curve_of(sampled(0.001, 0.3, 1)).upper
    common = curve_of(sampled(1.0, 40.0, 1)).upper
    above = gaussian_pair(10.0)
    both = meaning(Curve(above, (common, rare)))
    single = [meaning(Curve(pair, (pair,))) for pair in (common, rare)]
    for place, one in enumerate(both.true_positives):
        ends = [each.true_positives[place].true_positive_rate for each in single]
        assert one.true_positive_rate.lower == pytest.approx(max(end.lower for end in ends), rel=TIGHT)
    assert both.advantage.lower == pytest.approx(max(each.advantage.lower for each in single), rel=TIGHT)


def test_a_gaussian_bound_that_no_neighbours_realise_is_no_lower_end() -> None:
    """Its rates are known exactly, but those of the mechanism are only known not to exceed them."""
    bound, realised = gaussian_pair(0.5), gaussian_pair(0.2)
    sense = meaning(Curve(bound, (realised,)))
    least, most = meaning(Curve(realised, (realised,))), meaning(Curve(bound, (bound,)))
    for one, low, high in zip(sense.true_positives, least.true_positives, most.true_positives, strict=True):
        assert one.true_positive_rate.lower == low.true_positive_rate.lower
        assert one.true_positive_rate.upper == high.true_positive_rate.upper
    for one in meaning(Curve(bound)).true_positives:
        assert one.true_positive_rate.lower == one.false_positive_rate


def test_a_bounded_loss_bounds_the_rate_without_a_reading() -> None:
    """To add, no loss exceeds −T log(1 − q), so that no test gains more than α (1 − q)^−T."""
    rate, times, size = 0.01, 10, 1e-3
    pair = curve_of(sampled(rate, 1.0, times)).upper
    most = size * (1.0 - rate) ** -times
    trade = TradeOff.of(pair.backward, pair.forward, (size,))
    found = trade.true_positives(size, floor=most * (1.0 + 1e-9))
    assert not trade.evaluated
    assert found.upper == pytest.approx(most, rel=1e-12)
    assert found.upper >= most
    assert TradeOff.of(pair.backward, pair.forward, (size,)).true_positives(size, floor=size).upper <= found.upper


@pytest.mark.parametrize("attained", [0.0, 1.0])
def test_the_lower_bound_of_a_direction_below_an_attained_rate_is_not_needed(attained: float) -> None:
    pair = curve_of(sampled(0.02, 1.5, 500)).upper
    size, aims = 1e-3, dict[float, float]()
    forward = TradeOff.of(pair.forward, pair.backward, (size,), aims=aims).true_positives(size, floor=size)
    backward = TradeOff.of(pair.backward, pair.forward, (size,), aims=aims)
    backward.evaluated[0.0] = backward.advantage
    bounds = backward.true_positives(size, floor=forward.upper, attained=attained * forward.lower)
    assert size < bounds.upper <= forward.lower
    assert bounds.lower == size if attained else size < bounds.lower <= bounds.upper

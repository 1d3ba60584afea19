"""The lattice engine: widths at golden figures, closed forms, its laws, corners and tails."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.engine.lattice import composition
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.errors import BeyondBudget
from epsilond.accountants.numerics.special import log_difference, log_theta
from epsilond.accountants.profiles.gaussian import ZeroProfile, gaussian_pair
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, mixture_pair
from tests.engine.pairs import poisson, randomized_response, without_replacement
from tests.oracles.golden import cases_by_id

GOLDEN = cases_by_id("accounting")


def ends(profile: Profile | Pair, epsilon: float) -> tuple[float, float]:
    lower, upper = profile.log_delta(np.asarray([epsilon]))
    return float(lower[0]), float(upper[0])


def poisson_replace_one(rate: float, noise: float) -> Pair:
    weights = (math.log1p(-rate), math.log(rate))
    return mixture_pair(LineMixture(weights, (0.0, 1.0 / noise)), LineMixture(weights, (0.0, -1.0 / noise)))


# Golden figures ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("case", "pair", "times", "widest"),
    [
        ("poisson-b1", poisson(0.01, 1.0), 1000, 1e-4),
        ("poisson-b3", poisson(0.001, 0.6), 100_000, 1e-4),
        ("poisson-b1-delta-1e-12", poisson(0.01, 1.0), 1000, 1e-4),
        ("poisson-b1-delta-1e-30", poisson(0.01, 1.0), 1000, 2e-4),
        ("wor-b1", without_replacement(0.01, 1.0), 1000, 1e-4),
        ("gaussian-s1_T100", gaussian_pair(1.0), 100, 1e-4),
    ],
)
def test_golden_epsilon_lies_in_the_bracket(case: str, pair: Pair, times: int, widest: float) -> None:
    lower, upper = ends(compose([(pair, times)]), GOLDEN[case]["epsilon"])
    assert lower <= math.log(GOLDEN[case]["delta"]) <= upper
    assert upper - lower <= widest


@pytest.mark.parametrize(
    ("case", "pair"),
    [
        ("poisson-replace-b1", poisson_replace_one(0.01, 1.0)),
        ("wor-replace-b1-sigma1", without_replacement(0.01, 2.0)),
    ],
)
def test_golden_digits(case: str, pair: Pair) -> None:
    composed = compose([(pair, 1000)], budget=Budget.coarse())
    digit = 0.5e-3
    assert ends(composed, GOLDEN[case]["epsilon"] - digit)[1] >= math.log(GOLDEN[case]["delta"])
    assert ends(composed, GOLDEN[case]["epsilon"] + digit)[0] <= math.log(GOLDEN[case]["delta"])


def test_small_rates_are_enclosed_closely() -> None:
    composed = compose([(poisson(4e-4, 0.76), 10_000)])
    lower, upper = ends(composed, 0.93)
    assert -18.6 < lower <= upper < -18.2
    assert upper - lower <= 3e-4
    lower, upper = ends(compose([(poisson(4e-4, 0.76), 10_000)], budget=Budget.coarse()), 0.93)
    assert upper - lower <= 1e-2


# Closed forms --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("mu", "times"), [(3.0, 4), (1.0, 2), (0.1, 100), (1e-3, 10**6), (1e-4, 10**9)])
@pytest.mark.parametrize("deviations", [0.0, 1.0, 5.0, 37.0])
def test_gaussians_compose_in_closed_form(mu: float, times: int, deviations: float) -> None:
    total = mu * math.sqrt(times)
    epsilon = max(deviations * total - 0.5 * total * total, 0.0)
    truth = float(log_theta(epsilon, total))
    lower, upper = ends(compose([(gaussian_pair(mu), times)]), epsilon)
    assert lower <= truth <= upper
    assert upper - lower <= (2e-4 if times <= 10**6 else 5e-3 if deviations < 37.0 else 0.3)


def test_different_gaussians_compose_in_closed_form() -> None:
    parts = [(gaussian_pair(0.03 + 0.001 * i), 1 + i % 3) for i in range(30)]
    total = math.sqrt(sum(times * (0.03 + 0.001 * i) ** 2 for i, (_, times) in enumerate(parts)))
    composed = compose(parts)
    for epsilon in (0.0, 0.5, 2.0):
        lower, upper = ends(composed, epsilon)
        assert lower <= float(log_theta(epsilon, total)) <= upper
        assert upper - lower <= 2e-3


@pytest.mark.parametrize("log10_delta", [-60, -150, -300])
def test_tiny_deltas_keep_their_relative_width(log10_delta: int) -> None:
    composed = compose([(poisson(0.01, 1.0), 1000)]).forward
    low, high = 0.0, 100.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if ends(composed, middle)[1] > log10_delta * math.log(10) else (low, middle)
    lower, upper = ends(composed, high)
    assert upper - lower <= 5e-3
    assert abs(upper - log10_delta * math.log(10)) < 3.0


@pytest.mark.parametrize("epsilon", [84.0, 84.5, 85.0, 88.0])
def test_a_tilt_on_the_brink_of_giant_losses_gives_way_to_a_lower_one(epsilon: float) -> None:
    """From λ = 8.7 on, losses near 450 rule the transform; the tilt that these ε ask for lies right there."""
    lower, upper = ends(compose([(poisson(0.01, 1.0), 1000)]).forward, epsilon)
    assert upper - lower <= 5e-3
    assert abs(upper - (-677.9 - 8.336 * (epsilon - 84.0))) < 0.1


@pytest.mark.parametrize(("mu", "times"), [(1.0, 40), (0.1, 5000), (4.0, 3)])
@pytest.mark.parametrize("deviations", [60.0, 90.0, 1e4])
def test_a_delta_below_every_double_is_below_its_chernoff_bound(mu: float, times: int, deviations: float) -> None:
    total = mu * math.sqrt(times)
    epsilon = deviations * total - 0.5 * total * total
    truth = float(log_theta(epsilon, total))
    lower, upper = ends(compose([(gaussian_pair(mu), times)]), epsilon)
    assert truth < -750.0
    assert lower <= truth <= upper
    assert upper <= 0.97 * truth


@pytest.mark.parametrize("log_delta", [-0.5, -5.0, -14.0, -70.0, -300.0, -690.0])
def test_epsilon_is_certified_from_both_sides(log_delta: float) -> None:
    composed = compose([(poisson(0.01, 1.0), 1000)])
    found = composed.epsilon(log_delta)
    assert composed.log_delta_bounds(found.upper).upper <= log_delta
    assert found.lower == 0.0 or composed.log_delta_bounds(found.lower).lower > log_delta
    assert found.lower <= found.upper <= found.lower * (1 + 1e-4)


def test_epsilon_is_unbounded_where_delta_stays_above() -> None:
    composed = compose([(randomized_response(0.5, 1e-3), 20)])
    assert math.isinf(composed.epsilon(-7.0).upper)


# Laws ----------------------------------------------------------------------------------------------------------------
def test_one_round_of_one_mechanism_is_the_mechanism() -> None:
    pair = poisson(0.3, 1.0)
    assert compose([(pair, 1)]) is pair
    assert compose([(pair, 1), (pair, 0), (gaussian_pair(0.0), 5)]) is pair


def test_k_copies_are_count_k_in_any_order() -> None:
    first, second = poisson(0.1, 1.0), randomized_response(0.2)
    power = compose([(first, 3), (second, 2)], budget=Budget.coarse())
    listed = compose([(second, 1), (first, 1), (first, 1), (second, 1), (first, 1)], budget=Budget.coarse())
    for epsilon in (0.0, 0.4, 3.0):
        one, other = ends(power, epsilon), ends(listed, epsilon)
        assert max(one[0], other[0]) <= min(one[1], other[1])


def test_composing_a_composition_composes_its_parts() -> None:
    pair = poisson(0.05, 0.8)
    inner = compose([(pair, 5)])
    assert ends(compose([(inner, 4), (pair, 1)]), 0.7) == ends(compose([(pair, 21)]), 0.7)


def test_nothing_composes_to_nothing() -> None:
    assert isinstance(compose([]).forward, ZeroProfile)
    assert isinstance(compose([(gaussian_pair(0.0), 10**9)]).forward, ZeroProfile)


def test_a_symmetric_composition_has_one_profile() -> None:
    assert compose([(gaussian_pair(1.0), 2), (without_replacement(0.1, 1.0), 3)]).symmetric
    assert not compose([(gaussian_pair(1.0), 2), (poisson(0.1, 1.0), 3)]).symmetric


def test_both_orders_meet_at_zero() -> None:
    composed = compose([(poisson(0.01, 1.0), 100)])
    forward, backward = ends(composed.forward, 0.0), ends(composed.backward, 0.0)
    assert max(forward[0], backward[0]) <= min(forward[1], backward[1])


def test_what_was_asked_before_changes_nothing() -> None:
    asked = np.linspace(0.0, 6.0, 13)
    fresh = [ends(compose([(poisson(0.02, 0.9), 50)], budget=Budget.coarse()).forward, epsilon) for epsilon in asked]
    used = compose([(poisson(0.02, 0.9), 50)], budget=Budget.coarse()).forward
    backwards = [ends(used, epsilon) for epsilon in asked[::-1]][::-1]
    assert backwards == fresh


def test_more_budget_is_not_wider() -> None:
    widths = []
    for budget in (Budget.coarse(), Budget(), Budget.fine()):
        lower, upper = ends(compose([(poisson(0.01, 1.0), 1000)], budget=budget).forward, 2.0)
        widths.append(upper - lower)
    assert widths[0] > widths[1] > widths[2]
    assert widths[0] <= 1e-2
    assert widths[1] <= 1e-4
    assert widths[2] <= 2e-6


def test_too_many_different_parts_are_refused_before_the_start() -> None:
    with pytest.raises(BeyondBudget, match="9 different pairs") as refused:
        compose([(gaussian_pair(1.0 + i / 7), 1) for i in range(9)], budget=Budget(parts=8))
    assert refused.value.nearest == {"different_mechanisms": 8}
    nearest = compose([(gaussian_pair(1.0 + i / 7), 1) for i in range(8)], budget=Budget(parts=8))
    assert ends(nearest.forward, 2.0)[1] <= 0.0


def test_too_many_different_parts_are_refused_by_the_first_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is asked whether it loses anything, which may take long: no more of them than the refusal needs."""
    asked: list[Pair] = []

    def lossless(pair: Pair) -> bool:
        asked.append(pair)
        return False

    monkeypatch.setattr(composition, "_is_lossless", lossless)
    with pytest.raises(BeyondBudget, match="100 different pairs"):
        compose([(gaussian_pair(1.0 + i / 7), 1) for i in range(100)], budget=Budget(parts=8))
    assert len(asked) == 9


def test_more_rounds_than_can_be_counted_are_refused() -> None:
    with pytest.raises(BeyondBudget) as refused:
        compose([(poisson(0.1, 1.0), 10**11)])
    assert refused.value.nearest == {"rounds": 10**10}


@pytest.mark.parametrize("times", [10**9, 10**10])
@pytest.mark.parametrize(
    "pair", [poisson(1e-9, 0.05), without_replacement(1e-3, 1.0), randomized_response(1e-4, 1e-14)]
)
def test_huge_numbers_of_rounds_are_answered_on_arrays_of_a_fixed_size(pair: Pair, times: int) -> None:
    tracemalloc.start()
    lower, upper = ends(compose([(pair, times)]), 3.0)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lower <= upper <= 0.0
    assert most <= 100e6


def test_a_hundred_different_mechanisms() -> None:
    generator = np.random.default_rng(1)
    rates, noises = generator.uniform(0.001, 0.05, 100), generator.uniform(0.7, 3.0, 100)
    parts = [(poisson(float(q), float(z)), 1) for q, z in zip(rates, noises, strict=True)]
    lower, upper = ends(compose(parts).forward, 1.0)
    assert lower <= upper <= lower + 5e-3


# Corners -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.5, 50.0, 1e6])
@pytest.mark.parametrize(
    ("rate", "noise", "times"), [(1e-9, 0.05, 2), (1e-3, 0.6, 10), (1e-6, 0.05, 10**6), (1e-9, 1.0, 10**9)]
)
def test_rare_giant_losses_are_enclosed(rate: float, noise: float, times: int, epsilon: float) -> None:
    composed = compose([(poisson(rate, noise), times)], budget=Budget.coarse())
    for profile in composed.directions():
        lower, upper = ends(profile, epsilon)
        assert lower <= upper <= 0.0
        # One round is a part of all, and all are at most so many times one.
    single = ends(poisson(rate, noise).forward, epsilon)
    lower, upper = ends(composed.forward, epsilon)
    assert upper >= single[0] - 1e-9 * abs(single[0])
    assert lower <= upper


def test_a_bounded_loss_ends() -> None:
    rate, times = 0.1, 7
    composed = compose([(poisson(rate, 1.0), times)]).backward
    end = -times * math.log1p(-rate)
    assert ends(composed, end * (1 + 1e-9)) == (-math.inf, -math.inf)
    assert ends(composed, 1e9) == (-math.inf, -math.inf)
    lower, upper = ends(composed, 0.9 * end)
    assert math.isfinite(lower)
    assert upper - lower <= 1e-3


def test_total_loss_of_privacy_is_delta_one() -> None:
    """1 − δ is about e^−2500; only δ is resolved, to far less than the width that is promised."""
    lower, upper = ends(compose([(gaussian_pair(20.0), 50)]), 1.0)
    assert -1e-7 < lower <= upper <= 0.0


# Tails ---------------------------------------------------------------------------------------------------------------
def test_tails_are_those_of_a_dominating_pair() -> None:
    composed = compose([(poisson(0.05, 1.0), 20)])
    epsilon = np.asarray([0.0, 0.01, 0.3, 1.0, 4.0])
    for profile in composed.directions():
        log_p, log_q = profile.log_tails(epsilon)
        lower = profile.log_delta(epsilon).lower
        dominating = log_difference(log_p, np.minimum(log_q + epsilon, log_p))
        assert np.all(dominating >= lower - 1e-9)
        assert np.all(dominating[lower > -60] <= lower[lower > -60] + 0.05)
        assert np.all(np.diff(log_p) <= 0)


class Sampled(Profile):
    """q δ(log(1 + (e^ε − 1)/q)) of any profile."""

    def __init__(self, base: Profile, rate: float) -> None:
        self.base, self.rate = base, rate

    @property
    def tail_accuracy(self) -> float:
        return 2 * self.base.tail_accuracy

    @property
    def log_infinite_mass(self) -> float:
        return self.base.log_infinite_mass + math.log(self.rate)

    def log_delta(self, epsilon: np.ndarray) -> Enclosure:
        lower, upper = self.base.log_delta(np.log1p(np.expm1(np.minimum(epsilon, 600.0)) / self.rate))
        return Enclosure(lower + math.log(self.rate), upper + math.log(self.rate))

    def log_tails(self, epsilon: np.ndarray) -> Tails:
        log_p, log_q = self.base.log_tails(np.log1p(np.expm1(np.minimum(epsilon, 600.0)) / self.rate))
        return Tails(np.logaddexp(log_p + math.log(self.rate), log_q + math.log1p(-self.rate)), log_q)


def test_a_composition_may_be_amplified_and_composed_again() -> None:
    """Four Gaussians of μ = 1/2 are one of μ = 1: sampling and composing the former may only be a little looser."""
    inner = Sampled(compose([(gaussian_pair(0.5), 4)]).forward, 0.1)
    again = compose([(Pair(inner, inner), 10)], budget=Budget.coarse()).forward
    exact = compose([(without_replacement(0.1, 1.0), 10)]).forward
    for epsilon in (0.1, 1.0, 3.0):
        assert ends(exact, epsilon)[0] <= ends(again, epsilon)[1] <= ends(exact, epsilon)[1] + 0.1


# Random cases --------------------------------------------------------------------------------------------------------
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    rate=st.floats(-4, 0).map(lambda x: 10**x),
    noise=st.floats(0.3, 5.0),
    times=st.floats(0.4, 6).map(lambda x: int(10**x)),
    deviations=st.floats(0.0, 12.0),
    sampling=st.sampled_from(["poisson", "poisson-backward", "without-replacement"]),
)
def test_ends_are_ordered_and_monotone(rate: float, noise: float, times: int, deviations: float, sampling: str) -> None:
    pair = without_replacement(rate, 1 / noise) if sampling == "without-replacement" else poisson(rate, noise)

    def order(count: int) -> Profile:
        composed = compose([(pair, count)], budget=Budget.coarse())
        return composed.backward if sampling == "poisson-backward" else composed.forward

    step = rate * math.sqrt(math.expm1(min(noise**-2, 20.0)) * times)
    profile, longer = order(times), order(times + 1)
    epsilons = deviations * step * np.asarray([0.5, 0.9, 1.0])
    found = [ends(profile, float(epsilon)) for epsilon in epsilons]
    for lower, upper in found:
        assert not math.isnan(lower)
        assert not math.isnan(upper)
        assert lower <= upper <= 0.0
    for (_, above), (below, _) in zip(found, found[1:], strict=False):
        assert below <= above
    assert found[1][0] <= ends(longer, float(epsilons[1]))[1]

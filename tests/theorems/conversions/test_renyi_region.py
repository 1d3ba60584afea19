"""The tests that Rényi divergences and zero-concentrated privacy allow: none exceeds the bounds, and one attains them."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import optimize, stats

from epsilond.accountants.curve.renyi_bounds import RenyiBounds
from epsilond.accountants.profiles.concentrated import ConcentratedProfile, concentrated_pair
from epsilond.accountants.profiles.declared.best_ratios import concentrated_ratios, pure_of_divergence
from epsilond.accountants.profiles.declared.binary_pairs import binary_log_bound
from epsilond.accountants.profiles.declared.renyi_bounds import renyi_pair
from epsilond.accountants.theorems.conversions.renyi_region import ONE_ORDER, ZCDP_REGION
from epsilond.accountants.trade_off import TradeOff
from tests.oracles.renyi_region import Floats, binary_divergences, largest_delta, largest_rate

ORDERS = np.concatenate(([1.0], 1.0 + np.geomspace(1e-4, 3e4, 600)))
RHOS = (1e-4, 0.01, 0.25, 0.5, 2.0, 10.0)


def true_positive_rate(pair: Any, rate: float) -> float:
    return TradeOff.of(pair.forward, pair.backward, [rate], lower=False).true_positives(rate, floor=rate).upper


# One order -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("b", [1e-9, 1e-3, 0.7, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("v", [1e-3, 0.1, 2.0, 40.0])
@pytest.mark.parametrize("divergence", [1e-6, 0.02, 1.0, 30.0])
def test_the_bound_of_an_order_and_a_ratio_is_rounded_up(b: float, v: float, divergence: float) -> None:
    with mp.workdps(60):
        order, excess, ratio, size = mp.mpf(1) + mp.mpf(b), mp.mpf(b), mp.mpf(v), mp.mpf(divergence)

        def decay(y: Any) -> Any:
            return mp.log(-mp.expm1(-y) / y)

        for share in (0.0, 0.3, 0.9):
            epsilon = share * v / 2.0
            larger = mp.exp(mp.mpf(epsilon) + decay(excess * ratio) - decay(order * ratio))
            smaller = larger * mp.exp(-ratio)
            computed = float(_bound_at(epsilon, b, divergence, v)[0])
            if smaller >= 1:
                assert computed == math.inf
                continue
            rest = 1 - smaller**order - order * smaller**excess * (1 - smaller)
            slope = order * (larger**excess - smaller**excess)
            exact = mp.log((mp.expm1(excess * size) + rest) / slope)
            roundings = 1.0 + b * (1.0 + divergence + float(abs(mp.log(larger)))) + abs(float(exact)) + abs(math.log(b))
            assert exact <= computed <= exact + 1e-13 * roundings + 1e-10


def _bound_at(epsilon: float, b: float, divergence: float, v: float) -> Floats:
    at, excess, size, ratio = (np.asarray([number]) for number in (epsilon, b, divergence, v))
    return binary_log_bound(at, order_excess=excess, divergence=size, log_ratio=ratio)


def bound_in_doubles(epsilon: float, order: float, divergence: float, ratio: float) -> float:
    """(M − 1 + B(1))/k of one order and ratio by its formula; 1 where the ratio gives none."""

    def decay(y: float) -> float:
        return math.log(-math.expm1(-y) / y)

    excess = order - 1.0
    larger = math.exp(epsilon + decay(excess * ratio) - decay(order * ratio))
    smaller = larger * math.exp(-ratio)
    if smaller >= 1.0:
        return 1.0
    rest = 1.0 - smaller**order - order * smaller**excess * (1.0 - smaller)
    return (math.expm1(excess * divergence) + rest) / (order * (larger**excess - smaller**excess))


def least(function: Any, starts: list[Any]) -> float:
    """The least value of a function by a simplex search from each start."""
    options = {"xatol": 1e-10, "fatol": 1e-15, "maxiter": 4000}
    return min(optimize.minimize(function, start, method="Nelder-Mead", options=options).fun for start in starts)


@pytest.mark.compares("epsilond.two-ratio-bound")
@pytest.mark.parametrize(("order", "divergence", "epsilon"), [(2.0, 0.4, 0.5), (8.0, 0.4, 0.5), (2.0, 3.0, 3.0)])
def test_the_ratio_of_one_order_is_the_best(order: float, divergence: float, epsilon: float) -> None:
    computed = ONE_ORDER.evaluate(ONE_ORDER.request(order=order, divergence=divergence, epsilon=epsilon)).outputs
    best = least(
        lambda x: math.log(bound_in_doubles(epsilon, order, divergence, math.exp(x[0]))), [[-1.0], [0.0], [1.0], [2.0]]
    )
    assert math.exp(best) * (1.0 - 1e-9) <= computed["delta"] <= math.exp(best) * (1.0 + 5e-7)


@pytest.mark.compares("epsilond.zcdp-region", within=1e-5)
@pytest.mark.parametrize(("rho", "epsilon"), [(0.5, 1.0), (0.25, 2.0), (2.0, 4.0)])
def test_the_order_and_ratio_of_zcdp_are_the_best(rho: float, epsilon: float) -> None:
    computed = ZCDP_REGION.evaluate(ZCDP_REGION.request(rho=rho, epsilon=epsilon)).outputs["delta"]

    def log_bound(x: Any) -> float:
        order = 1.0 + math.exp(x[0])
        return math.log(bound_in_doubles(epsilon, order, rho * order, math.exp(x[1])))

    best = least(log_bound, [[x, y] for x in (-1.0, 1.0, 2.0) for y in (-1.0, 0.0, 1.5)])
    assert math.exp(best) * (1.0 - 1e-9) <= computed <= math.exp(best) * (1.0 + 5e-6)


@pytest.mark.parametrize(
    ("order", "divergence", "epsilon"),
    [
        *((order, 0.01, epsilon) for order in (1.1, 2.0, 8.0) for epsilon in (0.05, 0.5)),
        (1.1, 0.4, 2.0),
        (1.1, 3.0, 2.0),
        (2.0, 0.4, 0.05),
        (2.0, 3.0, 3.0),
        (8.0, 0.4, 0.5),
        (64.0, 0.4, 0.5),
    ],
)
def test_the_least_bound_of_one_order_is_that_of_binary_distributions(
    order: float, divergence: float, epsilon: float
) -> None:
    """The oracle keeps one direction only. Beyond log(a/(a − 1)) + ε < D an event with p = 1 would be the best one."""
    assert epsilon + math.log(order / (order - 1.0)) > divergence
    computed = ONE_ORDER.evaluate(ONE_ORDER.request(order=order, divergence=divergence, epsilon=epsilon)).outputs
    truth = largest_delta(epsilon, np.asarray([order]), np.asarray([divergence]), both=False)
    assert truth * (1.0 - 1e-8) <= computed["delta"] <= truth * (1.0 + 1e-4)


# Zero-concentrated privacy ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0, 1.6, 3.0])
def test_delta_of_zcdp_is_the_supremum_over_the_tests_that_it_allows(rho: float, share: float) -> None:
    epsilon = share * (math.sqrt(2.0 * rho) + 0.5 * rho)
    computed = ZCDP_REGION.evaluate(ZCDP_REGION.request(rho=rho, epsilon=epsilon)).outputs["delta"]
    orders = np.concatenate(([1.0], 1.0 + np.geomspace(1e-4, 20.0 + 20.0 / math.sqrt(rho), 1500)))
    truth = largest_delta(epsilon, orders, rho * orders)
    assert truth * (1.0 - 3e-4) <= computed <= truth * (1.0 + 3e-4)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("rate", [1e-3, 0.03, 0.1, 0.4])
def test_true_positive_rates_are_those_of_the_region(rho: float, rate: float) -> None:
    computed = true_positive_rate(concentrated_pair(rho), rate)
    truth = largest_rate(rate, ORDERS, rho * ORDERS)
    assert truth * (1.0 - 1e-4) <= computed <= truth * (1.0 + 3e-4)


@pytest.mark.parametrize("rho", [1e-4, 0.01, 0.5, 2.0, 8.0])
def test_the_advantage_is_that_of_randomized_response(rho: float) -> None:
    """Randomized response is ρ-zCDP with ρ = ε tanh(ε/2), and its advantage is tanh(ε/2)."""
    pure = pure_of_divergence(rho)
    p, q = 1.0 / (1.0 + math.exp(-pure)), 1.0 / (1.0 + math.exp(pure))
    assert (binary_divergences(p, q, ORDERS) <= rho * ORDERS * (1.0 + 1e-7)).all()
    advantage = math.exp(concentrated_pair(rho).upper_log_delta(0.0))
    assert math.tanh(0.5 * pure) * (1.0 - 1e-9) <= advantage <= math.tanh(0.5 * pure) * (1.0 + 1e-6)
    assert advantage < math.exp(float(ConcentratedProfile(rho).log_delta(np.zeros(1)).upper[0]))


def discrete_pair(seed: int) -> tuple[Floats, Floats]:
    """A random pair of distributions on two to five values, some of them with very unequal probabilities."""
    generator = np.random.default_rng(seed)
    size = int(generator.integers(2, 6))
    spread = float(generator.choice([0.02, 0.3, 1.0, 3.0]))
    second = generator.dirichlet(np.full(size, float(generator.choice([0.3, 1.0, 5.0]))))
    second = np.maximum(second, 1e-9)
    first = second * np.exp(spread * generator.standard_normal(size))
    return first / first.sum(), second / second.sum()


def divergences(first: Floats, second: Floats) -> Floats:
    """Rényi divergences at `ORDERS`, of which the first is 1."""
    losses = np.log(first / second)
    scaled = np.logaddexp.reduce(np.log(second)[None, :] + ORDERS[1:, None] * losses[None, :], axis=1)
    return np.concatenate(([float(first @ losses)], scaled / (ORDERS[1:] - 1.0)))


@pytest.mark.parametrize("seed", range(60))
def test_no_pair_with_these_divergences_exceeds_the_bounds(seed: int) -> None:
    """ρ of the pair is the largest D_a/a over both directions. A grid of orders misses less than 1e-4 of it."""
    first, second = discrete_pair(seed)
    both = np.maximum(divergences(first, second), divergences(second, first))
    rho = float(np.max(both / ORDERS)) * (1.0 + 1e-4)
    chosen = [1, 200, 300, 350, 400]
    listed = RenyiBounds(tuple(ORDERS[chosen].tolist()), tuple((both[chosen] * (1.0 + 1e-9)).tolist()))
    epsilons = np.linspace(0.0, 1.2 * float(np.max(np.abs(np.log(first / second)))), 25)
    for pair in (concentrated_pair(rho), renyi_pair(listed)):
        bounds = np.exp(pair.log_delta(epsilons).upper)
        for one, other in ((first, second), (second, first)):
            delta = np.maximum(one[None, :] - np.exp(epsilons)[:, None] * other[None, :], 0.0).sum(axis=1)
            assert (delta <= bounds * (1.0 + 1e-9) + 1e-15).all()


@pytest.mark.parametrize("rho", RHOS)
def test_a_gaussian_is_inside_and_the_bound_decreases(rho: float) -> None:
    epsilons = np.linspace(0.0, rho + 12.0 * math.sqrt(2.0 * rho), 1500)
    bounds = concentrated_pair(rho).log_delta(epsilons).upper
    mu = math.sqrt(2.0 * rho)
    gaussian = stats.norm.sf(epsilons / mu - 0.5 * mu) - np.exp(epsilons + stats.norm.logsf(epsilons / mu + 0.5 * mu))
    assert (gaussian <= np.exp(bounds) + 1e-15).all()
    assert (bounds <= ConcentratedProfile(rho).log_delta(epsilons).upper).all()
    assert (np.diff(bounds) < 1e-9 * np.abs(bounds[1:])).all()


@pytest.mark.parametrize("rho", [1e-100, 1e-30, 1e-18, 1e4, 1e9])
def test_extreme_rho_has_a_bound_that_is_at_most_the_earlier_one(rho: float) -> None:
    epsilons = np.asarray([0.0, 0.5, 1.0, 3.0, 20.0]) * (math.sqrt(2.0 * rho) + rho)
    bounds = concentrated_pair(rho).log_delta(epsilons)
    assert (bounds.upper <= ConcentratedProfile(rho).log_delta(epsilons).upper).all()
    assert (bounds.lower <= bounds.upper).all()
    assert concentrated_ratios(rho).epsilons.size > 1


# Orders below 1 --------------------------------------------------------------------------------------------------------
def test_zcdp_does_not_bound_divergences_of_orders_below_one_by_rho_times_the_order() -> None:
    """At ε = 6, ρ = ε tanh(ε/2) bounds D_a by ρa at all a > 1, and D_a of a = 1/2 is above ρ/2 but below ρ."""
    pure = 6.0
    rho = pure * math.tanh(0.5 * pure)
    p, q = 1.0 / (1.0 + math.exp(-pure)), 1.0 / (1.0 + math.exp(pure))
    assert (binary_divergences(p, q, ORDERS) <= rho * ORDERS * (1.0 + 1e-12)).all()
    (half,) = binary_divergences(p, q, np.asarray([0.5]))
    assert 0.5 * rho < half < rho
    assert true_positive_rate(concentrated_pair(rho), q) >= p

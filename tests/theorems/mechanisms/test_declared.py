"""Declared guarantees: zero-concentrated privacy, Rényi divergences, and points of a privacy profile."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.declared.profile import POINTS_PAIR, ProfileInputs
from epsilond.accountants.kinds.declared.rdp import DECLARED_RENYI, RenyiPairInputs
from epsilond.accountants.kinds.declared.zcdp import APPROXIMATE_ZCDP, ApproximateZcdpInputs
from epsilond.accountants.profiles.declared.points import ProfilePoint, points_pair
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DeclaredProfile,
    Gaussian,
    Laplace,
    Rdp,
    Repeated,
    Subsampled,
    Zcdp,
)
from epsilond.accountants.target import natural_log_delta
from tests.oracles.renyi_region import largest_delta

TARGET = natural_log_delta(1e-5, None)
ORDERS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0)
TRAINING = Repeated(
    times=100, mechanism=Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
)


def epsilon_of(spec: Any, relation: Any = "add-or-remove-one") -> float:
    return account(spec, relation=relation).guarantee.curve.epsilon(TARGET).upper


def rdp_of(rho: float) -> Rdp:
    """The divergences of a ρ-zCDP mechanism at a few orders."""
    return Rdp(orders=ORDERS, epsilons=tuple(rho * order for order in ORDERS))


# The pair of a profile's points ---------------------------------------------------------------------------------------
def convex_bound(points: list[tuple[Any, Any]], gamma: Any) -> Any:
    """The least line through two points, or a point and what follows, at γ: by brute force."""
    best = mp.mpf(1)
    for left_gamma, left in points:
        if left_gamma <= gamma:
            best = min(best, left)
        for right_gamma, right in points:
            if left_gamma < gamma < right_gamma:
                share = (gamma - left_gamma) / (right_gamma - left_gamma)
                best = min(best, left + share * (right - left))
    return best


CURVES: tuple[tuple[Any, Any], ...] = (
    (((1.0, -5.0),), None),
    (((0.0, -0.5), (1.0, -2.0), (3.0, -6.0)), None),
    (((0.5, -1.0), (2.0, -4.0)), ((0.5, -2.0),)),
    (((0.0, -3.0), (1.0, -3.0), (2.0, -2.0)), ((4.0, -9.0),)),
    (((0.1, -0.001), (0.2, -300.0)), None),
)


@pytest.mark.compares("epsilond.profile-points")
@pytest.mark.parametrize(("points", "reverse"), CURVES)
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 1.7, 5.0])
def test_between_points_the_bound_is_the_greatest_convex_function(points: Any, reverse: Any, epsilon: float) -> None:
    with mp.workdps(400):
        known = [(mp.mpf(0), mp.mpf(1))]
        known += [(mp.exp(mp.mpf(at)), mp.mpf(10) ** mp.mpf(value)) for at, value in points]
        for at, value in points if reverse is None else reverse:
            gamma = mp.exp(-mp.mpf(at))
            known.append((gamma, 1 - gamma + gamma * mp.mpf(10) ** mp.mpf(value)))
        gamma = mp.exp(mp.mpf(epsilon))
        forward = convex_bound(known, gamma)
        backward = 1 - gamma + gamma * convex_bound(known, 1 / gamma)
        truth = float(max(forward, backward))
    inputs = ProfileInputs(points=points, reverse=reverse, epsilon=epsilon)
    found = POINTS_PAIR.evaluate(inputs).outputs["delta"]
    assert truth * (1 - 1e-14) <= found <= truth * (1 + 1e-10)


def test_the_point_of_an_approximate_guarantee_is_that_guarantee() -> None:
    profile = DeclaredProfile(points=((1.0, -5.0),))
    box = Approximate(epsilon=1.0, delta=1e-5)
    for spec, other in (
        (profile, box),
        *((Repeated(times=3, mechanism=one), Repeated(times=3, mechanism=two)) for one, two in [(profile, box)]),
    ):
        for epsilon in (0.0, 0.5, 1.0, 2.5):
            ours, theirs = (
                account(one, relation="zero-out-one").guarantee.curve.log_delta(epsilon).upper for one in (spec, other)
            )
            assert ours == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("log10_delta", [-5.0, -2.5, -300.0])
def test_the_last_point_is_found_again(log10_delta: float) -> None:
    curve = account(DeclaredProfile(points=((0.5, -0.5), (1.0, log10_delta))), relation="zero-out-one").guarantee.curve
    above = math.nextafter(10.0**log10_delta, 1.0)
    assert curve.epsilon(natural_log_delta(above, None)).upper <= 1.0
    assert curve.epsilon(natural_log_delta(0.9 * above, None)).upper == math.inf


def test_many_points_of_a_gaussian_are_nearly_the_gaussian() -> None:
    gaussian = gaussian_pair(0.5)
    places = np.linspace(0.0, 8.0, 400)
    points = [
        ProfilePoint(*one) for one in zip(places.tolist(), gaussian.log_delta(places).upper.tolist(), strict=True)
    ]
    pair = points_pair(points)
    law = pair.atoms
    assert law is not None
    assert math.fsum(map(math.exp, law.log_first)) + math.exp(law.log_infinite) == pytest.approx(1.0, abs=1e-12)
    assert math.fsum(map(math.exp, law.log_second)) + math.exp(law.log_missing) == pytest.approx(1.0, abs=1e-12)
    for epsilon in (0.0, 0.33, 1.0, 2.0):
        exact = gaussian.log_delta_bounds(epsilon)
        assert exact.lower <= pair.log_delta_bounds(epsilon).upper <= exact.upper + 1e-2
    logs = tuple(
        (place, value.log_delta / math.log(10.0) + 1e-12) for place, value in zip(places.tolist(), points, strict=True)
    )
    declared = DeclaredProfile(points=logs)
    exact_run = epsilon_of(Composed(mechanisms=(TRAINING, Gaussian(noise_multiplier=2.0))))
    assert exact_run <= epsilon_of(Composed(mechanisms=(TRAINING, declared))) <= exact_run * 1.01


# Zero-concentrated privacy and Rényi divergences ----------------------------------------------------------------------
def best_conversion(log_moment: Any, epsilon: float, orders: Any) -> float:
    """The least δ of Proposition 12 of Canonne, Kamath and Steinke over orders, and at most 1."""
    values = [log_moment(a) - (a - 1) * epsilon + a * math.log1p(-1 / a) - math.log(a - 1) for a in orders]
    return math.exp(min(0.0, *values))


@pytest.mark.compares("bun-steinke-2016.approximate-zcdp", within=1e-3)
@pytest.mark.parametrize(("rho", "delta"), [(0.25, 0.0), (0.1, 1e-6), (1e-4, 1e-3), (20.0, 0.0)])
@pytest.mark.parametrize("share", [1.0, 2.0, 4.0])
def test_approximate_zcdp_is_an_escape_and_the_tests_that_rho_allows(rho: float, delta: float, share: float) -> None:
    epsilon = rho + share * math.sqrt(2.0 * rho)
    inputs = ApproximateZcdpInputs(rho=rho, delta=delta, epsilon=epsilon)
    found = APPROXIMATE_ZCDP.evaluate(inputs).outputs["delta"]
    orders = np.concatenate(([1.0], 1.0 + np.geomspace(1e-3, 20.0 + 20.0 / math.sqrt(rho), 1500)))
    truth = delta + (1.0 - delta) * largest_delta(epsilon, orders, rho * orders)
    assert truth * (1 - 3e-4) <= found <= truth * (1 + 3e-4)


@pytest.mark.parametrize(("rho", "delta"), [(0.25, 0.0), (0.1, 1e-6), (20.0, 0.0)])
@pytest.mark.parametrize("share", [7.0, 9.0])
def test_far_from_zero_approximate_zcdp_is_the_best_order(rho: float, delta: float, share: float) -> None:
    epsilon = rho + share * math.sqrt(2.0 * rho)
    inputs = ApproximateZcdpInputs(rho=rho, delta=delta, epsilon=epsilon)
    found = APPROXIMATE_ZCDP.evaluate(inputs).outputs["delta"]
    orders = 1.0 + np.geomspace(1e-3, 1e6, 100_001)
    best = best_conversion(lambda a: (a - 1) * a * rho, epsilon, orders)
    truth = delta + (1.0 - delta) * best
    assert truth * (1 - 1e-6) <= found <= truth * (1 + 1e-9)


@pytest.mark.compares("epsilond.declared-renyi-divergences")
@pytest.mark.parametrize("rho", [0.01, 0.25, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0, 6.0])
def test_divergences_give_the_best_of_their_orders(rho: float, epsilon: float) -> None:
    spec = rdp_of(rho)
    inputs = RenyiPairInputs(orders=spec.orders, epsilons=spec.epsilons, epsilon=epsilon)
    found = DECLARED_RENYI.evaluate(inputs).outputs["delta"]
    best = best_conversion(lambda a: (a - 1) * a * rho, epsilon, ORDERS)
    orders = np.asarray(ORDERS)
    truth = largest_delta(epsilon, orders, rho * orders)
    assert truth * (1 - 1e-9) <= found <= best * (1 + 1e-9)
    assert found == pytest.approx(truth, rel=0.02)


@pytest.mark.compares("epsilond.declared-renyi-divergences")
@pytest.mark.parametrize(("order", "divergence", "epsilon"), [(8.0, 0.4, 3.0), (2.0, 1e-3, 2.0), (64.0, 0.4, 0.7)])
def test_a_single_order_is_the_supremum_over_the_tests_that_it_allows(
    order: float, divergence: float, epsilon: float
) -> None:
    inputs = RenyiPairInputs(orders=(order,), epsilons=(divergence,), epsilon=epsilon)
    found = DECLARED_RENYI.evaluate(inputs).outputs["delta"]
    truth = largest_delta(epsilon, np.asarray([order]), np.asarray([divergence]))
    assert truth * (1 - 1e-9) <= found <= truth * (1 + 2e-3)
    assert found <= best_conversion(lambda a: (a - 1) * divergence, epsilon, (order,)) * (1 + 1e-9)


@pytest.mark.parametrize("declare", [lambda rho: Zcdp(rho=rho), rdp_of])
@pytest.mark.parametrize("rest", [TRAINING, Gaussian(noise_multiplier=1.5), Laplace(scale_multiplier=2.0)])
def test_composed_with_exact_parts_it_covers_a_gaussian_and_nearly_no_more(declare: Any, rest: Any) -> None:
    declared, gaussian = declare(0.25), Gaussian(noise_multiplier=math.sqrt(2.0))
    least = epsilon_of(Composed(mechanisms=(rest, gaussian)))
    found = epsilon_of(Composed(mechanisms=(rest, declared)))
    assert least <= found <= 1.15 * least
    assert found <= epsilon_of(rest) + epsilon_of(declared) + 1.0


def test_the_figure_of_a_peer_for_zcdp_next_to_training() -> None:
    """dp-accounting 0.6.0, RdpAccountant at its own orders, ZCDpEvent(0.25) and the same training: 3.26172."""
    assert 3.2 < epsilon_of(Composed(mechanisms=(Zcdp(rho=0.25), TRAINING))) < 3.26172


def test_rhos_and_divergences_add_up() -> None:
    assert epsilon_of(Repeated(times=10, mechanism=Zcdp(rho=0.025))) == pytest.approx(
        epsilon_of(Zcdp(rho=0.25)), rel=1e-12
    )
    assert epsilon_of(Repeated(times=10, mechanism=rdp_of(0.025))) == pytest.approx(epsilon_of(rdp_of(0.25)), rel=1e-9)
    mixed = Composed(mechanisms=(rdp_of(0.1), Rdp(orders=(2.0, 8.0, 512.0), epsilons=(0.3, 1.2, 77.0))))
    merged = Rdp(
        orders=(1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 32.0, 64.0),
        epsilons=tuple(0.1 * a + (0.3 if a <= 2.0 else 1.2 if a <= 8.0 else 77.0) for a in ORDERS),
    )
    assert epsilon_of(mixed) == pytest.approx(epsilon_of(merged), rel=1e-9)
    both = Composed(mechanisms=(Zcdp(rho=0.1), Gaussian(noise_multiplier=1.0)))
    assert epsilon_of(both) <= epsilon_of(Zcdp(rho=0.6)) * (1 + 1e-12)


@pytest.mark.parametrize("spec", [Zcdp(rho=0.1), rdp_of(0.1), DeclaredProfile(points=((1.0, -3.0),))])
def test_a_declared_guarantee_has_no_lower_bound_of_its_own(spec: Any) -> None:
    guarantee = account(spec, relation="zero-out-one").guarantee
    assert guarantee.tight == "unknown"
    assert len(guarantee.declared) == 1
    beside = account(Composed(mechanisms=(spec, TRAINING)), relation="add-or-remove-one").guarantee
    alone = account(TRAINING, relation="add-or-remove-one").guarantee.curve.epsilon(TARGET)
    assert beside.curve.epsilon(TARGET).lower == pytest.approx(alone.lower, rel=1e-9)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Zcdp, {"rho": 0.0}),
        (Zcdp, {"rho": 1.0, "delta": 1.0}),
        (Rdp, {"orders": (), "epsilons": ()}),
        (Rdp, {"orders": (1.0,), "epsilons": (0.1,)}),
        (Rdp, {"orders": (2.0, 2.0), "epsilons": (0.1, 0.2)}),
        (Rdp, {"orders": (2.0,), "epsilons": (-0.1,)}),
        (Rdp, {"orders": (2.0,), "epsilons": (0.1, 0.2)}),
        (Rdp, {"orders": (2.0,), "epsilons": (math.nan,)}),
        (DeclaredProfile, {"points": ()}),
        (DeclaredProfile, {"points": ((1.0, 0.5),)}),
        (DeclaredProfile, {"points": ((-1.0, -2.0),)}),
        (DeclaredProfile, {"points": ((1.0, -2.0), (1.0, -3.0))}),
        (DeclaredProfile, {"points": ((1.0, -2.0),), "reverse": ((math.inf, -2.0),)}),
    ],
)
def test_declarations_that_no_mechanism_can_have(kind: Any, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        kind(**fields)


@pytest.mark.parametrize(
    "spec",
    [
        Zcdp(rho=1e-300),
        Zcdp(rho=1e9),
        Rdp(orders=(1.0000001, 1e6), epsilons=(0.0, 1e9)),
        Rdp(orders=(2.0,), epsilons=(0.0,)),
        DeclaredProfile(points=((1e9, -1e9),)),
        DeclaredProfile(points=((0.0, 0.0),)),
        DeclaredProfile(points=((0.0, -1e9),)),
        DeclaredProfile(points=((5e-324, -5e-324),)),
    ],
)
def test_extreme_declarations_have_a_curve(spec: Any) -> None:
    curve = account(spec, relation="replace-one").guarantee.curve
    values = [curve.log_delta(epsilon).upper for epsilon in (0.0, 1e-9, 1.0, 1e3)]
    assert all(value <= 0.0 for value in values)
    assert values == sorted(values, reverse=True)

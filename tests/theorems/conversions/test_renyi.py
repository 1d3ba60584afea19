"""Rényi and concentrated privacy against quadrature in 40 digits, published figures, and the exact mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mpmath import mp

from epsilond.accountants.account import account
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.errors import BeyondBudget, InvalidInput
from epsilond.accountants.numerics.renyi_divergence import (
    sampled_gaussian_renyi,
    shifted_gaussian_renyi,
    shifted_gaussian_renyis,
)
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.profiles.concentrated import (
    ConcentratedProfile,
    composed_concentrated,
    concentrated_pair,
    log_escape_of,
)
from epsilond.accountants.profiles.declared.concentrated_bound import concentrated_log_delta
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.conversions.renyi import (
    IMPROVED,
    MIRONOV,
    PURE,
    SAMPLED_GAUSSIAN,
    ZCDP,
    ZCDP_PAIR,
    ConcentratedInputs,
    PureInputs,
    RenyiInputs,
    SampledGaussianInputs,
)
from tests.oracles.peers import peer


def divergence(order: float, rate: float, noise: float) -> mp.mpf:
    """The definition, by quadrature."""
    with mp.workdps(30):
        a, q, s = mp.mpf(order), mp.mpf(rate), 1 / mp.mpf(noise)
        ends = [-16 + (a * s + 32) * i / 24 for i in range(25)]
        return mp.log(mp.quad(lambda y: mp.npdf(y) * (1 - q + q * mp.exp(s * y - s * s / 2)) ** a, ends)) / (a - 1)


@pytest.mark.parametrize(
    ("order", "rate", "noise"),
    [(1.001, 1e-3, 1.0), (1.5, 0.9, 0.5), (3.7, 1e-5, 3.0), (12.0, 0.3, 0.9), (2.0, 1e-9, 5.0)],
)
def test_sampled_gaussian_is_enclosed(order: float, rate: float, noise: float) -> None:
    ends = sampled_gaussian_renyi(order=order, rate=rate, noise_multiplier=noise)
    truth = float(divergence(order, rate, noise))
    assert ends.lower * (1 - 1e-9 * (rate < 1e-8)) <= truth <= ends.upper * (1 + 1e-9 * (rate < 1e-8))
    assert ends.upper / ends.lower - 1 < 1e-12


@pytest.mark.compares("mironov-talwar-zhang-2019.sampled-gaussian")
@pytest.mark.parametrize("number", [23, 24, 26, 63, 65, 67, 69])
def test_sampled_gaussian_agrees_with_peers(number: int) -> None:
    case = peer(number)
    params = case["params"]
    inputs = SampledGaussianInputs(
        order=params["order"], rate=params["q"], noise_multiplier=params["sigma"], times=params["steps"]
    )
    outputs = SAMPLED_GAUSSIAN.evaluate(inputs).outputs
    for end in ("lower_renyi_divergence", "upper_renyi_divergence"):
        assert outputs[end] == pytest.approx(case["expected"], abs=case["tolerance"])


def test_a_peer_is_three_per_cent_off_at_order_one_and_a_half() -> None:
    """Its published 6.7058e-4 is neither order of the pair; the definition gives 6.5007e-4."""
    case = peer(22)
    params = case["params"]
    ends = sampled_gaussian_renyi(order=params["order"], rate=params["q"], noise_multiplier=params["sigma"])
    truth = params["steps"] * float(divergence(params["order"], params["q"], params["sigma"]))
    assert params["steps"] * ends.lower <= truth <= params["steps"] * ends.upper
    assert case["expected"] / truth == pytest.approx(1.0315, abs=1e-3)


def test_integer_orders_are_the_binomial_sum() -> None:
    rate, noise, order = 0.05, 1.3, 6
    with mp.workdps(30):
        q = mp.mpf(rate)
        moment = mp.fsum(
            mp.binomial(order, j) * (1 - q) ** (order - j) * q**j * mp.exp(mp.mpf(j * j - j) / (2 * mp.mpf(noise) ** 2))
            for j in range(order + 1)
        )
        truth = float(mp.log(moment) / (order - 1))
    ends = sampled_gaussian_renyi(order=order, rate=rate, noise_multiplier=noise)
    assert ends.lower <= truth <= ends.upper


def test_every_record_in_every_batch_is_the_plain_gaussian() -> None:
    ends = sampled_gaussian_renyi(order=4.0, rate=1.0, noise_multiplier=2.0)
    assert ends.lower <= 0.5 <= ends.upper


def precise_divergence(order: float, rate: float, noise: float) -> mp.mpf:
    """Compute the definition by Gauss–Legendre quadrature in 55 digits, so that a difference of 1e-25 remains."""
    a, q, s = mp.mpf(order), mp.mpf(rate), 1 / mp.mpf(noise)
    width = a * s + 36
    nodes = [-18 + width * i / math.ceil(width / 2) for i in range(math.ceil(width / 2) + 1)]
    moment = mp.quad(
        lambda y: mp.npdf(y) * (1 - q + q * mp.exp(s * y - s * s / 2)) ** a, nodes, method="gauss-legendre"
    )
    # The definition's total mass on these nodes differs from 1 by the tails only.
    mass = mp.quad(lambda y: mp.npdf(y) * (1 - q + q * mp.exp(s * y - s * s / 2)), nodes, method="gauss-legendre")
    return mp.log1p(moment - mass) / (a - 1)


@pytest.mark.compares("mironov-talwar-zhang-2019.sampled-gaussian")
@pytest.mark.parametrize(
    ("order", "rate", "noise"),
    [
        (1.0 + 1e-12, 0.5, 0.3),
        (1.0 + 2.0**-52, 0.5, 1.0),
        (1.0 + 1e-6, 1e-3, 0.5),
        (1.0 + 1e-6, 1.0 - 1e-9, 0.7),
        (1.0 + 1e-9, 1e-6, 1.0),
        (1.0 + 1e-3, 0.2, 0.25),
        (1.0 + 1e-4, 0.9, 20.0),
        (30.0, 1e-4, 1.2),
        (2.5, 1e-7, 0.4),
    ],
)
def test_sampled_gaussian_is_enclosed_near_order_one(order: float, rate: float, noise: float) -> None:
    inputs = SampledGaussianInputs(order=order, rate=rate, noise_multiplier=noise)
    served = SAMPLED_GAUSSIAN.evaluate(inputs).outputs
    with mp.workdps(55):
        truth = precise_divergence(order, rate, noise)
        assert mp.mpf(served["lower_renyi_divergence"]) <= truth <= mp.mpf(served["upper_renyi_divergence"])
        slack = mp.mpf("1e-11") + mp.mpf("1e-29") / ((mp.mpf(order) - 1) * truth)
        assert served["upper_renyi_divergence"] <= truth * (1 + slack)


def test_a_rate_whose_square_underflows_is_enclosed() -> None:
    ends = sampled_gaussian_renyi(order=2.0, rate=1e-200, noise_multiplier=1.0)
    assert 0.0 <= ends.lower <= ends.upper <= 1e-29


def test_orders_that_take_too_long_are_refused() -> None:
    with pytest.raises(BeyondBudget):
        sampled_gaussian_renyi(order=1e6, rate=0.1, noise_multiplier=0.1)


@pytest.mark.compares("canonne-kamath-steinke-2020.proposition-12")
def test_conversions_agree_with_peers() -> None:
    case = peer(21)
    orders = tuple(float(order) for order in range(2, 33))
    inputs = RenyiInputs(orders=orders, divergences=(case["params"]["rdp"],) * 31, delta=case["params"]["delta"])
    improved = IMPROVED.evaluate(inputs).outputs
    assert improved["epsilon"] == pytest.approx(case["expected"], abs=case["tolerance"])
    assert improved["order"] == 32.0
    assert MIRONOV.evaluate(inputs).outputs["epsilon"] > improved["epsilon"]

    case = peer(52)
    rate, times = case["params"]["batch"] / case["params"]["n"], case["params"]["steps"]
    one = sampled_gaussian_renyi(order=13.0, rate=rate, noise_multiplier=case["params"]["sigma"]).upper
    inputs = RenyiInputs(orders=(13.0,), divergences=(one,), times=times, delta=case["params"]["delta"])
    assert IMPROVED.evaluate(inputs).outputs["epsilon"] == pytest.approx(case["expected"], abs=case["tolerance"])


def test_conversions_never_promise_more_than_the_exact_curve() -> None:
    orders = (1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
    one = [sampled_gaussian_renyi(order=a, rate=0.01, noise_multiplier=1.0).upper for a in orders]
    inputs = RenyiInputs(orders=orders, divergences=tuple(one), times=100, delta=1e-5)
    spec = Repeated(
        times=100, mechanism=Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
    )
    exact = account(spec, relation="add-or-remove-one").guarantee.curve
    assert exact.log_delta(IMPROVED.evaluate(inputs).outputs["epsilon"]).upper < math.log(1e-5)


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    [(0.1, 1.0), (0.03125, 0.0), (5e-30, 1e-13), (1e-6, 0.1), (50.0, 1.0), (2.0, 100.0), (1e-12, 1e-7)],
)
def test_zcdp_at_the_best_order(rho: float, epsilon: float) -> None:
    with mp.workdps(60):
        r, e = mp.mpf(rho), mp.mpf(epsilon)
        # Bisection on the derivative of the logarithm, in log b.
        low, high = mp.mpf(-2000), mp.mpf(200)
        for _ in range(240):
            middle = (low + high) / 2
            b = mp.exp(middle)
            low, high = (middle, high) if (2 * b + 1) * r - e - mp.log1p(1 / b) < 0 else (low, middle)
        b = mp.exp(low)
        truth = float(b * ((b + 1) * r - e) - mp.log(b) - (b + 1) * mp.log1p(1 / b))
    many = concentrated_log_delta(rho, np.full(40, epsilon))  # few and many are computed differently
    for ours in (float(concentrated_log_delta(rho, np.asarray(epsilon))), float(many[0])):
        assert ours == pytest.approx(truth, abs=16 * 2.0**-53 * (1 + abs(truth) + float(b) * epsilon))


def test_zcdp_agrees_with_peers() -> None:
    for number in (73, 75):
        case = peer(number)
        outputs = ZCDP.evaluate(ConcentratedInputs(**case["params"])).outputs
        assert outputs["delta"] == pytest.approx(case["expected"], rel=1e-12)


@pytest.mark.parametrize("rho", [1e-4, 0.03125, 0.7, 20.0])
def test_the_concentrated_pair_is_a_pair(rho: float) -> None:
    """Convex and decreasing in e^ε, at most the bound it comes from, tails its slopes, and no mass lost at zero."""
    profile = ConcentratedProfile(rho)
    epsilon = np.linspace(0.0, 3 * rho + 8 * math.sqrt(rho), 400)
    delta = np.exp(profile.log_delta(epsilon).upper)
    gamma = np.exp(epsilon)
    slopes = np.diff(delta) / np.diff(gamma)
    rounding = 1e-13 * delta[:-1] / np.diff(gamma)
    assert (np.diff(slopes) >= -(rounding[1:] + rounding[:-1])).all()
    assert (profile.log_delta(epsilon).upper <= concentrated_log_delta(rho, epsilon) + 1e-12).all()
    tails = profile.log_tails(epsilon)
    p, q = np.exp(tails.log_p), np.exp(tails.log_q)
    assert np.allclose(p - gamma * q, delta, rtol=1e-9, atol=1e-15)
    assert (p + q <= 1 + 1e-12).all()
    assert (-q[:-1] <= slopes + rounding).all()
    assert (slopes <= -q[1:] + rounding).all()


@pytest.mark.parametrize("mu", [0.05, 1.0, 6.0])
def test_it_dominates_the_gaussian_it_is_named_after(mu: float) -> None:
    epsilon = np.linspace(0.0, 0.5 * mu * mu + 10 * mu, 60)
    bound = ConcentratedProfile(0.5 * mu * mu).log_delta(epsilon)
    assert (log_theta(epsilon, mu) <= bound.upper).all()
    assert (bound.lower <= bound.upper).all()


def test_concentrated_pairs_compose_in_closed_form() -> None:
    pair = concentrated_pair(0.01, math.log1p(-1e-7), math.log(1e-7))
    whole = composed_pair([(pair, 10)], "default")
    expected = concentrated_pair(0.1, 10 * math.log1p(-1e-7), math.log(1e-6))
    assert whole.log_delta_bounds(1.0).upper == pytest.approx(expected.log_delta_bounds(1.0).upper, rel=1e-6)
    assert (
        composed_concentrated([(pair.concentrated, 1)]).log_delta_bounds(0.3).upper
        >= pair.log_delta_bounds(0.3).upper - 1e-12
    )
    assert log_escape_of(0.0, [math.log(1e-30), -math.inf]) == math.log(1e-30)
    assert log_escape_of(-0.5, []) == pytest.approx(math.log(-math.expm1(-0.5)))


@pytest.mark.compares("canonne-kamath-steinke-2020.corollary-13", "epsilond.zcdp-pair")
def test_the_pair_improves_on_the_bound_near_zero_only() -> None:
    at_zero, beyond = ConcentratedInputs(rho=0.03125, epsilon=0.0), ConcentratedInputs(rho=0.03125, epsilon=1.0)
    assert ZCDP_PAIR.evaluate(at_zero).outputs["delta"] < ZCDP.evaluate(at_zero).outputs["delta"]
    assert ZCDP_PAIR.evaluate(beyond).outputs["delta"] == pytest.approx(
        ZCDP.evaluate(beyond).outputs["delta"], rel=1e-12
    )


def test_pure_guarantees_add_up() -> None:
    outputs = PURE.evaluate(PureInputs(epsilon=0.2, times=50)).outputs
    assert outputs == pytest.approx({"zcdp_rho": 0.02, "composed_zcdp_rho": 1.0})


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"orders": (), "divergences": (), "delta": 0.1}, "/divergences"),
        ({"orders": (2.0, 3.0), "divergences": (1.0,), "delta": 0.1}, "/divergences"),
        ({"orders": (1.0,), "divergences": (1.0,), "delta": 0.1}, "/orders"),
        ({"orders": (2.0,), "divergences": (-1.0,), "delta": 0.1}, "/divergences"),
        ({"orders": (2.0,), "divergences": (1.0,)}, "/delta"),
    ],
)
def test_divergences_that_no_mechanism_can_have(fields: dict[str, object], pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        RenyiInputs(**fields)  # type: ignore[arg-type]
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize(("rate", "shift"), [(0.01, 1.0), (0.3, 0.02), (1e-5, 3.0), (0.999, 8.0), (0.01, 10.0)])
def test_orders_that_share_nodes_have_the_bounds_of_each_order(rate: float, shift: float) -> None:
    orders = [1.0 + tenth / 10.0 for tenth in range(1, 100)] + [17.5, 63.0, 128.25, 1024.0, 1030.5]
    together = shifted_gaussian_renyis(orders=orders, rate=rate, shift=shift)
    for order, bounds in zip(orders, together, strict=True):
        each = shifted_gaussian_renyi(order=order, rate=rate, shift=shift)
        assert bounds is not None
        assert max(bounds.lower, each.lower) <= min(bounds.upper, each.upper)
        assert bounds.upper - bounds.lower <= 1e-9 * bounds.upper


@pytest.mark.parametrize("order", [2.0, 3.0, 7.0, 64.0, 900.0])
@pytest.mark.parametrize(("rate", "shift"), [(0.01, 1.0), (0.3, 0.02), (0.999, 8.0), (0.01, 10.0)])
def test_the_sum_at_an_integer_order_meets_the_integral_next_to_it(order: float, rate: float, shift: float) -> None:
    at, below, above = shifted_gaussian_renyis(
        orders=[order, order * (1.0 - 1e-9), order * (1.0 + 1e-9)], rate=rate, shift=shift
    )
    assert at is not None
    assert below is not None
    assert above is not None
    assert below.lower <= at.upper
    assert at.lower <= above.upper
    assert above.upper <= at.lower * (1.0 + 1e-6)


def test_orders_beyond_the_budget_have_no_bounds_among_others() -> None:
    far, near = shifted_gaussian_renyis(orders=[1e6 + 0.5, 2.0], rate=0.1, shift=10.0)
    assert far is None
    assert near is not None

"""ε of composed Gaussian mechanisms three ways: against the definitions, against each other, and both ways."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import log_theta
from epsilond.accountants.specs import Composed, Gaussian
from epsilond.accountants.theorems.papers.reshef_levy.conversions import (
    EXACT,
    LEMMA_2_6,
    TARGET,
    MuInputs,
    epsilons,
    exact_epsilon,
    exact_epsilons,
    exact_mu,
    mus,
)
from epsilond.accountants.theorems.papers.reshef_levy.zcdp_conversions import (
    lemma_epsilon,
    lemma_mu,
    zcdp_epsilon,
    zcdp_mu,
)

POINTS = [(0.01, 1e-5), (0.5, 1e-5), (4.0, 1e-5), (12.0, 1e-12), (1.0, 0.3), (0.2, 1e-300), (30.0, 1e-30)]


def random_points(count: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(6)
    return 10.0 ** draw.uniform(-4, 2.5, count), -(10.0 ** draw.uniform(-3, 3, count))


def test_the_exact_conversion_is_never_worse_at_ten_thousand_random_points() -> None:
    """In closed form: exact ε ≤ e is δ(e) ≤ δ, as δ falls in ε. Strictly less wherever ε is positive."""
    mu, log_delta = random_points(10_000)
    tight = zcdp_epsilon(mu, log_delta)
    printed = mu * (0.5 * mu + np.sqrt(-2.0 * log_delta))
    assert np.all(tight <= printed * (1 + 1e-14))
    there = log_theta(tight, mu)
    assert np.all(there <= log_delta)
    assert np.all(there[tight > 0] < log_delta[tight > 0])
    assert np.mean(tight > 0) > 0.5
    for place in range(0, 10_000, 400):
        lower, upper = exact_epsilons(mu[place : place + 400], log_delta[place])
        assert np.all(lower <= upper)
        assert np.all(
            upper <= zcdp_epsilon(mu[place : place + 400], np.asarray(log_delta[place])) * (1 + 1e-12) + 1e-300
        )


@pytest.mark.parametrize(("mu", "delta"), POINTS)
def test_the_exact_conversion_from_its_definition(mu: float, delta: float) -> None:
    with mp.workdps(60):

        def excess(epsilon: mp.mpf) -> mp.mpf:
            return mp.log(mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)) - mp.log(
                delta
            )

        found = exact_epsilon(mu=mu, log_delta=math.log(delta))
        if found == 0.0:
            assert excess(mp.mpf(0)) <= 0
            return
        true = mp.findroot(excess, (mp.mpf(found) * 0.999, mp.mpf(found) * 1.001), solver="anderson", tol=1e-60)
        assert abs(found / true - 1) < 1e-11
        assert found >= true * (1 - mp.mpf(2) ** -52)
        lower, upper = exact_epsilons(np.asarray([mu]), math.log(delta))
        assert lower[0] <= true <= upper[0]
        assert exact_mu(epsilon=float(true), log_delta=math.log(delta)) == pytest.approx(mu, rel=1e-11)


@pytest.mark.parametrize(("mu", "delta"), POINTS)
def test_the_best_order_of_zcdp_from_its_definition(mu: float, delta: float) -> None:
    with mp.workdps(40):
        rho, log_delta = mp.mpf(mu) ** 2 / 2, mp.log(delta)

        def epsilon(order: mp.mpf) -> mp.mpf:
            return order * rho + mp.log1p(-1 / order) - (log_delta + mp.log(order)) / (order - 1)

        grid = [1 + mp.mpf(10) ** (mp.mpf(k) / 40) for k in range(-400, 400)]
        best = min(range(len(grid)), key=lambda k: epsilon(grid[k]))
        low, high = grid[best - 1], grid[best + 1]
        for _ in range(120):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if epsilon(left) <= epsilon(right) else (left, high)
        true = max(epsilon(low), mp.mpf(0))
    found = float(zcdp_epsilon(np.asarray(mu), np.asarray(math.log(delta))))
    assert found == pytest.approx(float(true), rel=1e-12, abs=1e-14)


@pytest.mark.compares("epsilond.gaussian-composition-target")
def test_every_conversion_is_undone() -> None:
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-5), (40.0, 1e-12), (2.0, 0.2), (1e-3, 1e-200)):
        found = mus(epsilon=epsilon, log_delta=math.log(delta))
        exact, zcdp, lemma = found.values()
        assert lemma < zcdp < exact
        back = epsilons(mu=exact, log_delta=math.log(delta))
        assert back["exact_epsilon"] == pytest.approx(epsilon, rel=1e-9)
        assert float(zcdp_epsilon(np.asarray(zcdp), np.asarray(math.log(delta)))) == pytest.approx(epsilon, rel=1e-9)
        assert lemma_epsilon(mu=lemma, log_delta=math.log(delta)) == pytest.approx(epsilon, rel=1e-13)
        ratio = TARGET.evaluate(TARGET.request(epsilon=epsilon, delta=delta)).outputs
        assert ratio["lemma_noise_ratio"] == exact / lemma
        assert ratio["zcdp_noise_ratio"] == exact / zcdp


@pytest.mark.compares("epsilond.gaussian-composition-target")
@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-250, 1e-100, 1e-5, 1.0, 1e9])
@pytest.mark.parametrize("log10_delta", [-0.001, -5.0, -140.0, -160.0, -290.0, -1000.0])
def test_the_largest_mu_of_concentrated_privacy_at_every_magnitude(epsilon: float, log10_delta: float) -> None:
    log_delta = log10_delta * math.log(10.0)
    served = zcdp_mu(epsilon=epsilon, log_delta=log_delta)
    if epsilon == 0.0 and log10_delta < -308.0:
        assert served == 0.0
        return
    with mp.workdps(800):  # ρ and b have magnitudes of 1e±600

        def log_bound(mu: mp.mpf) -> mp.mpf:
            """Return the bound on log δ at its best b: the root of (2b + 1) ρ + log(b/(1 + b)) = ε."""
            rho, at, low, high = mu**2 / 2, mp.mpf(epsilon), mp.mpf(10) ** -400, (1 + epsilon / mu) * 10 / mu + 10
            low, high = mp.log(low), mp.log(high)
            for _ in range(60):
                middle = (low + high) / 2
                b = mp.exp(middle)
                low, high = (middle, high) if (2 * b + 1) * rho - mp.log1p(1 / b) < at else (low, middle)
            b = mp.exp(low)
            return b * ((b + 1) * rho - at) - mp.log(b) - (b + 1) * mp.log1p(1 / b)

        assert served > 0.0
        slack = mp.mpf(10) ** -11 * (1 - log_delta)
        assert log_bound(mp.mpf(served)) <= mp.mpf(log_delta) + slack
        assert log_bound(mp.mpf(served) * (1 + mp.mpf(10) ** -9)) > mp.mpf(log_delta) - slack


def test_epsilon_zero_is_an_advantage() -> None:
    for delta in (1e-200, 1e-12, 1e-5, 0.3, 0.99):
        with mp.workdps(250):
            true = 2 * mp.sqrt(2) * mp.erfinv(mp.mpf(delta))
        found = exact_mu(epsilon=0.0, log_delta=math.log(delta))
        assert found == pytest.approx(float(true), rel=1e-12)
        assert found <= true
        assert lemma_mu(epsilon=0.0, log_delta=math.log(delta)) == 0.0
        assert zcdp_mu(epsilon=0.0, log_delta=math.log(delta)) < found


def test_a_composition_of_gaussians_is_what_the_engine_says() -> None:
    noises = (3.0, 5.0, 9.0, 4.0)
    mu = 2.0 * math.sqrt(sum(1 / z**2 for z in noises))
    spec = Composed(mechanisms=tuple(Gaussian(noise_multiplier=z) for z in noises))
    curve = account(spec, relation="replace-one").guarantee.curve
    for log_delta in (-1.0, -11.0, -700.0):
        assert exact_epsilon(mu=mu, log_delta=log_delta) == pytest.approx(curve.epsilon(log_delta).upper, rel=1e-12)


@pytest.mark.compares("reshef.lemma-2.6")
def test_the_table_of_the_catalogue() -> None:
    for mu, lemma, zcdp, exact in (
        (0.5, 2.5243, 2.1657, 1.9931),
        (1.0, 5.2985, 4.7284, 4.3772),
        (8.0, 70.388, 68.616, 65.319),
    ):
        found = LEMMA_2_6.evaluate(MuInputs(gaussian_dp_mu=mu, delta=1e-5)).outputs
        assert [found[f"{name}_epsilon"] for name in ("lemma", "zcdp", "exact")] == pytest.approx(
            [lemma, zcdp, exact], rel=3e-5
        )
        assert found["order"] == 1 + math.sqrt(2 * math.log(1e5)) / mu
    assert EXACT.evaluate(MuInputs(gaussian_dp_mu=0.0, delta=0.5)).outputs["epsilon"] == 0.0


def test_one_delta_is_needed() -> None:
    for inputs in (MuInputs, TARGET.request):
        name = "gaussian_dp_mu" if inputs is MuInputs else "epsilon"
        for deltas in ({}, {"delta": 0.1, "log10_delta": -1.0}):
            with pytest.raises(InvalidInput):
                inputs(**{name: 1.0}, **deltas)

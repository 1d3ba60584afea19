"""Sums that decide an upper bound are rounded up: against exact rationals and 50 digits, at every magnitude."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from epsilond.accountants.kinds.gaussian import EXACT as GAUSSIAN
from epsilond.accountants.kinds.laplace import EXACT as LAPLACE
from epsilond.accountants.numerics.outward import product_up, round_up, sum_up
from epsilond.accountants.theorem import Theorem
from epsilond.accountants.theorems.composition.classical import (
    DWORK_ROTH_COMPOSITION,
    KAIROUZ_COMPOSITION,
    SUBSAMPLING,
)
from epsilond.accountants.theorems.composition.optimal import BASIC, OPTIMAL
from epsilond.accountants.theorems.conversions.groups import GROUP_PRIVACY
from epsilond.accountants.theorems.conversions.renyi import IMPROVED, MIRONOV, PURE
from epsilond.accountants.theorems.papers.reshef_levy.conversions import LEMMA_2_6
from epsilond.accountants.theorems.papers.reshef_levy.divergences import LEMMA_A_3
from epsilond.accountants.theorems.papers.reshef_levy.noise_cancellation import RECORDS, TRUSTED

SEEDS = range(40)


def outputs_of(theorem: Theorem, **fields: object) -> dict[str, float]:
    """Return the outputs of a theorem's formula."""
    return dict(theorem.evaluate(theorem.request(**fields)).outputs)


def check_upper(served: float, truth: mpf, *, within: float = 1e-13) -> None:
    """Check that a number is not below the truth, and not far above it."""
    assert truth <= mpf(served) <= truth * (1 + mpf(within)) + mpf(10) ** -320


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_and_products_are_the_least_doubles_above(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = (10.0 ** random.uniform(-300, 300 if seed % 2 else 0, 9) * random.choice([-1.0, 1.0], 9)).tolist()
    exact = sum(map(Fraction, values))
    total = sum_up(values)
    assert Fraction(total) >= exact > Fraction(math.nextafter(total, -math.inf))
    factors = (10.0 ** random.uniform(-90, 90, 3)).tolist()
    product = product_up(7, *factors)
    truth = 7 * math.prod(map(Fraction, factors))
    assert Fraction(product) >= truth > Fraction(math.nextafter(product, 0.0))


def test_what_leaves_the_doubles_rounds_up_too() -> None:
    assert round_up(Fraction(10) ** 400) == math.inf
    assert round_up(-(Fraction(10) ** 400)) == -sys.float_info.max
    assert round_up(Fraction(1, 10**400)) == 5e-324
    assert sum_up([]) == 0.0


@pytest.mark.compares("dwork-roth-2014.3.16", "dwork-roth-2014.3.20", "kairouz-oh-viswanath-2015.3.5")
@pytest.mark.parametrize("seed", SEEDS)
def test_composition_is_rounded_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, times = int(random.integers(1, 8)), int(10.0 ** random.uniform(0, 6))
    epsilons = (10.0 ** random.uniform(-12, 1, count)).tolist()
    deltas = np.where(random.random(count) < 0.3, 0.0, 10.0 ** random.uniform(-20, -9, count)).tolist()
    slack = float(10.0 ** random.uniform(-15, -0.01))
    fields = {"epsilons": epsilons, "deltas": deltas, "slack_delta": slack, "times": times}
    with mp.workdps(50):
        e, total = [mpf(one) for one in epsilons], times * sum(map(mpf, deltas))
        basic = outputs_of(BASIC, **fields)
        check_upper(basic["epsilon"], times * sum(e), within=1e-15)
        check_upper(basic["delta"], total, within=1e-13)
        spread = mp.sqrt(2 * times * sum(one**2 for one in e) * -mp.log(mpf(slack)))
        drifts = {
            DWORK_ROTH_COMPOSITION: lambda one: one * mp.expm1(one),
            KAIROUZ_COMPOSITION: lambda one: one * mp.tanh(one / 2),
        }
        for theorem, drift in drifts.items():
            served = outputs_of(theorem, **fields)
            check_upper(served["epsilon"], spread + times * sum(map(drift, e)))
            check_upper(served["delta"], mpf(slack) + total)
            check_upper(served["basic_epsilon"], times * sum(e), within=1e-15)


@pytest.mark.compares("mironov-2017.proposition-3", "canonne-kamath-steinke-2020.proposition-12")
@pytest.mark.parametrize("seed", SEEDS)
def test_conversions_of_renyi_divergences_are_rounded_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    order = 1.0 + float(10.0 ** random.uniform(-15, 5))
    divergence, delta = float(10.0 ** random.uniform(-12, 4)), float(10.0 ** random.uniform(-300, -0.001))
    times = int(10.0 ** random.uniform(0, 5))
    fields = {"orders": (order,), "divergences": (divergence,), "times": times, "delta": delta}
    with mp.workdps(50):
        a, total, log_delta = mpf(order), times * mpf(divergence), mp.log(mpf(delta))
        check_upper(outputs_of(MIRONOV, **fields)["epsilon"], total - log_delta / (a - 1))
        improved = total + mp.log(1 - 1 / a) - (log_delta + mp.log(a)) / (a - 1)
        served = outputs_of(IMPROVED, **fields)["epsilon"]
        size = total + abs(mp.log(1 - 1 / a)) + (abs(log_delta) + mp.log(a)) / (a - 1)
        assert max(improved, 0) <= mpf(served) <= max(improved + size * mpf(10) ** -14, 0)


@pytest.mark.compares("kairouz-oh-viswanath-2015.3.3", "lowy.lemma-f.2", "bun-steinke-2016.proposition-1.4")
@pytest.mark.parametrize("seed", SEEDS)
def test_multiples_are_rounded_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    epsilon, count = float(10.0 ** random.uniform(-6, 0)), int(10.0 ** random.uniform(0, 4))
    index = int(random.integers(0, count // 2 + 1))
    with mp.workdps(50):
        optimal = outputs_of(OPTIMAL, epsilon=epsilon, delta=0.0, runs=count, index=index)
        check_upper(optimal["epsilon"], (count - 2 * index) * mpf(epsilon), within=1e-15)
        group = outputs_of(GROUP_PRIVACY, epsilon=epsilon, delta=1e-9, group_size=count)
        check_upper(group["epsilon"], count * mpf(epsilon), within=1e-15)
        exact = mp.log10(count * mpf(1e-9)) + (count - 1) * mpf(epsilon) / mp.log(10)
        assert exact <= mpf(group["log10_delta"]) <= exact + mpf(10) ** -11
        pure = outputs_of(PURE, epsilon=epsilon, times=count)
        check_upper(pure["zcdp_rho"], mpf(epsilon) ** 2 / 2, within=1e-15)
        check_upper(pure["composed_zcdp_rho"], count * mpf(epsilon) ** 2 / 2, within=1e-15)


@pytest.mark.compares("reshef.lemma-a.3", "reshef.f.1", "epsilond.noise-cancellation-records")
@pytest.mark.parametrize("seed", SEEDS)
def test_concentrated_privacy_is_rounded_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 40))
    rhos = (10.0 ** random.uniform(-9, 1, count)).tolist()
    offsets = (10.0 ** random.uniform(-9, 1, count)).tolist()
    stds = (10.0 ** random.uniform(-3, 3, count)).tolist()
    with mp.workdps(50):
        rho, offset, nats = sum(map(mpf, rhos)), sum(map(mpf, offsets)), -mp.log(mpf(1e-6))
        served = outputs_of(LEMMA_A_3, zcdp_rhos=rhos, zcdp_offsets=offsets, delta=1e-6)
        check_upper(served["zcdp_rho"], rho, within=1e-15)
        check_upper(served["zcdp_offset"], offset, within=1e-15)
        check_upper(served["concentrated_mu"], mp.sqrt(2 * rho))
        check_upper(served["epsilon"], offset + rho + 2 * mp.sqrt(rho * nats))
        mu = mpf(0.7) / 3 * mp.sqrt(sum(1 / mpf(std) ** 2 for std in stds))
        trusted = outputs_of(TRUSTED, clipping_norm=0.7, participants=3, noise_stds=stds, relation="add-or-remove-one")
        check_upper(trusted["gaussian_dp_mu"], mu)
        check_upper(trusted["zcdp_rho"], mu**2 / 2)
        inverse = [1 / mpf(std) ** 2 for std in stds]
        records = outputs_of(RECORDS, clipping_norm=0.7, noise_stds=stds, relation="add-or-remove-one")
        check_upper(records["first_record_gaussian_dp_mu"], mpf(0.7) * mp.sqrt(sum(inverse)))
        check_upper(records["last_record_gaussian_dp_mu"], mpf(0.7) * mp.sqrt(inverse[-1]))


@pytest.mark.compares("balle-wang-2018.8", "epsilond.laplace", "reshef.lemma-2.6", "ullman-2017.amplification")
@pytest.mark.parametrize("seed", SEEDS)
def test_parameters_of_one_release_are_rounded_up(seed: int) -> None:
    random = np.random.default_rng(seed)
    noise, epsilon = float(10.0 ** random.uniform(-2, 4)), float(10.0 ** random.uniform(-6, 1))
    delta, rate = float(10.0 ** random.uniform(-250, -0.01)), float(10.0 ** random.uniform(-9, 0))
    with mp.workdps(50):
        gaussian = outputs_of(GAUSSIAN, epsilon=epsilon, noise_multiplier=noise, relation="add-or-remove-one")
        check_upper(gaussian["gaussian_dp_mu"], 1 / mpf(noise), within=1e-15)
        laplace = outputs_of(LAPLACE, epsilon=epsilon, scale_multiplier=noise, relation="replace-one")
        check_upper(laplace["pure_epsilon"], 2 / mpf(noise), within=1e-15)
        lemma = outputs_of(LEMMA_2_6, gaussian_dp_mu=noise, delta=delta)
        check_upper(lemma["lemma_epsilon"], mpf(noise) * (mpf(noise) / 2 + mp.sqrt(-2 * mp.log(mpf(delta)))))
        request = SUBSAMPLING.request(epsilon=epsilon, delta=delta, rate=rate)
        subsampled = dict(SUBSAMPLING.evaluate(request, "corrected").outputs)
        check_upper(subsampled["epsilon"], mp.log1p(mpf(rate) * mp.expm1(mpf(epsilon))))
        check_upper(subsampled["delta"], mpf(rate) * mpf(delta), within=1e-11)

"""Skellam noise against Bessel functions in 40 digits, brute force over shifts, and the published Rényi bound."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.integers.skellam import ENCLOSED, EXACT
from epsilond.accountants.profiles.integers.allowed_shifts import ShiftBounds, majorising_shift
from epsilond.accountants.profiles.integers.skellam import skellam_pairs
from epsilond.accountants.profiles.integers.skellam_concentration import skellam_concentration
from epsilond.accountants.profiles.integers.skellam_table import log_unlisted, skellam_table
from epsilond.accountants.specs import Gaussian, Repeated, Skellam, Subsampled
from tests.oracles.golden import stored

GOLDEN = stored("integer_noise")
SETTING: Any = {"relation": "add-or-remove-one", "observer": "released-models"}


def curve(spec: Any) -> Any:
    """The curve of a spec."""
    return account(spec, **SETTING).guarantee.curve


def one(variance: float, l2: float, dimension: int = 1, l1: float | None = None) -> Any:
    """A mechanism."""
    largest = l2 * math.sqrt(dimension)
    return Skellam(variance=variance, l1_sensitivity=l1 or largest, l2_sensitivity=l2, dimension=dimension)


def law(variance: float, shift: int, digits: int = 40) -> tuple[list[Any], list[Any]]:
    """The noise and its shift, where either has a probability above 1e-60 or so."""
    with mp.workdps(digits):
        mu = mp.mpf(variance)
        reach = math.ceil(18 * math.sqrt(variance)) + 60 + shift
        weights = [mp.besseli(n, mu) * mp.exp(-mu) for n in range(reach + shift + 1)]
        places = range(-reach, reach + 1)
        return [weights[abs(y)] for y in places], [weights[abs(y - shift)] for y in places]


def delta(p: list[Any], q: list[Any], epsilon: float) -> Any:
    """Σ (p − e^ε q)₊."""
    with mp.workdps(40):
        gamma = mp.exp(mp.mpf(epsilon))
        return mp.fsum(max(a - gamma * b, 0) for a, b in zip(p, q, strict=True))


@pytest.mark.compares("epsilond.skellam")
@pytest.mark.parametrize("case", GOLDEN["skellam"])
def test_golden_values_from_the_definition(case: dict[str, Any]) -> None:
    variance, shift, epsilon = case["variance"], case["shift"], case["epsilon"]
    truth = delta(*law(variance, shift), epsilon)
    assert mp.nstr(truth, 20) == case["delta"]
    exact = float(mp.log(mp.mpf(case["delta"])))
    bounds = curve(one(variance, float(shift))).log_delta(epsilon)
    assert bounds.lower <= exact <= bounds.upper
    assert bounds.upper - bounds.lower <= 1e-8 * (1 + abs(exact))
    fields = {"variance": variance, "l1_sensitivity": shift, "l2_sensitivity": shift, "dimension": 1}
    found = EXACT.evaluate(EXACT.request(**fields, at_epsilon=epsilon)).outputs
    assert found["delta_of_one_coordinate"] == pytest.approx(float(truth), rel=1e-8, abs=0.0)
    assert found["delta_of_one_coordinate"] != pytest.approx(float(truth) * (1 + 1e-6), rel=1e-7, abs=0.0)


@pytest.mark.parametrize("variance", [2.0**-20, 0.03, 1.0, 37.0, 2500.0])
def test_the_table_is_the_bessel_functions(variance: float) -> None:
    table = skellam_table(variance)
    with mp.workdps(40):
        mu = mp.mpf(variance)
        for n in (0, 1, 2, 17, table.reach // 3, table.reach):
            truth = mp.log(mp.besseli(n, mu)) - mu
            found = mp.mpf(table.log_at_zero) - mp.mpf(float(table.falls[n]))
            assert abs(found - truth) <= table.error * (1 + abs(truth)) + mp.mpf(10) ** -16 * abs(truth)
    assert table.log_beyond < -880.0


def test_the_largest_table_is_normal_noise() -> None:
    table = skellam_table(2.0**22)
    assert table.log_at_zero == pytest.approx(-0.5 * math.log(2 * math.pi * 2.0**22), rel=1e-6)
    assert table.error < 1e-7


def numerical(shifts: tuple[int, ...], variance: float, epsilon: float) -> float:
    """δ of several coordinates in doubles."""
    p, q = np.ones(1), np.ones(1)
    for shift in shifts:
        first, second = (np.asarray([float(w) for w in each]) for each in law(variance, shift, 20))
        middle = slice(max(first.size // 2 - 17, 0), first.size // 2 + 18)
        p, q = np.outer(p, first[middle]).ravel(), np.outer(q, second[middle]).ravel()
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


@pytest.mark.parametrize(
    ("square", "dimension", "l1"), [(1, 3, 1), (2, 2, 2), (3, 3, 2), (4, 2, 3), (5, 2, 3), (6, 3, 4)]
)
def test_every_admitted_shift_in_two_and_three_dimensions_is_enclosed(square: int, dimension: int, l1: int) -> None:
    variance = 2.0
    known = curve(one(variance, math.sqrt(square) * (1 + 1e-12), dimension, float(l1)))
    shifts = [
        shift
        for shift in itertools.product(range(math.isqrt(square) + 1), repeat=dimension)
        if sum(k * k for k in shift) <= square and sum(shift) <= l1 and tuple(sorted(shift)) == shift
    ]
    for epsilon in (0.0, 0.5, 2.0):
        most = max(numerical(shift, variance, epsilon) for shift in shifts)
        bounds = known.log_delta(epsilon)
        assert most <= math.exp(bounds.upper) * (1 + 1e-6)
        assert math.exp(bounds.lower) <= most * (1 + 1e-6)
        assert bounds.lower >= math.log(most) - 0.3


def divergence(variance: float, shift: int, order: Any) -> Any:
    """Rényi divergence of the noise from its shift, by its definition."""
    with mp.workdps(40):
        p, q = law(variance, shift)
        return mp.log(mp.fsum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)


@pytest.mark.parametrize(("variance", "largest"), [(1.0, 3), (9.0, 1), (100.0, 7), (0.05, 1)])
def test_the_constant_of_concentration_is_the_largest_of_all_orders(variance: float, largest: int) -> None:
    constant = skellam_concentration(variance, largest)
    assert constant is not None
    found = [
        float(divergence(variance, shift, mp.mpf(order)) / mp.mpf(order)) / shift**2
        for shift in range(1, largest + 1)
        for order in (1.0001, 1.01, 1.3, 2.0, 5.0, 12.0)
    ]
    assert max(found) <= constant <= max(found) * 1.03 or variance < 1.0
    assert max(found) <= constant


def test_the_published_bound_holds_and_is_larger() -> None:
    # Agarwal, Kairouz and Liu 2021: αΔ₂²/2μ + min(((2α − 1)Δ₂² + 6Δ₁)/4μ², 3Δ₁/2μ) at integer orders α > 1.
    variance, shift = 9.0, 2
    constant = skellam_concentration(variance, shift)
    assert constant is not None
    for order in (2, 3, 8):
        printed = order * shift**2 / (2 * variance) + min(
            ((2 * order - 1) * shift**2 + 6 * shift) / (4 * variance**2), 3 * shift / (2 * variance)
        )
        exact = float(divergence(variance, shift, order))
        assert exact <= constant * shift**2 * order <= printed
        assert exact <= printed


def test_large_variance_is_as_concentrated_as_gaussian_noise() -> None:
    guarantee = account(one(1e4, 30.0, 10**4, 3000.0), **SETTING).guarantee
    assert guarantee.theorems()[0] == ENCLOSED.id
    assert 900 / 2e4 <= guarantee.derivation.inputs["zcdp_rho"] <= 900 / 2e4 * 1.002
    log_survival, log_escape = log_unlisted(1e4, 30, 3000)
    assert log_escape < -800.0
    assert log_survival == pytest.approx(0.0, abs=1e-300)


def test_without_that_bound_the_majorising_shift_remains() -> None:
    guarantee = account(one(2.0**22, 200.0, 10**5, 1e4), **SETTING).guarantee
    assert "zcdp_rho" not in guarantee.derivation.inputs
    bounds = ShiftBounds.of(200.0, 10**5, 1e4)
    assert majorising_shift(bounds) == ((200, 50),)
    assert guarantee.curve.epsilon(math.log(1e-6)).upper == pytest.approx(
        curve(Gaussian(noise_multiplier=2.0**11 / (200 * math.sqrt(50)))).epsilon(math.log(1e-6)).upper, rel=1e-3
    )


def test_noise_is_closed_under_sums_and_a_thousand_batches_are_enclosed() -> None:
    step = Subsampled(sampling="poisson", rate=0.01, mechanism=one(1.0, 1.0))
    bounds = curve(Repeated(times=1000, mechanism=step)).epsilon(math.log(1e-6))
    assert 0.0 < bounds.lower < bounds.upper < bounds.lower + 2e-3
    # Two shares of variance 1/2 are one noise of variance 1.
    half = [float(w) for w in law(0.5, 0, 20)[0]]
    whole = [float(w) for w in law(1.0, 0, 20)[0]]
    summed = np.convolve(half, half)
    middle, centre = summed.size // 2, len(whole) // 2
    assert summed[middle - 5 : middle + 6].tolist() == pytest.approx(whole[centre - 5 : centre + 6], rel=1e-12)


@pytest.mark.parametrize(
    ("variance", "l2"), [(2.0**-20, 1.0), (2.0**-20, 1e15), (1.0, 1e15), (1.0, 200.0), (2.0**22, 1.0)]
)
def test_extreme_noise_is_enclosed(variance: float, l2: float) -> None:
    known = curve(one(variance, l2))
    for epsilon in (0.0, 1.0, 1e3, 1e9):
        bounds = known.log_delta(epsilon)
        assert bounds.lower <= bounds.upper <= 0.0
    if l2 * l2 / variance > 3600.0:
        assert known.log_delta(1.0).lower > -1e-3


def test_bounds_of_a_shift_beyond_the_table() -> None:
    pairs = skellam_pairs(1.0, 10**6)
    assert pairs.upper.log_delta_bounds(5.0).upper == 0.0
    assert pairs.attained.log_delta_bounds(5.0).lower > -1e-6


@pytest.mark.parametrize(
    "fields",
    [{"variance": 0.0}, {"l1_sensitivity": 0.0}, {"l2_sensitivity": 0.0}, {"dimension": 0}, {"variance": 2.0**23}],
)
def test_noise_that_no_run_can_have(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        Skellam(**{"variance": 1.0, "l1_sensitivity": 1.0, "l2_sensitivity": 1.0, "dimension": 1, **fields})

"""Discrete Gaussian noise against sums over the integers in 50 digits, brute force over shifts, and published figures."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.kinds.integers.discrete_gaussian import CONCENTRATED, EXACT
from epsilond.accountants.profiles.integers import discrete_gaussian
from epsilond.accountants.profiles.integers.allowed_shifts import ShiftBounds, concentrated_shift, spread_shift
from epsilond.accountants.profiles.integers.discrete_gaussian import discrete_gaussian_pairs
from epsilond.accountants.specs import Composed, DiscreteGaussian, Gaussian, Repeated, Subsampled
from tests.oracles.golden import stored

GOLDEN = stored("integer_noise")
SETTING: Any = {"relation": "add-or-remove-one", "observer": "released-models"}


def curve(spec: Any) -> Any:
    """The curve of a spec."""
    return account(spec, **SETTING).guarantee.curve


def one(scale: float, sensitivity: float, dimension: int = 1) -> Any:
    """A mechanism."""
    return DiscreteGaussian(scale=scale, l2_sensitivity=sensitivity, dimension=dimension)


def law(scale: float, shift: int, digits: int = 50) -> tuple[list[Any], list[Any]]:
    """The noise and its shift, on integers beyond which both have a probability below 1e-400."""
    with mp.workdps(digits):
        reach = max(math.ceil(43 * scale), 20) + shift
        weights = [mp.exp(-(mp.mpf(y) ** 2) / (2 * mp.mpf(scale) ** 2)) for y in range(-reach - shift, reach + 1)]
        whole = mp.fsum(weights)
        return [w / whole for w in weights[shift:]], [w / whole for w in weights[: len(weights) - shift]]


def delta(p: list[Any], q: list[Any], epsilon: float) -> Any:
    """Σ (p − e^ε q)₊."""
    with mp.workdps(50):
        gamma = mp.exp(mp.mpf(epsilon))
        return mp.fsum(max(a - gamma * b, 0) for a, b in zip(p, q, strict=True))


@pytest.mark.compares("epsilond.discrete-gaussian")
@pytest.mark.parametrize("case", GOLDEN["discrete_gaussian"])
def test_golden_values_from_the_definition(case: dict[str, Any]) -> None:
    scale, shift, epsilon = case["scale"], case["shift"], case["epsilon"]
    truth = delta(*law(scale, shift), epsilon)
    assert mp.nstr(truth, 25) == case["delta"]
    exact = float(mp.log(mp.mpf(case["delta"])))
    bounds = curve(one(scale, float(shift))).log_delta(epsilon)
    slack = 1e-13 * (1 + abs(exact))
    assert bounds.lower - slack <= exact <= bounds.upper + slack
    assert bounds.upper - bounds.lower <= 3e-10 * (1 + abs(exact))
    noise = {"scale": scale, "l2_sensitivity": float(shift), "dimension": 1}
    found = EXACT.evaluate(EXACT.request(**noise, at_epsilon=epsilon)).outputs
    assert found["delta_of_one_coordinate"] == pytest.approx(float(truth), rel=1e-9, abs=0.0)
    assert found["delta_of_one_coordinate"] != pytest.approx(float(truth) * (1 + 1e-6), rel=1e-8, abs=0.0)
    assert found["zcdp_rho"] == pytest.approx(shift**2 / (2 * scale**2), rel=1e-15)


@pytest.mark.parametrize(("scale", "shift"), [(0.7, 1), (1.0, 7), (3.0, 2), (12.0, 5)])
def test_tails_are_sums_over_the_outcomes(scale: float, shift: int) -> None:
    p, q = law(scale, shift)
    profile = discrete_gaussian_pairs(scale, shift).attained.forward
    top = shift / scale**2
    for share in (0.013, 0.55, 2.31, 7.77):  # between two losses
        at = share * top
        pairs = [(a, b) for a, b in zip(p, q, strict=True) if a > mp.exp(at) * b]
        tails = profile.log_tails(np.asarray([at]))
        for ours, truth in zip(tails, (mp.fsum(a for a, _ in pairs), mp.fsum(b for _, b in pairs)), strict=True):
            assert float(ours[0]) == pytest.approx(
                float(mp.log(truth)), abs=profile.tail_accuracy * (1 + abs(float(mp.log(truth)))) + 1e-13
            )


def test_cells_of_large_noise_enclose_the_sum_over_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    scale, shift = 300.0, 200
    p, q = law(scale, shift, digits=30)
    monkeypatch.setattr(discrete_gaussian, "LARGEST_LISTED", 100.0)
    monkeypatch.setattr(discrete_gaussian, "_CELLS", 1000)
    pairs = discrete_gaussian.discrete_gaussian_pairs.__wrapped__(scale, shift)
    for epsilon in (0.0, 0.3, 2.0, 5.0):
        truth = float(mp.log(delta(p, q, epsilon)))
        lower, upper = pairs.attained.log_delta_bounds(epsilon).lower, pairs.upper.log_delta_bounds(epsilon).upper
        assert lower <= truth <= upper
        assert upper - lower < 0.02 * (1 + abs(truth))


@pytest.mark.parametrize("scale", [9000.0, 1e6, 2.0**40])
def test_large_noise_is_close_to_gaussian_noise(scale: float) -> None:
    shift = round(scale)
    bounds = curve(one(scale, float(shift))).epsilon(math.log(1e-6))
    gaussian = curve(Gaussian(noise_multiplier=scale / shift)).epsilon(math.log(1e-6))
    assert bounds.lower <= gaussian.upper * (1 + 1e-6)
    assert gaussian.lower <= bounds.upper * (1 + 1e-6)
    assert bounds.upper - bounds.lower < 1e-3


def test_the_largest_shift_of_one_coordinate_is_worst() -> None:
    for epsilon in (0.0, 0.2, 1.0):
        found = [delta(*law(1.3, shift), epsilon) for shift in range(6)]
        assert all(left <= right for left, right in itertools.pairwise(found))


def product(laws: list[tuple[list[Any], list[Any]]]) -> tuple[list[float], list[float]]:
    """Independent coordinates."""
    p, q = np.ones(1), np.ones(1)
    for first, second in laws:
        p = np.outer(p, np.asarray(first, dtype=float)).ravel()
        q = np.outer(q, np.asarray(second, dtype=float)).ravel()
    return p.tolist(), q.tolist()


def numerical(p: list[float], q: list[float], epsilon: float) -> float:
    """The same in doubles."""
    return float(np.maximum(np.asarray(p) - math.exp(epsilon) * np.asarray(q), 0.0).sum())


def short(scale: float, shift: int) -> tuple[list[Any], list[Any]]:
    """Noise without far tails, for products."""
    values = np.arange(-12.0, 13.0 + shift)
    p, q = (np.exp(-0.5 * ((values - place) / scale) ** 2) for place in (0, shift))
    return (p / p.sum()).tolist(), (q / q.sum()).tolist()


@pytest.mark.parametrize(("square", "dimension"), [(1, 3), (2, 2), (3, 3), (4, 3), (6, 3), (9, 2)])
def test_every_admitted_shift_in_two_and_three_dimensions_is_enclosed(square: int, dimension: int) -> None:
    scale = 1.2
    bounds = curve(one(scale, math.sqrt(square) * (1 + 1e-12), dimension))
    largest = math.isqrt(square)
    shifts = [
        shift
        for shift in itertools.product(range(largest + 1), repeat=dimension)
        if sum(k * k for k in shift) <= square and tuple(sorted(shift)) == shift
    ]
    for epsilon in (0.0, 0.5, 2.0):
        found = [numerical(*product([short(scale, k) for k in shift]), epsilon) for shift in shifts]
        known = bounds.log_delta(epsilon)
        assert max(found) <= math.exp(known.upper) * (1 + 1e-6)
        assert math.exp(known.lower) <= max(found) * (1 + 1e-6)
        assert known.lower >= math.log(max(found)) - 0.3
        if square < 4:
            assert known.upper == pytest.approx(math.log(max(found)), abs=1e-4)


def test_rho_is_that_of_the_largest_integer_vector() -> None:
    guarantee = account(one(20.0, 7.3, 100), **SETTING).guarantee
    assert guarantee.theorems()[0] == CONCENTRATED.id
    assert guarantee.derivation.inputs["zcdp_rho"] == pytest.approx(53 / 800, rel=1e-15)  # 7.3² = 53.29


@pytest.mark.parametrize(
    ("l2", "dimension", "l1"), [(7.3, 1, None), (7.3, 4, None), (7.3, 1000, None), (20.0, 3, 22.0), (5.0, 10**6, 6.5)]
)
def test_witnesses_are_within_the_bounds(l2: float, dimension: int, l1: float | None) -> None:
    bounds = ShiftBounds.of(l2, dimension, l1)
    for parts in (concentrated_shift(bounds), spread_shift(bounds)):
        assert sum(count * size**2 for size, count in parts) <= Fraction(l2) ** 2
        assert sum(count for _, count in parts) <= dimension
        assert l1 is None or sum(count * size for size, count in parts) <= l1
        assert sum(count * size**2 for size, count in parts) > 0.5 * bounds.square or l1 is not None


@pytest.mark.parametrize("case", GOLDEN["dp_accounting"])
def test_the_figures_of_dp_accounting(case: dict[str, Any]) -> None:
    spec = one(case["scale"], float(case["shift"]))
    step = spec if case["rate"] == 1.0 else Subsampled(sampling="poisson", rate=case["rate"], mechanism=spec)
    bounds = curve(Repeated(times=case["times"], mechanism=step)).epsilon(math.log(1e-6))
    assert bounds.lower * (1 - 1e-8) <= case["epsilon_at_1e-6"]
    assert bounds.upper <= case["epsilon_at_1e-6"] * (1 + 1e-8)
    assert case["epsilon_at_1e-6"] <= bounds.upper * case["within"]


def test_a_thousand_poisson_batches_are_enclosed() -> None:
    step = Subsampled(sampling="poisson", rate=0.01, mechanism=one(1.0, 1.0))
    bounds = curve(Repeated(times=1000, mechanism=step)).epsilon(math.log(1e-6))
    assert bounds.upper - bounds.lower < 2e-3
    gaussian = Subsampled(sampling="poisson", rate=0.01, mechanism=Gaussian(noise_multiplier=1.0))
    assert bounds.upper == pytest.approx(
        curve(Repeated(times=1000, mechanism=gaussian)).epsilon(math.log(1e-6)).upper, rel=2e-3
    )


def test_composed_with_a_gaussian_part() -> None:
    both = curve(Composed(mechanisms=(one(20.0, 7.0, 50), Gaussian(noise_multiplier=2.0)))).epsilon(math.log(1e-6))
    assert (
        0.0 < curve(Gaussian(noise_multiplier=2.0)).epsilon(math.log(1e-6)).lower < both.lower < both.upper < math.inf
    )


@pytest.mark.parametrize(
    ("scale", "l2", "dimension"),
    [(2.0**-20, 1.0, 1), (2.0**-20, 1e15, 1), (1.0, 1e15, 1), (2.0**40, 1.0, 1), (0.05, 3.0, 1)],
)
def test_extreme_noise_is_enclosed(scale: float, l2: float, dimension: int) -> None:
    known = curve(one(scale, l2, dimension))
    for epsilon in (0.0, 1.0, 1e3, 1e9):
        bounds = known.log_delta(epsilon)
        assert bounds.lower <= bounds.upper <= 0.0
    # A lossless shift is seen for what it is: all but e^{−k²/8σ²} of the outcomes tell the two apart.
    if l2 / scale > 60.0:
        assert known.log_delta(1.0).lower > -1e-3
    if l2 / scale < 1e-9:
        assert known.log_delta(0.0).upper < math.log(l2 / scale)


def test_integers_that_cannot_differ_reveal_nothing() -> None:
    assert curve(one(1.0, 0.9, 5)).log_delta(0.0).upper == -math.inf


@pytest.mark.parametrize("fields", [{"scale": 0.0}, {"l2_sensitivity": 0.0}, {"dimension": 0}, {"scale": 2.0**41}])
def test_noise_that_no_run_can_have(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        DiscreteGaussian(**{"scale": 1.0, "l2_sensitivity": 1.0, "dimension": 1, **fields})

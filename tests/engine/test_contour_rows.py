"""Different subsampled Gaussian steps resolved together, against rigorous integrals and against each by itself."""

from __future__ import annotations

import cmath
import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.curve.facts import Direction, SampledGaussianLaw
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.contour.parts import Parts, SampledGaussian, compiled, resolve_all
from epsilond.accountants.engine.contour.transforms.sampled_gaussian import EXPONENTS, SampledGaussianLoss
from epsilond.accountants.engine.contour.transforms.sampled_gaussian_grids import SampledGaussianGrids
from epsilond.accountants.engine.contour.transforms.transform import (
    ContourRefused,
    Line,
    NodeBudget,
    RefusalReason,
    changes_of_rows,
    characteristic_change,
    exact_step,
)
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from tests.oracles.contour import Step, by_contour, moment

BUDGET = NodeBudget()
DIRECTIONS: tuple[Direction, ...] = ("remove", "add", "replace")
GROUPS = {
    "ordinary": ((0.01, 1.0, 40), (0.02, 1.1, 1), (0.005, 1.2, 7)),
    "large shifts": ((1e-4, 3.0, 100), (0.3, 3.3, 2), (0.5, 3.6, 1)),
    "single steps": ((0.01, 1.0, 1), (0.02, 1.1, 1), (0.005, 1.2, 1)),
    "small shifts": ((0.4, 0.02, 10_000), (1e-6, 0.021, 50), (0.1, 0.024, 3)),
}


def group(name: str, direction: Direction) -> list[SampledGaussian]:
    return [
        SampledGaussian(SampledGaussianLoss(rate, shift, EXPONENTS[direction]), count)
        for rate, shift, count in GROUPS[name]
    ]


def truth(name: str, direction: Direction, tilt: float, frequency: float) -> complex:
    """Σ T log M at a complex tilt."""
    return sum(
        count * cmath.log(moment(Step(rate, shift, direction), tilt, frequency)) for rate, shift, count in GROUPS[name]
    )


def together(
    name: str, direction: Direction, tilts: tuple[float, float], frequency: float = 0.0
) -> SampledGaussianGrids:
    (resolved,) = resolve_all(group(name, direction), tilts, frequency, BUDGET)
    assert isinstance(resolved, SampledGaussianGrids)
    return resolved


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", GROUPS)
def test_upper_cumulants_are_just_above_the_truth(name: str, direction: Direction) -> None:
    tilts = np.asarray([0.0, 0.5, 2.0, 3.0])
    resolved = together(name, direction, (0.0, 3.0))
    bounds, estimates = resolved.upper_cumulants(tilts), resolved.moments(tilts).cumulant
    for tilt, bound, estimate in zip(tilts.tolist(), bounds.tolist(), estimates.tolist(), strict=True):
        exact = truth(name, direction, tilt, 0.0).real
        assert exact - 1e-13 * (1.0 + abs(exact)) <= bound <= exact + 1e-9 * (1.0 + abs(exact))
        assert estimate == pytest.approx(exact, abs=1e-4, rel=1e-6)
    assert bounds[0] == 0.0


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", GROUPS)
def test_the_product_on_a_line_is_within_its_errors(name: str, direction: Direction) -> None:
    line = Line(2.0, exact_step(0.3), 12)
    values = together(name, direction, (2.0, 2.0), 12 * line.spacing).on_line(line)
    base = truth(name, direction, 2.0, 0.0).real
    assert abs(values.cumulant - base) <= values.cumulant_error + 1e-13 * (1.0 + abs(base))
    assert values.cumulant_error < 1e-9
    for k in (0, 1, 5, 11):
        t = float(line.frequencies[k])
        exact = cmath.exp(truth(name, direction, 2.0, t) - base - 1j * t * values.centre)
        found = cmath.exp(complex(values.log_modulus[k], values.phase[k]))
        size = max(math.exp(values.log_modulus[k]), 1e-300)
        error = size * math.expm1(values.log_growth[k] + 2.0 * values.rounding[k])
        rounding = 1e-15 * sum(count for _, _, count in GROUPS[name])  # of the integrals, which are doubles
        assert abs(found - exact) <= error + rounding
        assert error < 1e-8


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", GROUPS)
def test_the_decay_bound_is_never_below_the_modulus_and_falls(name: str, direction: Direction) -> None:
    frequencies = np.asarray([0.5, 2.0, 5.0, 12.0])
    bounds = together(name, direction, (0.0, 2.0)).log_decay(2.0, frequencies)
    base = truth(name, direction, 2.0, 0.0).real
    for t, bound in zip(frequencies.tolist(), bounds.tolist(), strict=True):
        assert truth(name, direction, 2.0, t).real - base <= bound + 1e-9
    assert np.all(np.diff(bounds) <= 1e-12)
    assert bounds[-1] < 0.0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rows_are_as_good_as_each_by_itself(direction: Direction) -> None:
    parts = group("ordinary", direction)
    rows, alone = together("ordinary", direction, (0.0, 4.0)), [part.resolve((0.0, 4.0), 0.0, BUDGET) for part in parts]
    tilts, frequencies = np.asarray([0.3, 1.0, 4.0]), np.asarray([1.0, 4.0])
    assert rows.upper_cumulants(tilts) == pytest.approx(
        sum(one.upper_cumulants(tilts) for one in alone), rel=1e-9, abs=1e-10
    )
    assert rows.log_decay(1.0, frequencies) == pytest.approx(
        sum(one.log_decay(1.0, frequencies) for one in alone), 0.02
    )
    mean, variance = (sum(getattr(one.moments(tilts), name) for one in alone) for name in ("mean", "variance"))
    assert rows.moments(tilts).mean == pytest.approx(mean, rel=1e-6)
    assert rows.moments(tilts).variance == pytest.approx(variance, rel=1e-6)


def test_groups_hold_about_equal_shifts_and_lose_no_part() -> None:
    shifts = [0.1, 0.11, 0.12, 1.0, 1.1, 1.2, 5.0]
    laws = [(SampledGaussianLaw(0.01, shift, "remove"), 2) for shift in shifts]
    laws.append((SampledGaussianLaw(0.9, 1.05, "remove"), 2))
    resolved = resolve_all(compiled(laws), (0.0, 2.0), 0.0, BUDGET)
    grouped = [one for one in resolved if isinstance(one, SampledGaussianGrids)]
    assert [one.counts.size for one in grouped] == [3, 3]
    assert len(resolved) == 4
    exact = sum(2 * math.log(moment(Step(law.rate, law.shift, "remove"), 2.0, 0.0).real) for law, _ in laws)
    assert sum(float(one.upper_cumulants(np.asarray([2.0]))[0]) for one in resolved) == pytest.approx(exact, rel=1e-9)


def test_rows_keep_the_budget() -> None:
    with pytest.raises(ContourRefused) as refused:
        resolve_all(group("large shifts", "remove"), (0.0, 50.0), 0.0, NodeBudget(noise_nodes=64))
    assert refused.value.reason is RefusalReason.BEYOND_BUDGET


def test_a_list_of_different_steps_against_another_contour() -> None:
    steps = [Step(0.01 + 0.002 * k, 1.0 + 0.03 * k, "remove", 30) for k in range(6)]
    laws = [(SampledGaussianLaw(step.rate, step.shift, "remove"), step.count) for step in steps]
    found = contour.log_delta(laws, 1.5)
    exact = mp.log(by_contour(steps, 1.5, tilt=3.0, period=40.0, count=500))
    assert found.lower - 1e-12 <= exact <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-9
    ends = contour.epsilon(laws, float(exact))
    assert ends.lower <= 1.5 + 1e-9
    assert ends.upper >= 1.5 - 1e-9


def test_compiled_parts_stay_and_know_their_hash() -> None:
    laws = [(SampledGaussianLaw(0.01, 1.0, "add"), 3), (SampledGaussianLaw(0.02, 1.0, "add"), 1)]
    parts = compiled(laws)
    assert compiled(parts) is parts
    assert hash(parts) == hash(tuple(parts))
    assert parts == compiled(list(laws))
    assert parts.supremum == pytest.approx(-3 * math.log(0.99) - math.log(0.98), rel=1e-12)
    assert Parts().supremum == 0.0


def test_rotations_keep_their_digits() -> None:
    rng = np.random.default_rng(7)
    deviations = np.concatenate([rng.normal(size=20) * scale for scale in (1e-12, 1e-3, 1.0, 40.0)])
    line = Line(1.0, exact_step(0.7), 9)
    units = 40 * UNIT_ROUNDOFF
    for deviation in deviations.tolist():
        found = characteristic_change(np.ones(1), np.asarray([deviation]), line)
        with mp.workdps(40):
            for t, value in zip(line.frequencies.tolist(), found.tolist(), strict=True):
                exact = mp.expj(mp.mpf(t) * mp.mpf(deviation)) - 1
                assert abs(mp.mpc(value) - exact) <= units * (abs(exact) + abs(t * deviation))


def test_rows_of_changes_are_those_of_each_row() -> None:
    rng = np.random.default_rng(3)
    weights, deviations = rng.random((5, 37)) / 37.0, rng.normal(size=(5, 37))
    line = Line(1.0, exact_step(0.2), 50)
    rows = changes_of_rows(weights, deviations, line)
    for row, weight, deviation in zip(rows, weights, deviations, strict=True):
        direct = np.exp(1j * line.frequencies[:, None] * deviation) @ weight - weight.sum()
        assert np.abs(row - direct).max() < 1e-14

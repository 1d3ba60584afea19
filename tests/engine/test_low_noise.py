"""Tables of the total loss with little noise: every bound against a formula, an integral or another engine."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import erfcx, ndtr

from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.low_noise import bounds as low_noise
from epsilond.accountants.engine.low_noise.span import choose_plan
from epsilond.accountants.engine.low_noise.steps import LatticeStep, lower_step, upper_step
from epsilond.accountants.engine.low_noise.table import loss_tables
from tests.engine.pairs import poisson
from tests.oracles.contour import Step, one_step
from tests.oracles.two_steps import log_delta_of_two

STEPS = [(0.01, 10.0), (0.01, 5.0), (0.2, 3.0), (1e-4, 20.0), (0.7, 4.0), (1e-9, 6.0), (0.01, 25.0), (0.999, 3.5)]
"""Rates and shifts."""
WIDE = math.inf
"""A width that every enclosure has."""


def delta_of(step: LatticeStep, least: float, spacing: float, epsilon: float) -> float:
    """Return δ(ε) of a lattice distribution, summed directly."""
    losses = least + step.first + spacing * np.arange(step.masses.size)
    return step.infinite + math.fsum(step.masses * -np.expm1(np.minimum(epsilon - losses, 0.0)))


@pytest.mark.parametrize(("rate", "shift"), STEPS)
def test_one_step_is_between_its_lattice_distributions_at_every_epsilon(rate: float, shift: float) -> None:
    spacing, cells = 0.0625, math.ceil((0.5 * shift**2 + 9.0 * shift) / 0.0625)
    lower, upper = lower_step(rate, shift, spacing, cells), upper_step(rate, shift, spacing, cells)
    assert lower is not None
    least = math.log1p(-rate)
    for place in np.concatenate((np.linspace(0.0, 3.0, 25), np.linspace(3.0, cells, 60))):
        epsilon = least + spacing * float(place)
        with mp.workdps(40):
            truth = one_step(Step(rate, shift, "remove"), epsilon)
            rounding = 1e-14 * (1.0 + abs(epsilon))
            assert delta_of(lower, least, spacing, epsilon) <= truth + rounding
            assert truth <= delta_of(upper, least, spacing, epsilon) + rounding


@pytest.mark.parametrize(("rate", "shift"), STEPS)
def test_masses_of_a_step_are_probabilities(rate: float, shift: float) -> None:
    cells = math.ceil((0.5 * shift**2 + 9.0 * shift) / 0.125)
    for step in (lower_step(rate, shift, 0.125, cells), upper_step(rate, shift, 0.125, cells)):
        assert step is not None
        assert step.masses.min() >= 0.0
        assert math.fsum(step.masses) + step.infinite == pytest.approx(1.0, abs=1e-12)
        assert 0.0 <= step.first <= 0.0625


@pytest.mark.parametrize(("rate", "shift"), STEPS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_steps_lie_within(rate: float, shift: float, share: float, direction: str) -> None:
    law = SampledGaussianLaw(rate, shift, direction)  # type: ignore[arg-type]
    largest = shift * shift if direction == "remove" else -2.0 * math.log1p(-rate)
    epsilon = share * largest
    bounds = tabulated(((law, 2),), epsilon)
    truth = log_delta_of_two(law, law, epsilon)
    assert bounds[0] * (1.0 - 1e-7) <= math.exp(truth) <= bounds[1] * (1.0 + 1e-7)


def tabulated(laws: tuple[tuple[SampledGaussianLaw, int], ...], epsilon: float) -> tuple[float, float]:
    """Return bounds on δ by the tables, wherever the engine would use them."""
    steps = tuple((law if law.direction == "remove" else law.reverse(), count) for law, count in laws)
    tables = loss_tables(steps, 0.0)
    assert tables is not None
    if laws[0][0].direction == "remove":
        return tables[0].delta(epsilon), tables[1].delta(epsilon)
    return low_noise.reverse_bound(tables[0])(epsilon), low_noise.reverse_bound(tables[1])(epsilon)


@pytest.mark.parametrize("count", [1, 100, 3000])
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("rate", "shift"), [(0.01, 10.0), (0.002, 4.0), (0.001, 25.0), (0.01, 3.0)])
def test_the_tables_meet_the_lattice(rate: float, shift: float, count: int, direction: str) -> None:
    law = SampledGaussianLaw(rate, shift, direction)  # type: ignore[arg-type]
    pair = compose([(poisson(rate, 1.0 / shift), count)])
    profile = pair.forward if direction == "remove" else pair.backward
    for epsilon in (0.0, 0.5, 7.0, 60.0):
        expected = profile.log_delta_bounds(epsilon)
        lower, upper = tabulated(((law, count),), epsilon)
        assert lower <= math.exp(expected.upper) * (1.0 + 1e-12)
        assert math.exp(expected.lower) * (1.0 - 1e-12) <= upper


@pytest.mark.parametrize("depth", [0.0, 11.0, 24.0, 60.0, 200.0])
def test_tilted_tables_meet_each_other(depth: float) -> None:
    steps = ((SampledGaussianLaw(0.01, 10.0, "remove"), 100),)
    deep, shallow = loss_tables(steps, depth), loss_tables(steps, 0.0)
    assert deep is not None
    assert shallow is not None
    for epsilon in np.linspace(-1.5, 900.0, 40).tolist():
        assert deep[0].delta(epsilon) <= shallow[1].delta(epsilon)
        assert shallow[0].delta(epsilon) <= deep[1].delta(epsilon)


def test_a_list_of_equal_steps_is_one_run_and_different_steps_are_between_runs() -> None:
    weak, strong = SampledGaussianLaw(0.01, 8.0, "remove"), SampledGaussianLaw(0.02, 10.0, "remove")
    listed = low_noise.log_delta([(weak, 60), (weak, 40)], 2.0, WIDE)
    assert listed == low_noise.log_delta([(weak, 100)], 2.0, WIDE)
    both = low_noise.log_delta([(weak, 50), (strong, 50)], 2.0, WIDE)
    most = low_noise.log_delta([(strong, 100)], 2.0, WIDE)
    assert listed is not None
    assert both is not None
    assert most is not None
    assert listed.upper < both.lower < both.upper < most.lower


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("log_delta", [-0.3, -0.46, -2.0, -6.0, -11.5, -20.0])
@pytest.mark.parametrize("shift", [5.0, 10.0, 20.0])
def test_epsilon_inverts_delta(shift: float, log_delta: float, direction: str) -> None:
    laws = [(SampledGaussianLaw(0.01, shift, direction), 100)]  # type: ignore[arg-type]
    found = low_noise.epsilon(laws, log_delta, 1e-9, 1e-3)
    if found is None:
        assert log_delta <= -6.0
        return
    above, below = low_noise.log_delta(laws, found.upper, 1e-3), low_noise.log_delta(laws, found.lower, 1e-3)
    assert found.upper - found.lower <= 1e-4 * found.upper
    if above is not None:
        assert above.lower <= log_delta
    if below is not None and found.lower > 0.0:
        assert below.upper >= log_delta


def test_no_table_is_used_where_it_does_not_apply() -> None:
    replace = SampledGaussianLaw(0.01, 10.0, "replace")
    remove, add = SampledGaussianLaw(0.01, 10.0, "remove"), SampledGaussianLaw(0.01, 10.0, "add")
    certain, silent = SampledGaussianLaw(1.0, 10.0, "remove"), SampledGaussianLaw(0.01, 0.0, "remove")
    for laws in ([], [(replace, 5)], [(remove, 1), (add, 1)], [(certain, 5)], [(silent, 5)], [(remove, 0)]):
        assert low_noise.log_delta(laws, 1.0, WIDE) is None
        assert low_noise.epsilon(laws, -1.0, 0.0, WIDE) is None
    assert low_noise.log_delta([(remove, 100_000)], 1.0, WIDE) is None
    assert low_noise.log_delta([(remove, 100)], -1.0, WIDE) is None


@pytest.mark.parametrize(
    ("rate", "shift", "count"),
    [
        (1e-300, 10.0, 10**6), (0.5, 3.0, 1), (1.0 - 2**-53, 50.0, 1), (1e-7, 1e4, 10**6), (0.01, 1e6, 100),
        (2**-1074, 5.0, 10), (1e-3, 1e150, 10), (0.3, 3.0, 30),
    ],
)  # fmt: skip
def test_hostile_steps_get_a_true_bound_or_none(rate: float, shift: float, count: int) -> None:
    law = SampledGaussianLaw(rate, shift, "remove")
    included = -math.expm1(count * math.log1p(-rate)) if rate < 1.0 else 1.0
    for epsilon in (0.0, 1.0, 50.0):
        found = low_noise.log_delta([(law, count)], epsilon, WIDE)
        if found is not None:
            assert found.lower <= found.upper <= 0.0
            assert math.exp(found.lower) <= included * (1.0 + 1e-9)
    found_epsilon = low_noise.epsilon([(law, count)], math.log(0.9), 0.0, WIDE)
    assert found_epsilon is None or found_epsilon.lower <= found_epsilon.upper
    if included < 0.89:
        assert found_epsilon in (None, (0.0, 0.0))


def test_a_plan_has_multiples_that_are_doubles() -> None:
    for shift in (3.1, 10.0, 77.7):
        for depth in (0.0, 9.0, 22.0):
            spacing = choose_plan(((SampledGaussianLaw(0.01, shift, "remove"), 100),), depth).spacing
            assert (math.frexp(spacing)[0] * 2**7).is_integer()


@pytest.mark.parametrize("x", [-37.0, -12.3, -3.0, -0.1, 0.0, 0.7, 4.0, 9.9, 30.0, 120.0])
def test_the_functions_are_as_accurate_as_the_bounds_assume(x: float) -> None:
    with mp.workdps(60):
        if x > -25.0:
            exact = mp.erfc(mp.mpf(x)) * mp.exp(mp.mpf(x) ** 2)
            assert abs(float(erfcx(x)) / exact - 1) < 2e-13
        if x < 38.0:
            assert abs(float(ndtr(x)) / mp.ncdf(mp.mpf(x)) - 1) < 2e-13

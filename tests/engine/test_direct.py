"""A few different steps convolved directly: masses, laws, totals and enclosures, each against something else."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.composition.exact_laws import ExactProfile
from epsilond.accountants.curve.facts import Direction, GaussianLaw, SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.direct.cells import StepRows
from epsilond.accountants.engine.direct.convolution import CumulantBounds, Total, Window
from epsilond.accountants.engine.direct.laws import LatticeRows, lower_rows, upper_rows
from epsilond.accountants.engine.direct.profile import MOST, MOST_STEPS, DirectProfile
from epsilond.accountants.specs import Composed, Gaussian, Repeated, Subsampled
from tests.oracles.two_steps import log_delta_of_two, mixtures, once

DIRECTIONS: tuple[Direction, ...] = ("remove", "add", "replace")
PAIRS = [
    ((0.01, 1.0), (0.013, 0.8)),
    ((0.3, 0.5), (0.05, 2.0)),
    ((0.001, 3.0), (0.9, 0.3)),
    ((1e-5, 4.0), (0.02, 1.0)),
]


def law(step: tuple[float, float], direction: Direction) -> SampledGaussianLaw:
    return SampledGaussianLaw(*step, direction)


def direct(*laws: SampledGaussianLaw) -> DirectProfile:
    made = DirectProfile.of([(each, 1) for each in laws])
    assert made is not None
    return made


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_masses_of_cells_are_within_their_errors(direction: Direction) -> None:
    chosen = [law((0.01, 1.0), direction), law((0.7, 3.0), direction)]
    steps = StepRows.of([(each, 1) for each in chosen])
    losses = np.asarray([-0.9, -0.009, -0.0085, 0.0, 1e-4, 0.0095, 0.5, 0.50001, 1.1])
    cells, ends = steps.cells(losses), steps.noise(losses)
    with mp.workdps(40):
        for row, one in enumerate(chosen):
            marks = [-mp.inf, *(mp.mpf(float(end)) for end in ends[row]), mp.inf]
            for masses, mixture in zip(cells, mixtures(one), strict=True):
                for column, (low, high) in enumerate(itertools.pairwise(marks)):
                    # From whichever side the tail is small.
                    exact = mp.fsum(
                        mp.mpf(weight) * (mp.ncdf(high - mean) - mp.ncdf(low - mean))
                        if low < mean
                        else mp.mpf(weight) * (mp.ncdf(mean - low) - mp.ncdf(mean - high))
                        for weight, mean in mixture
                    )
                    assert masses.lower[row, column] <= exact <= masses.upper[row, column]
                    assert masses.error[row, column] <= 1e-13


def profile_of(rows: LatticeRows, row: int, epsilon: np.ndarray) -> np.ndarray:
    losses = rows.losses + rows.offsets[row]
    return np.asarray(
        [float(rows.mass[row] @ np.maximum(-np.expm1(np.minimum(e - losses, 0.0)), 0.0)) for e in epsilon]
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("unit", [2.0**-7, 2.0**-10])
def test_each_law_lies_on_its_side_of_the_step_and_near_it(direction: Direction, unit: float) -> None:
    chosen = [law((0.05, 1.0), direction), law((0.4, 0.7), direction)]
    steps = StepRows.of([(each, 1) for each in chosen])
    first, last = math.floor(-7.0 / unit), math.ceil(9.0 / unit)
    losses = unit * np.arange(first, last + 1)
    cells = steps.cells(losses)
    above, below = upper_rows(cells, losses, first, unit), lower_rows(cells, losses, first, unit)
    at = np.concatenate([np.linspace(-0.3, 2.0, 23), unit * np.asarray([-3.0, -0.5, 0.0, 0.25, 7.0, 30.5])])
    for row, one in enumerate(chosen):
        truth = once(one, at)
        upper, lower = profile_of(above, row, at), profile_of(below, row, at)
        assert np.all(upper >= truth - 1e-14)
        assert np.all(lower <= truth + 1e-14)
        assert np.all(upper - lower <= 3.0 * unit * unit + 0.2 * unit)


def test_a_law_below_keeps_each_cell_at_or_below_its_own_ratio() -> None:
    steps = StepRows.of([(law((0.05, 1.0), "remove"), 1)])
    unit = 2.0**-6
    losses = unit * np.arange(-4, 200)
    cells = steps.cells(losses)
    found = lower_rows(cells, losses, -4, unit)
    assert found.mass.sum() <= 1.0
    # Under the second law, e^{−loss} of each mass is no more than there is in all.
    assert (
        float((found.mass * np.exp(-(found.losses + found.offsets[0]))).sum())
        >= cells.second.lower[:, 1:-1].sum() - 1e-3
    )


@pytest.mark.parametrize("length", [1.0, 2.5, 40.0])
def test_totals_hold_what_is_wrapped_within_its_bound(length: float) -> None:
    random = np.random.default_rng(7)
    unit, counts = 2.0**-5, (2, 1)
    mass = random.random((2, 30)) * np.exp(-0.3 * np.arange(30.0))
    mass /= mass.sum(axis=1, keepdims=True)
    rows = LatticeRows(mass, -3, unit, unit * np.asarray([0.25, 0.5]), 0.0)
    whole = np.convolve(np.convolve(mass[0], mass[0]), mass[1])
    places = unit * (np.arange(whole.size) - 9) + unit
    for low in (-math.inf, -0.1):
        total = Total.of(rows, counts, Window(3.0, low, length), 0.5)
        for epsilon in (0.0, 0.3, 0.52, 0.9):
            if epsilon < total.reach:
                continue
            exact = float(whole @ np.maximum(-np.expm1(np.minimum(epsilon - places, 0.0)), 0.0))
            value, error = (math.exp(total.log_unit) * one for one in total.sum_above(epsilon))
            assert value + error + math.exp(total.log_missing) >= exact * (1.0 - 1e-14)
            assert value - error - math.exp(total.log_wrapped(epsilon)) <= exact * (1.0 + 1e-14)
            if length == 40.0:
                assert value == pytest.approx(exact, rel=1e-11)
                assert error <= 1e-9 * exact


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", PAIRS)
def test_two_steps_are_enclosed(direction: Direction, pair: tuple[tuple[float, float], tuple[float, float]]) -> None:
    laws = [law(step, direction) for step in pair]
    profile = direct(*laws)
    narrow = 0
    for epsilon in (0.0, 0.02, 0.3, 2.6):
        if epsilon >= profile.steps.supremum:
            assert profile.log_delta(epsilon) == (-math.inf, -math.inf)
            continue
        truth = log_delta_of_two(laws[0], laws[1], epsilon)
        lower, upper = profile.log_delta(epsilon)
        assert lower - 2e-9 <= truth <= upper + 2e-9
        narrow += upper - lower <= (1e-5 if pair in PAIRS[:2] else 3e-4)
    # A loss that is nearly always within a millionth of its largest value is narrower than any cell.
    assert narrow >= 1 or (direction == "add" and pair == PAIRS[2])


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-15])
def test_epsilon_is_where_delta_is_as_asked(delta: float) -> None:
    laws = [law(step, "remove") for step in PAIRS[0]]
    profile = direct(*laws)
    found = profile.epsilon(math.log(delta))
    assert found is not None
    assert found.upper - found.lower <= 2e-6 * found.upper
    assert profile.log_delta(found.upper).upper <= math.log(delta) < profile.log_delta(found.lower).lower
    assert log_delta_of_two(laws[0], laws[1], found.lower) >= math.log(delta) - 1e-8
    assert log_delta_of_two(laws[0], laws[1], found.upper) <= math.log(delta) + 1e-8


def test_epsilon_is_zero_where_delta_is_large() -> None:
    found = direct(*(law(step, "remove") for step in PAIRS[0])).epsilon(math.log(0.5))
    assert found == (0.0, 0.0)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("count", [5, 20])
def test_many_steps_agree_with_the_contour_engine(direction: Direction, count: int) -> None:
    """Steps with little noise on large batches, which the contour engine answers to eleven digits."""
    laws = [(law((0.2 + 0.01 * k, 0.5 + 0.01 * k), direction), 1 + (k % 2)) for k in range(count)]
    profile = DirectProfile.of(laws)
    assert profile is not None
    for epsilon in (0.5, 2.0):
        exact, ours = contour.log_delta(laws, epsilon), profile.log_delta(epsilon)
        assert ours.lower <= exact.upper
        assert exact.lower <= ours.upper
        assert ours == exact or ours.upper - ours.lower <= 5e-3


def test_both_orders_agree_where_neither_is_favoured() -> None:
    ends = [direct(*(law(step, direction) for step in PAIRS[0])).log_delta(0.0) for direction in ("remove", "add")]
    assert max(end.lower for end in ends) <= min(end.upper for end in ends)


def test_what_was_asked_before_changes_nothing() -> None:
    laws = [law((0.004 + 0.002 * k, 1.0 + 0.05 * k), "remove") for k in range(4)]
    used = direct(*laws)
    for epsilon in (3.0, 0.01, 0.7, 0.05, 0.2, 1.1, 6.0, 0.4):
        used.log_delta(epsilon)
    assert used.log_delta(0.3) == direct(*laws).log_delta(0.3)
    assert used.log_delta(0.3) == pytest.approx(direct(*reversed(laws)).log_delta(0.3), rel=1e-12)


def test_delta_falls() -> None:
    profile = direct(*(law((0.004 + 0.002 * k, 1.0 + 0.05 * k), "remove") for k in range(4)))
    ends = [profile.log_delta(epsilon) for epsilon in np.geomspace(1e-3, 8.0, 60)]
    assert all(later.lower <= earlier.upper for earlier, later in itertools.pairwise(ends))
    assert all(end.upper - end.lower <= 1e-3 for end in ends)


def test_other_compositions_are_left_alone() -> None:
    step = law((0.01, 1.0), "remove")
    others = [(law((0.01 + 1e-4 * k, 1.0), "remove"), 1) for k in range(MOST + 1)]
    assert DirectProfile.of([(step, 1)]) is None
    assert DirectProfile.of([(step, MOST_STEPS + 1)]) is None
    assert DirectProfile.of(others) is None
    assert DirectProfile.of([(step, 1), (law((0.02, 1.0), "remove"), MOST_STEPS)]) is None
    assert DirectProfile.of([(step, 1), (GaussianLaw(0.1), 1)]) is None
    assert DirectProfile.of([(step, 1), (law((0.02, 1.0), "add"), 1)]) is None


def test_a_list_that_the_contour_engine_refuses_is_answered_directly() -> None:
    laws = tuple((law((0.005 + 0.001 * k, 1.0 + 0.02 * k), "remove"), 1) for k in range(6))

    def lattice() -> Pair:
        raise AssertionError("the lattice is not needed")

    profile = ExactProfile(laws, lattice)
    found, narrow = profile.enclose_epsilon(math.log(1e-6))
    assert narrow
    assert found.upper - found.lower <= 1e-6 * found.upper
    ends = profile.enclose(found.upper)
    assert ends.upper <= math.log(1e-6)
    assert ends.upper - ends.lower <= 1e-5


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("epsilon", [-3.0, 0.0, 1e-9, 40.0, 1e4, 1e15])
def test_ends_are_ordered_numbers_wherever_they_are_asked(direction: Direction, epsilon: float) -> None:
    for pair in (((1e-9, 1e-3), (0.99, 12.0)), ((1e-9, 1e-3), (1e-9, 2e-3))):
        lower, upper = direct(*(law(step, direction) for step in pair)).log_delta(epsilon)
        assert lower <= upper <= 0.0


@pytest.mark.parametrize("epsilon", [0.0, 0.01, 0.1])
def test_hardly_any_noise_leaves_no_cells_to_add(epsilon: float) -> None:
    """Every step's loss is nearly always −log(1 − q), above ε."""
    laws = (((0.5, 20.0), 10), ((0.3, 17.0), 10))
    profile = DirectProfile.of([(law(step, "add"), count) for step, count in laws])
    assert profile is not None
    lower, upper = profile.log_delta(epsilon)
    exact = math.log1p(-math.exp(epsilon + 10.0 * (math.log(0.5) + math.log(0.7))))
    assert lower <= exact <= upper
    step = Subsampled(sampling="poisson", rate=0.5, mechanism=Gaussian(noise_multiplier=0.05))
    other = Subsampled(sampling="poisson", rate=0.3, mechanism=Gaussian(noise_multiplier=1.0 / 17.0))
    run = Composed(mechanisms=(Repeated(times=10, mechanism=step), Repeated(times=10, mechanism=other)))
    known = account(run, relation="add-or-remove-one").guarantee.curve.log_delta(epsilon)
    assert exact - 1e-6 <= known.upper <= known.lower + 1e-6


@pytest.mark.parametrize("tilt", [0.5, 100.0, 1e4])
def test_moments_of_large_losses_neither_overflow_nor_vanish(tilt: float) -> None:
    """Masses down to 1e-300, and cells without mass above them, at losses whose e^{tilt · loss} overflows."""
    mass = np.zeros((2, 400))
    mass[0, [0, 5, 200]], mass[1, [3, 10]] = (0.5, 0.5 - 1e-300, 1e-300), (0.25, 0.75)
    rows = LatticeRows(mass=mass, first=-100, unit=0.5, offsets=np.asarray([0.0, 0.125]), misplacement=0.0)
    tilts = tilt * np.asarray([0.0, 0.25, 1.0, 4.0])
    bounds = CumulantBounds.of(rows, np.asarray([3.0, 2.0]), tilts).cumulants
    assert np.all(np.isfinite(bounds))
    with mp.workdps(50):
        for at, bound in zip(tilts.tolist(), bounds.tolist(), strict=True):
            moments = [
                sum(
                    (
                        mp.mpf(m) * mp.exp(mp.mpf(at) * (mp.mpf(x) + mp.mpf(shift)))
                        for m, x in zip(row, rows.losses, strict=True)
                        if m
                    )
                )
                for row, shift in zip(mass.tolist(), (0.0, 0.125), strict=True)
            ]
            truth = 3 * mp.log(moments[0]) + 2 * mp.log(moments[1])
            # Each mass counts at the highest loss of its group of 16 cells, or at that of the row.
            assert truth <= bound <= truth + mp.mpf(at) * 5 * (16 * 0.5 + 0.125) + 1e-8

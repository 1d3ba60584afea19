"""The lattice where numbers leave the range of floating point, or a grid or a search the work that is allowed.

Warnings are errors here, so that no NaN or infinity comes about unseen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.curve.enclosure import Enclosure, Tails
from epsilond.accountants.curve.facts import SampledGaussianLaw
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.curve.profile import Profile
from epsilond.accountants.engine.contour import composition as contour
from epsilond.accountants.engine.lattice.budget import Budget
from epsilond.accountants.engine.lattice.cells.side_tails import read_side
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.engine.lattice.periodic.sums import DirectSums
from epsilond.accountants.engine.lattice.spectrum import Kernel, scaled_steps
from epsilond.accountants.engine.lattice.survey import LatticePart, Survey
from epsilond.accountants.engine.lattice.tangent_lines import TangentLines
from epsilond.accountants.engine.lattice.tilted import FlatDistributions, TiltCoordinate
from epsilond.accountants.profiles.amplification import subsample_at
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.piecewise import tabulate
from tests.engine.pairs import atomic, poisson

pytestmark = pytest.mark.filterwarnings("error")
COARSE = Budget.coarse()


def ends(pair: Pair, epsilon: float) -> tuple[float, float]:
    found = pair.forward.log_delta(np.asarray([epsilon]))
    return float(found.lower[0]), float(found.upper[0])


def two_atoms(low: float, high: float) -> Pair:
    """Losses −low and high; both laws have mass one."""
    first = math.log(-math.expm1(-high)) - low - math.log(-math.expm1(-high - low))
    second = math.log(-math.expm1(-low)) - math.log(-math.expm1(-high - low))
    return Pair(AtomicProfile((-low, high), (first, second)), AtomicProfile((-high, low), (second - high, first + low)))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 90.0, 2e4])
@pytest.mark.parametrize(
    "place", [TiltCoordinate(0.3, direct=True), TiltCoordinate(0.0, direct=False), TiltCoordinate(-8.0, direct=False)]
)
def test_the_kernel_on_lattices_of_any_width(unit: float, place: TiltCoordinate) -> None:
    """Kernel times shares is G(z) e^{zs}, with e^{|λ|h} neither in the one nor in the other."""
    size, gap = 64, 0.4 * unit
    frequencies = np.asarray([0, 5, 32], dtype=np.int64)
    values = Kernel.at(frequencies, size, unit, place).values
    near, far = scaled_steps(gap, unit, place.tilt)
    with mp.workdps(40):
        for k, value in zip(frequencies.tolist(), values.tolist(), strict=True):
            z = mp.mpc(place.tilt, 2 * mp.pi * k / (size * unit))
            scale = mp.exp(-place.tilt * gap)
            shares = scale * (1 - mp.exp(-gap)), scale * mp.exp(-place.tilt * unit) * (mp.exp(-gap) - mp.exp(-unit))
            exact = (1 if k in (0, 32) else 2) / ((1 - mp.exp(-z * unit)) * (1 - mp.exp(-(1 + z) * unit)) * size)
            for share, mine in zip(shares, (near, far), strict=True):
                wanted = complex(share * exact)
                assert abs(mine * value - wanted) <= 1e-11 * abs(wanted) + 1e-300


@pytest.mark.parametrize("size", [2**20, 2**31 + 3, 10**17])
def test_turns_of_a_long_period_are_exact(size: int) -> None:
    frequencies = np.asarray([0, 1, 12_345, size // 2], dtype=np.int64)
    sums = DirectSums(size, frequencies, np.zeros(4, dtype=np.complex128))
    for offset in (0, 7, size - 1, size // 3):
        exact = [float(int(k) * offset % size) for k in frequencies]
        assert sums.turns(offset).tolist() == exact


@pytest.mark.parametrize("local", [50.0, 1e4])
def test_a_billion_giant_responses_lose_everything(local: float) -> None:
    """The upper end may be no more than one, the lower no less than that of one response."""
    pair = two_atoms(local, local)
    lower, upper = ends(compose([(pair, 10**9)], budget=COARSE), 1.0)
    assert ends(pair, 1.0)[0] - 1e-9 <= lower <= upper <= 0.0


def test_atoms_of_no_common_length_over_many_rounds_need_few_cells() -> None:
    """A unit so small that the largest loss is beyond 2^48 units would take cells without number."""
    composed = compose([(two_atoms(1.0, 1000.0), 10**9), (two_atoms(0.7, 0.37), 3)], budget=COARSE)
    order: Any = composed.forward
    lower, upper = ends(composed, 10.0)
    assert lower <= upper <= 0.0
    assert all(law.right.index.size < 50_000 for grid in order._transforms.grids.values() for law in grid.cell_tails)


def test_a_loss_that_is_all_infinite_is_certain() -> None:
    @dataclass(frozen=True)
    class Everything(Profile):
        log_infinite_mass: float = 0.0
        tail_accuracy: float = 1e-13

        def log_delta(self, epsilon: np.ndarray) -> Enclosure:
            return Enclosure(np.full(epsilon.shape, -1e-12), np.zeros(epsilon.shape))

        def log_tails(self, epsilon: np.ndarray) -> Tails:
            return Tails(np.zeros(epsilon.shape), np.full(epsilon.shape, -np.inf))

    lower, upper = ends(compose([(Pair(Everything(), Everything()), 1000)], budget=COARSE), 3.0)
    assert -1e-6 <= lower <= upper == 0.0


def test_the_bulk_of_laws_whose_finite_part_underflows_is_nothing() -> None:
    laws = FlatDistributions(
        np.asarray([-1.0, 2.0]), np.asarray([-800.0, -900.0]), np.asarray([0]), np.asarray([1000.0])
    )
    assert laws.bulk() == (0.0, 0.0)


@dataclass(frozen=True)
class Steep(Profile):
    """δ falls from 0.46 to nothing within 0.05: a slope that no second law of mass one can have."""

    log_infinite_mass: float = -math.inf
    tail_accuracy: float = 1e-13
    end: float = 0.05
    value: float = 0.46

    def log_tails(self, epsilon: np.ndarray) -> Tails:
        slope = math.log(self.value / math.expm1(self.end))
        inside = epsilon < self.end
        return Tails(np.where(inside, 0.0, -np.inf), np.where(inside, slope, -np.inf))

    def log_delta(self, epsilon: np.ndarray) -> Enclosure:
        raise NotImplementedError


def test_slopes_of_no_pair_make_no_delta_too_small() -> None:
    bounds = np.asarray([1, 3, 5, 7, 9, 11], dtype=np.int64)
    side = read_side(Steep(), bounds, 0.005, mirrored=False)
    assert np.all(side.log_q + side.points <= side.log_p + 1e-6)
    alone = np.log(np.maximum(np.exp(side.log_p) - np.exp(side.points + side.log_q), 1e-300))
    assert alone[0] >= math.log(0.46)


def test_a_steep_table_is_read_as_a_pair() -> None:
    table = tabulate(np.asarray([0.0, 0.05, 1.0]), np.asarray([math.log(0.46), -60.0, -90.0]))
    asked = np.asarray([0.0, 0.01, 0.04])
    log_p, log_q = table.tails(asked)
    assert np.all(log_q < 0.0)
    # The line from (0, 1) to the next corner is above every profile that is below both.
    line = 1.0 - np.exp(asked) * (1.0 - math.exp(-60.0)) / math.exp(0.05)
    np.testing.assert_allclose(np.exp(log_p) - np.exp(asked + log_q), line, rtol=1e-9)


def test_lines_raised_by_a_large_error_hold_no_more_than_one() -> None:
    side = read_side(Steep(tail_accuracy=5.0), np.asarray([1, 3], dtype=np.int64), 1.0, mirrored=True)
    lines = TangentLines.of(side, side, -math.inf)
    assert np.all(lines.below_p <= 0.0)
    assert np.all(lines.q <= 0.0)


def test_a_search_that_is_cut_short_ends_on_both_sides() -> None:
    """Work that is not enough for a close answer: a wide one, the same whatever was asked before."""
    pair = poisson(1 / 46_000, 1.0)
    fresh, used = (compose([(pair, 52_000)], budget=COARSE) for _ in range(2))
    used.log_delta(np.asarray([0.0, 3.0, 12.0]))
    found = fresh.epsilon(-230.0)
    assert found == used.epsilon(-230.0)
    assert 0.0 < found.lower <= found.upper < math.inf
    assert max(ends(Pair(order, order), found.upper)[1] for order in fresh.directions()) <= -230.0


def test_the_survey_of_a_bounded_loss_ends_where_the_loss_does() -> None:
    pair = atomic([-0.5, 0.25], [0.4, 0.6], 0.0)
    survey = Survey((LatticePart(pair.forward, pair.backward, 8),), -5.0)
    assert survey.supremum == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 2.4484923892249655e-09])
def test_losses_as_small_as_the_errors_of_their_tails_are_rounded_up(epsilon: float) -> None:
    """Losses of 2e-14, of tails that are known to 1e-14: their sum is nearly Gaussian."""
    rate, shift, rounds = 1.242861379872914e-08, 1.5739249535967306e-06, 269_779_542
    pair = compose([(poisson(rate, 1.0 / shift), rounds)])
    drawn = compose([(subsample_at(gaussian_pair(shift), rate), rounds)])
    exact = contour.log_delta([(SampledGaussianLaw(rate, shift, "remove"), rounds)], epsilon)
    for composed in (pair, drawn):
        lower, upper = ends(composed, epsilon)
        assert lower <= exact.upper
        assert exact.lower <= upper

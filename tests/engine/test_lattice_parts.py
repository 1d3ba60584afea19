"""The lattice engine's pieces, each against what it claims."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.engine.lattice.budget import TransformLimits
from epsilond.accountants.engine.lattice.cells.side_tails import read_side
from epsilond.accountants.engine.lattice.discretise import (
    LatticeDistribution,
    least_log_atom,
    log_probability_of_any,
    upper_distribution,
)
from epsilond.accountants.engine.lattice.laws import LatticeComposition, _upper_log_atom
from epsilond.accountants.engine.lattice.plan import TransformPlan
from epsilond.accountants.engine.lattice.spectrum import Chernoff, Spectrum
from epsilond.accountants.engine.lattice.tangents import best_lower_distribution
from epsilond.accountants.engine.lattice.tilted import TiltCoordinate
from epsilond.accountants.engine.lattice.tilted_line import TiltedLine, all_frequencies, build_spectrum
from epsilond.accountants.numerics.root_search import Crossing, Guess, crossing
from epsilond.accountants.numerics.special import log_difference
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.profiles.piecewise import tabulate
from tests.engine.pairs import atomic, poisson, randomized_response, without_replacement

PAIRS = {
    "gaussian": gaussian_pair(1.3),
    "narrow gaussian": gaussian_pair(1e-4),
    "poisson": poisson(0.05, 0.8),
    "poisson, other order": Pair(poisson(0.05, 0.8).backward, poisson(0.05, 0.8).forward),
    "rare and giant": poisson(1e-6, 0.2),
    "without replacement": without_replacement(0.02, 1.0),
    "response": randomized_response(0.7, 1e-4),
    "off the lattice": atomic([-0.371, 0.123, 0.707], [0.2, 0.5, 0.29], 0.01),
}


def hockey_stick(law: LatticeDistribution, unit: float, epsilon: float) -> float:
    """log of the profile of a lattice law, at any real ε."""
    loss = law.index * unit + law.offset
    with np.errstate(divide="ignore", over="ignore"):
        gain = np.exp(law.log_mass) * np.maximum(-np.expm1(np.minimum(epsilon - loss, 700.0)), 0.0)
        return float(np.log(gain.sum() + math.exp(law.log_atom)))


def truth(pair: Pair, epsilon: float) -> tuple[float, float]:
    """Enclosure of log E_{e^ε}(P‖Q) at any real ε, by E_γ(P‖Q) = 1 − γ + γ E_{1/γ}(Q‖P)."""
    if epsilon >= 0:
        lower, upper = pair.forward.log_delta(np.asarray([epsilon]))
        return float(lower[0]), float(upper[0])
    ends = [float(end[0]) for end in pair.backward.log_delta(np.asarray([-epsilon]))]
    lower, upper = (math.log(-math.expm1(epsilon) + math.exp(epsilon + end)) for end in ends)
    return lower, upper


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("cells", [3, 12, 80])
@pytest.mark.parametrize("tilt", [-0.5, 0.3, 20.0])
def test_one_law_is_above_and_one_is_below(name: str, cells: int, tilt: float) -> None:
    """Whatever the grid, H_lower ≤ H ≤ H_upper at every α ≥ 0: all that composition needs."""
    pair = PAIRS[name]
    scale = {"narrow gaussian": 5e-4, "rare and giant": 20.0}.get(name, 3.0)
    unit = scale / (2 * cells + 1)
    bounds = np.concatenate((np.arange(1, cells, 2), cells + 6 * np.arange(8) + cells % 2 + 1)).astype(np.int64)
    bounds -= 1 - bounds % 2
    bounds = np.unique(np.maximum(bounds, 1))
    right = read_side(pair.forward, bounds, unit, mirrored=False)
    left = read_side(pair.backward, bounds, unit, mirrored=True)
    upper = upper_distribution(right, left, _upper_log_atom(pair.forward, right))
    lower = best_lower_distribution(right, left, least_log_atom(pair.forward), unit=unit, tilt=tilt, enough=math.inf)
    for epsilon in np.concatenate((np.linspace(-1.2, 1.2, 41) * scale, scale * np.asarray([1e-3, 2.0, 5.0]))):
        low, high = truth(pair, float(epsilon))
        assert hockey_stick(upper, unit, epsilon) >= low - 1e-12
        assert hockey_stick(lower, 2 * unit, epsilon) <= high + 1e-12
    assert np.all(np.diff(upper.index) > 0)
    assert np.all(np.diff(lower.index) > 0)


def law_of(masses: list[float], lowest: int) -> LatticeDistribution:
    rest = 1.0 - math.fsum(masses)
    index = lowest + np.arange(len(masses))
    with np.errstate(divide="ignore"):
        return LatticeDistribution(
            index.astype(np.int64), np.log(masses), math.log(rest) if rest > 1e-12 else -math.inf
        )


def direct(masses: list[float], lowest: int, unit: float, times: int, epsilon: float) -> float:
    total = np.ones(1)
    for _ in range(times):
        total = np.convolve(total, masses)
    loss = unit * (lowest * times + np.arange(total.size))
    return math.log(float(np.sum(total * np.maximum(-np.expm1(epsilon - loss), 0.0))))


@pytest.mark.parametrize("tilt", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("limits", [TransformLimits(points=2**16, terms=0), TransformLimits(points=256, terms=10**8)])
def test_transforms_agree_with_convolution_at_any_tilt(tilt: float, limits: TransformLimits) -> None:
    """By one FFT, and by direct sums where a short FFT does not prove frequencies negligible."""
    masses = [0.1, 0.25, 0.3, 0.2, 0.1, 0.04]
    laws = LatticeComposition.of([law_of(masses, -2)], [60], 0.05)
    made = TransformPlan.of(laws, TiltCoordinate(math.log(tilt), direct=True), math.log(1e-9)).transform(limits)
    assert isinstance(made, Spectrum)
    for epsilon in (0.0, 0.21, 1.0):
        ends = made.log_integral(epsilon)
        expected = direct(masses, -2, 0.05, 60, epsilon)
        assert ends.lower - 1e-12 <= expected <= ends.upper + 1e-12
        assert ends.upper - ends.lower <= 1e-5


@pytest.mark.parametrize("size", [32, 45, 64, 81])
def test_what_lies_beyond_one_period_is_charged(size: int) -> None:
    """Periods far shorter than the loss, of odd and even size: masses above and below the window only widen the ends.

    At an even size the frequency N/2 counts once.
    """
    masses = [0.02, 0.05, 0.88, 0.01, 0.01, 0.01, 0.02]
    laws = LatticeComposition.of([law_of(masses, -2)], [20], 0.1)
    place = TiltCoordinate(math.log(1.5), direct=True)
    line = TiltedLine.of(laws, place)
    made = build_spectrum(line, size, all_frequencies(line, size), Chernoff.around(laws.flat, place))
    for epsilon in (0.0, 0.05, 0.9):
        ends = made.log_integral(epsilon)
        expected = direct(masses, -2, 0.1, 20, epsilon)
        assert ends.lower <= expected <= ends.upper
        if size == 81:
            assert ends.upper - ends.lower <= 1e-2


def test_one_frequency_in_the_middle_counts_once() -> None:
    """An atom at zero keeps |φ| near one at every frequency, and an even number has one that is its own mirror."""
    masses = [0.999, *(1e-3 * math.exp(-0.02 * k) * -math.expm1(-0.02) for k in range(1, 400))]
    laws = LatticeComposition.of([law_of(masses, 0)], [40], 0.01)
    place = TiltCoordinate(0.0, direct=True)
    line = TiltedLine.of(laws, place)
    expected = direct(masses, 0, 0.01, 40, 2.0)
    for size in (2**14, 3**9):
        ends = build_spectrum(line, size, all_frequencies(line, size), Chernoff.around(laws.flat, place)).log_integral(
            2.0
        )
        assert ends.lower - 1e-12 <= expected <= ends.upper + 1e-12
        assert ends.upper - ends.lower <= 1e-8


def test_the_contour_left_of_the_pole_gives_the_complement() -> None:
    masses = [0.05, 0.1, 0.2, 0.3, 0.35]
    laws = LatticeComposition.of([law_of(masses, 0)], [40], 0.3)
    made = TransformPlan.of(laws, TiltCoordinate(0.0, direct=False), math.log(1e-9)).transform(
        TransformLimits(points=2**16, terms=0)
    )
    assert isinstance(made, Spectrum)
    ends = made.log_integral(10.0)
    total = np.ones(1)
    for _ in range(40):
        total = np.convolve(total, masses)
    expected = math.log(float(total @ np.exp(np.minimum(10.0 - 0.3 * np.arange(total.size), 0.0))))
    assert ends.lower - 1e-12 <= expected <= ends.upper + 1e-12


def test_chernoff_bounds_hold_and_a_period_is_wide_enough() -> None:
    laws = LatticeComposition.of([law_of([0.2, 0.5, 0.3], -1)], [30], 0.2)
    chernoff = Chernoff.around(laws.flat, TiltCoordinate(0.5, direct=True))
    for epsilon in (0.1, 1.0, 3.0):
        log_delta = direct([0.2, 0.5, 0.3], -1, 0.2, 30, epsilon)
        assert all(bound - mu * epsilon >= log_delta - 1e-12 for mu, bound in chernoff.above)
        assert chernoff.log_alias(epsilon, chernoff.period(epsilon, -40.0), 0.0) <= -38.0


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e-3, 0.5])
def test_infinite_masses_join(scale: float) -> None:
    counts = np.asarray([3.0, 2.0])
    logs = [math.log(scale), math.log(scale / 3)]
    lower, upper = (log_probability_of_any(logs, counts, direction=direction) for direction in (-1, 1))
    exact = math.log(-math.expm1(3 * math.log1p(-scale) + 2 * math.log1p(-scale / 3)))
    assert lower <= exact <= upper
    assert upper - lower <= 1e-10


def test_certain_loss_joins_to_certainty() -> None:
    assert log_probability_of_any([0.0, -1.0], np.asarray([1.0, 5.0]), direction=1) == 0.0
    assert log_probability_of_any([-math.inf], np.asarray([5.0]), direction=1) == -math.inf


def test_a_table_gives_a_convex_curve_that_dominates() -> None:
    epsilon = np.linspace(0.0, 20.0, 300)
    exact = gaussian_pair(2.0).forward
    noise = 0.02 * np.random.default_rng(0).random(epsilon.size)
    table = tabulate(epsilon, exact.log_delta(epsilon).upper + noise)
    asked = np.linspace(0.0, 19.9, 777)
    log_p, log_q = table.tails(asked)
    dominating = log_difference(log_p, np.minimum(asked + log_q, log_p))
    assert np.all(dominating >= exact.log_delta(asked).lower - 1e-9)
    assert np.all(np.diff(log_q) <= 1e-12)
    assert np.all(np.diff(log_p) <= 1e-12)


@pytest.mark.parametrize("guess", [0.0, 1e-9, 0.7, 2.9999, 3.0, 40.0, 1e12])
@pytest.mark.parametrize("steepness", [0.0, 1e-3, 1.0, 1e6])
def test_a_crossing_is_found_from_any_guess(guess: float, steepness: float) -> None:
    asked: list[float] = []

    def end(epsilon: float) -> float:
        asked.append(epsilon)
        return -epsilon if epsilon < 5.0 else -math.inf

    found = crossing(end, -3.0, Guess(guess, steepness))
    assert found.above in asked
    assert found.below in asked
    assert found.above < 3.0 <= found.below <= 3.0 * (1 + 1e-9)
    assert found.above >= 3.0 * (1 - 1e-9)


def test_a_crossing_that_is_not_there_is_said_to_be_none() -> None:
    def flat(_: float) -> float:
        return -1.0

    assert crossing(flat, -1.0, Guess(2.0, 1.0)) == Crossing(0.0, 0.0)
    found = crossing(flat, -2.0, Guess(2.0, 1.0))
    assert math.isinf(found.below)
    assert found.above > 0.0

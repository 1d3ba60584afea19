"""The privacy blanket of Gaussian reports: its worst pair, its sum against a lattice, and its published figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from epsilond.accountants.account import account
from epsilond.accountants.numerics.compound_sum import CompoundSum
from epsilond.accountants.numerics.step_law import Pieces, StepLaw, WeightedPoints
from epsilond.accountants.profiles.gaussian import gaussian_pair
from epsilond.accountants.specs import Gaussian, Repeated, Shuffled
from epsilond.accountants.theorems.shuffling.gaussian import GaussianBlanketBound, log_blanket_mass
from epsilond.accountants.theorems.shuffling.statements import GAUSSIAN_BLANKET
from epsilond.accountants.theorems.shuffling.tails import scaled_pair
from tests.oracles.shuffling import gaussian_blanket_ends


def epsilon_of(clients: int, noise: float, delta: float) -> float:
    return scaled_pair(GaussianBlanketBound(clients, noise)).epsilon(math.log(delta)).upper


def test_opposite_contributions_are_the_worst() -> None:
    """∫ (R_x − αR_x′ − t inf R)₊ over random x, x′, t, α, in one and two dimensions; t < 0 is α < 1 with x, x′ swapped."""
    random = np.random.default_rng(1)
    line = np.linspace(-13.0, 13.0, 8001)
    grid = np.stack(np.meshgrid(np.linspace(-7, 7, 141), np.linspace(-7, 7, 141)))
    for dimension, points in ((1, line[None, :]), (2, grid.reshape(2, -1))):
        for _ in range(150):
            radius = math.exp(random.uniform(-2.5, 1.0))
            alpha, level = np.exp(random.normal(size=2) * (1.5, 2.0))
            inputs = random.normal(size=(2, dimension))
            lengths = radius * random.uniform(0.0, 1.0, size=(2, 1)) ** 0.5
            inputs = inputs / np.linalg.norm(inputs, axis=1, keepdims=True) * lengths
            worst = np.zeros((2, dimension))
            worst[:, 0] = radius, -radius
            common = np.exp(-0.5 * (np.linalg.norm(points, axis=0) + radius) ** 2)

            def excess(pair: np.ndarray, *, points: np.ndarray = points, common: np.ndarray = common) -> float:
                first, second = (np.exp(-0.5 * ((points - x[:, None]) ** 2).sum(axis=0)) for x in pair)
                return float(np.maximum(first - alpha * second - level * common, 0.0).sum())  # noqa: B023

            assert excess(inputs) <= excess(worst) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize(
    ("clients", "noise", "epsilon", "step", "cells", "cut"),
    [(200, 2.0, 0.3, 2e-3, 2**21, 6.0), (5, 2.0, 0.1, 1e-4, 2**21, 6.5), (40, 5.0, 0.1, 1e-4, 2**21, 8.0)],
)
def test_the_sum_against_a_lattice(
    clients: int, noise: float, epsilon: float, step: float, cells: int, cut: float
) -> None:
    low, high = gaussian_blanket_ends(clients, noise, epsilon, step=step, cells=cells, cut=cut)
    ends = GaussianBlanketBound(clients, noise).log_bound(epsilon)
    assert math.exp(ends.lower) <= high + float(ndtr(1 / noise - cut))
    assert math.exp(ends.upper) >= low
    assert math.exp(ends.upper) <= 1.003 * high + float(ndtr(1 / noise - cut))


@pytest.mark.compares("epsilond.gaussian-blanket")
@pytest.mark.parametrize(
    ("clients", "noise", "delta", "expected"),
    [(10**5, 2.0, 1e-8, 0.0233), (10**5, 4.0, 1e-8, 0.0081), (10**6, 4.0, 1e-8, 0.0024)],
)
def test_published_figures(clients: int, noise: float, delta: float, expected: float) -> None:
    found = epsilon_of(clients, noise, delta)
    assert found == pytest.approx(expected, abs=0.6 * 10 ** (math.floor(math.log10(expected)) - 2 + (noise == 4.0)))
    inputs = GAUSSIAN_BLANKET.inputs(clients=clients, noise_multiplier=noise, delta=delta)  # type: ignore[misc]
    outputs = GAUSSIAN_BLANKET.evaluate(inputs).outputs
    assert outputs["epsilon"] == pytest.approx(found, rel=1e-9)
    assert outputs["lower_epsilon"] < found
    if (clients, noise) == (10**5, 2.0):
        assert outputs["lower_epsilon"] == pytest.approx(0.0132, abs=6e-5)


def test_ends_are_close_where_single_reports_do_not_matter() -> None:
    for clients, noise, epsilon in ((10**4, 2.0, 0.0), (10**5, 4.0, 0.008), (10**9, 2.0, 3e-4), (100, 50.0, 0.02)):
        ends = GaussianBlanketBound(clients, noise).log_bound(epsilon)
        assert 0.0 <= ends.upper - ends.lower < 3e-3


def test_ends_are_honest_where_they_do() -> None:
    for clients, noise, epsilon in ((10**5, 1.0, 0.6), (10**5, 0.7, 0.6), (1000, 1.0, 1.5), (10**4, 2.0, 1.0)):
        bound = GaussianBlanketBound(clients, noise)
        ends = bound.log_bound(epsilon)
        assert ends.lower <= ends.upper <= gaussian_pair(2.0 / noise).log_delta_bounds(epsilon).upper
        assert bound.upper(epsilon) >= ends.lower


def test_the_instance_stays_below_the_bound() -> None:
    for clients in (10, 1000, 10**6):
        for noise in (1.5, 3.0, 20.0):
            bound, instance = GaussianBlanketBound(clients, noise), gaussian_pair(2.0 / (noise * math.sqrt(clients)))
            for epsilon in (0.0, 0.01, 0.1, 1.0):
                assert instance.log_delta_bounds(epsilon).lower <= bound.upper(epsilon)


def test_more_clients_and_more_noise_never_hurt() -> None:
    for epsilon in (0.0, 0.02, 0.3):
        crowds = [GaussianBlanketBound(n, 3.0).log_bound(epsilon) for n in (20, 200, 2000, 10**5, 10**8)]
        assert all(more.lower <= less.upper for less, more in zip(crowds, crowds[1:], strict=False))
        noises = [GaussianBlanketBound(10**4, z).log_bound(epsilon) for z in (1.5, 2.0, 4.0, 16.0)]
        assert all(more.lower <= less.upper for less, more in zip(noises, noises[1:], strict=False))


@pytest.mark.parametrize("exponent", [10, 60])
def test_small_deltas(exponent: int) -> None:
    pair, local = scaled_pair(GaussianBlanketBound(10**5, 4.0)), gaussian_pair(0.5)
    epsilon = pair.epsilon(-exponent * math.log(10.0))
    assert pair.log_delta_bounds(epsilon.upper).upper <= -exponent * math.log(10.0)
    assert epsilon.lower <= epsilon.upper < local.epsilon(-exponent * math.log(10.0)).upper


def test_the_smallest_deltas_are_never_below_what_the_instance_has() -> None:
    bound, instance = GaussianBlanketBound(10**5, 4.0), gaussian_pair(0.5 / math.sqrt(1e5))
    for epsilon in (0.03, 0.06, 0.3, 3.0):
        ends = bound.log_bound(epsilon)
        assert (
            instance.log_delta_bounds(epsilon).lower <= ends.upper <= gaussian_pair(0.5).log_delta_bounds(epsilon).upper
        )
        assert ends.lower <= ends.upper


def test_the_common_mass() -> None:
    assert log_blanket_mass(2.0) == pytest.approx(math.log(2 * ndtr(-0.5)), rel=1e-14)


def test_a_report_of_several_coordinates_is_left_to_clones() -> None:
    one, more, unknown = (
        account(
            Shuffled(clients=10**5, dimension=dimension, mechanism=Gaussian(noise_multiplier=4.0)),
            relation="replace-one",
            observer="shuffled-server",
        )
        for dimension in (1, 2, None)
    )
    assert one.guarantee.derivation.theorem == "epsilond.gaussian-blanket"
    assert more.guarantee.derivation.theorem == unknown.guarantee.derivation.theorem == "epsilond.approximate-clones"
    target = math.log(1e-8)
    assert one.guarantee.curve.epsilon(target).upper < 0.06 * more.guarantee.curve.epsilon(target).upper
    assert more.guarantee.curve.epsilon(target).upper < 0.541 / 3
    assert one.guarantee.curve.epsilon(target).lower == pytest.approx(more.guarantee.curve.epsilon(target).lower)


def test_too_little_noise_shares_nothing() -> None:
    spec = Shuffled(clients=1000, dimension=1, mechanism=Gaussian(noise_multiplier=0.2))
    found = account(spec, relation="replace-one", observer="shuffled-server")
    assert any("in the blanket on average" in (tried.reason or "") for tried in found.considered)
    local = account(spec.mechanism, relation="replace-one").guarantee.curve
    assert found.guarantee.curve.log_delta(3.0).upper <= local.log_delta(3.0).upper


def test_rounds_compose() -> None:
    spec = Shuffled(clients=10**5, dimension=1, mechanism=Gaussian(noise_multiplier=4.0))
    curve = account(
        Repeated(times=100, mechanism=spec), relation="replace-one", observer="shuffled-server"
    ).guarantee.curve
    ends = curve.epsilon(math.log(1e-8))
    single = epsilon_of(10**5, 4.0, 1e-8)
    assert 8 * single < ends.upper < 13 * single
    assert ends.lower == pytest.approx(gaussian_pair(5.0 / math.sqrt(1e5)).epsilon(math.log(1e-8)).lower, rel=1e-6)


# The sum itself -----------------------------------------------------------------------------------------------------
def atoms(places: list[float], weights: list[float]) -> StepLaw:
    nothing = np.zeros(len(places))
    return StepLaw(WeightedPoints(np.asarray(places), np.asarray(weights), nothing, nothing))


@pytest.mark.parametrize("count", [1, 2, 9])
def test_a_sum_of_few_atoms(count: int) -> None:
    places, weights = [1.0, -0.6, 0.25], [0.2, 0.5, 0.1]
    law = {0.0: 1.0}
    for _ in range(count):
        after: dict[float, float] = {}
        for total, mass in law.items():
            for place, weight in [*zip(places, weights, strict=True), (0.0, 0.2)]:
                after[round(total + place, 9)] = after.get(round(total + place, 9), 0.0) + mass * weight
        law = after
    truth = math.log(sum(max(total, 0.0) * mass for total, mass in law.items()))
    lower, upper = CompoundSum(atoms(places, weights), count).log_positive_part()
    assert lower <= truth <= upper < truth + 0.02


def test_a_sum_of_uniform_pieces() -> None:
    """Irwin and Hall: E[(U₁ + … + U_n − n/2 − c)₊] by its piecewise polynomial."""
    count, shift = 30, 0.05
    law = StepLaw(
        WeightedPoints(*(np.zeros(0) for _ in range(4))),
        Pieces(np.asarray([-0.5 - shift]), np.asarray([0.5 - shift]), np.asarray([1.0])),
    )
    at = 0.5 * count + shift * count
    terms = [(-1) ** k * math.comb(count, k) * max(count - at - k, 0.0) ** (count + 1) for k in range(count)]
    truth = math.log(math.fsum(terms) / math.factorial(count + 1))
    lower, upper = CompoundSum(law, count).log_positive_part()
    assert lower <= truth + 1e-9
    assert truth - 1e-9 <= upper
    assert upper - lower < 1e-6


def test_nothing_above_zero() -> None:
    assert CompoundSum(atoms([-1.0], [0.5]), 3).log_positive_part() == (-math.inf, -math.inf)

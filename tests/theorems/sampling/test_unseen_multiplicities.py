"""Gaussian sums over batches of fixed size: tighter bounds against every batch of small populations, one by one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.curve import Curve
from epsilond.accountants.profiles.drawn_sums import DrawnSumBound
from epsilond.accountants.specs import Gaussian, Repeated, Subsampled
from epsilond.accountants.theorems.sampling.multiplicities import multiplicities
from epsilond.accountants.theorems.sampling.unseen_multiplicities import unseen_multiplicities_pair
from epsilond.accountants.theorems.sampling.with_replacement import dominating_pair
from tests.oracles.batches import densities, divergence, means, twice

EPSILONS = (0.0, 0.02, 0.3, 1.0, 2.5, 5.0)
CLOSE = {1: 3e-5, 2: 1e-3}
"""Relative error of the oracle's sums over a grid, by dimension. Some neighbours attain the bound exactly."""


def curve_of(sampling: str, draws: int, population: int, noise: float, relation: Any, times: int = 1) -> Curve:
    spec: Any = Subsampled(
        sampling=sampling,  # type: ignore[arg-type]
        batch_size=draws,
        population=population,
        mechanism=Gaussian(noise_multiplier=noise),
    )
    return account(Repeated(times=times, mechanism=spec) if times > 1 else spec, relation=relation).guarantee.curve


def scaled(point: np.ndarray, noise: float) -> tuple[float, ...]:
    return tuple(float(value) for value in point / noise)


def hostile_points(generator: np.random.Generator, count: int, dimension: int) -> np.ndarray:
    """Points of the unit ball: most are on its boundary, and some are at an end of the first axis or zero."""
    points = generator.normal(size=(count, dimension))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    for index, kind in enumerate(generator.integers(0, 5, size=count)):
        if kind < 2:
            points[index] = (2.0 * kind - 1.0) * np.eye(dimension)[0]
        elif kind == 2:
            points[index] *= generator.uniform()
        elif kind == 3:
            points[index] = 0.0
    return points


CASES = [
    (sampling, relation, population, draws, noise, dimension)
    for sampling, relation, (population, draws), (noise, dimension) in itertools.product(
        ("with-replacement", "without-replacement"),
        ("replace-one", "zero-out-one"),
        ((2, 1), (3, 2), (4, 3)),
        ((0.4, 1), (1.0, 1), (2.5, 1), (0.8, 2)),
    )
]


@pytest.mark.parametrize(("sampling", "relation", "population", "draws", "noise", "dimension"), CASES)
def test_no_neighbours_exceed_the_bound(
    sampling: str, relation: Any, population: int, draws: int, noise: float, dimension: int
) -> None:
    """Random and extreme neighbours of a small population, in both directions, for one release and for two."""
    seed = [population, draws, int(10 * noise), dimension, len(sampling), len(relation)]
    generator = np.random.default_rng(seed)
    curve = curve_of(sampling, draws, population, noise, relation)
    doubled = curve_of(sampling, draws, population, noise, relation, times=2)
    for trial in range(6 if dimension == 1 else 3):
        own, *others = hostile_points(generator, population, dimension)
        replacement = np.zeros(dimension) if relation == "zero-out-one" else hostile_points(generator, 1, dimension)[0]
        laws = [
            means(
                [scaled(first, noise), *(scaled(other, noise) for other in others)],
                draws,
                repeats=sampling[:5] == "with-",
            )
            for first in (own, replacement)
        ]
        (p, q), cell = densities(laws, 3001 if dimension == 1 else 201)
        for epsilon in EPSILONS:
            for upper, first, second in (
                (curve.upper.forward, p, q),
                (curve.upper.backward, q, p),
            ):
                bound = math.exp(float(upper.log_delta(np.asarray([epsilon])).upper[0]))
                assert divergence(first, second, cell, epsilon) <= bound * (1.0 + CLOSE[dimension]) + 1e-9
        if dimension == 1 and trial < 3:
            (p, q), cell = densities(laws, 401)
            for epsilon in (0.05, 1.0):
                largest = max(twice(p, q, cell, epsilon), twice(q, p, cell, epsilon))
                assert largest <= math.exp(doubled.log_delta(epsilon).upper) * (1.0 + 1e-3) + 1e-7


@pytest.mark.parametrize("noise", [0.4, 1.0, 2.5])
@pytest.mark.parametrize(("population", "draws"), [(3, 1), (4, 3), (6, 2)])
def test_a_zeroed_record_attains_both_bounds_without_replacement(population: int, draws: int, noise: float) -> None:
    """All others are opposite to the record in one direction, and equal to it in the other one."""
    curve = curve_of("without-replacement", draws, population, noise, "zero-out-one")
    for side, profile in ((-1.0, curve.upper.forward), (1.0, curve.upper.backward)):
        others = [(side / noise,)] * (population - 1)
        laws = [means([(own,), *others], draws, repeats=False) for own in (1.0 / noise, 0.0)]
        (p, q), cell = densities(laws, 40001)
        for epsilon in EPSILONS:
            exact = divergence(p, q, cell, epsilon) if side < 0.0 else divergence(q, p, cell, epsilon)
            bounds = profile.log_delta(np.asarray([epsilon]))
            if exact > 1e-10:
                assert math.exp(float(bounds.upper[0])) == pytest.approx(exact, rel=1e-5)
                assert float(bounds.lower[0]) <= float(bounds.upper[0])


def exact_bound(draws: int, population: int, from_others: float, from_replacement: float, epsilon: float) -> mp.mpf:
    """The bound of the theorem, by bisection for the half-line of the mixture, in fifty digits."""
    with mp.workdps(50):
        weights = [
            mp.binomial(draws, k) * mp.mpf(population - 1) ** (draws - k) / mp.mpf(population) ** draws
            for k in range(1, draws + 1)
        ]
        rate, alpha = mp.fsum(weights), mp.exp(mp.mpf(epsilon))
        gamma = 1 + (alpha - 1) / rate
        shifts = [k * mp.mpf(from_others) for k in range(1, draws + 1)]

        def ratio(x: mp.mpf) -> mp.mpf:
            return mp.fsum(w * mp.exp(r * x - r * r / 2) for w, r in zip(weights, shifts, strict=True)) / rate

        low, high = mp.mpf(-200), mp.mpf(400)
        for _ in range(180):
            middle = (low + high) / 2
            low, high = (low, middle) if ratio(middle) > gamma else (middle, high)
        mixture = mp.fsum(w * mp.ncdf(r - low) for w, r in zip(weights, shifts, strict=True)) / rate - gamma * mp.ncdf(
            -low
        )
        revealed = mp.fsum(
            w * (mp.ncdf(d / 2 - mp.log(gamma) / d) - gamma * mp.ncdf(-d / 2 - mp.log(gamma) / d))
            for w, d in zip(weights, [k * mp.mpf(from_replacement) for k in range(1, draws + 1)], strict=True)
        )
        beta = alpha / gamma
        return (1 - beta) * rate * mixture + beta * revealed


@pytest.mark.parametrize(("draws", "population", "shift"), [(1, 7, 0.3), (3, 5, 0.7), (12, 40, 2.0), (2, 1000, 0.01)])
def test_the_bound_encloses_its_definition(draws: int, population: int, shift: float) -> None:
    drawn = multiplicities(draws, population)
    assert drawn is not None
    pair = unseen_multiplicities_pair(drawn, shift, "replace-one")
    assert pair is not None
    for epsilon in (1e-6, 0.01, 0.4, 2.0, 9.0):
        bounds = pair.forward.log_delta(np.asarray([epsilon]))
        truth = float(mp.log(exact_bound(draws, population, 2.0 * shift, 2.0 * shift, epsilon)))
        if truth < -700.0:  # the probability of the multiplicities that are left out is charged
            assert float(bounds.upper[0]) < -700.0
            continue
        assert float(bounds.lower[0]) <= truth <= float(bounds.upper[0])
        assert float(bounds.upper[0] - bounds.lower[0]) < 1e-8 * (1.0 + abs(truth))
    backward = unseen_multiplicities_pair(drawn, shift, "zero-out-one")
    assert backward is not None
    truth = float(mp.log(exact_bound(draws, population, shift, shift, 0.4)))
    if truth < -700.0:
        return
    assert float(backward.backward.log_delta(np.asarray([0.4])).upper[0]) == pytest.approx(
        truth, abs=1e-9 * (1 + abs(truth))
    )


HOSTILE = [
    (draws, population, noise)
    for (draws, population), noise in itertools.product(
        [(1, 2), (1, 10**9), (10**6, 10**9), (7, 5), (3000, 100), (10**5, 10**5)], [1e-3, 0.3, 5.0, 1e3]
    )
]


@pytest.mark.parametrize(("draws", "population", "noise"), HOSTILE)
def test_hostile_batches_are_bounded_below_the_published_theorem(draws: int, population: int, noise: float) -> None:
    """The bound decreases, is at most that of Theorem 10, and is largest for a record that may be replaced."""
    drawn = multiplicities(draws, population)
    assert drawn is not None
    old = dominating_pair(Gaussian(noise_multiplier=noise), drawn)
    pair = unseen_multiplicities_pair(drawn, 1.0 / noise, "replace-one")
    zeroed = unseen_multiplicities_pair(drawn, 1.0 / noise, "zero-out-one")
    if pair is None or zeroed is None:
        assert drawn.accuracy > 1e-12  # the probabilities are known too roughly
        return
    epsilon = np.append(0.0, np.geomspace(1e-9, 2e3, 40))
    new, least = pair.forward.log_delta(epsilon), zeroed.forward.log_delta(epsilon)
    published = old.forward.log_delta(epsilon).upper
    # Multiplicities that are left out weigh e^−800, and are charged once more than by the theorem.
    slack = 1e-9 * (1.0 + np.abs(published)) + np.where(published < -700.0, 2.0, 0.0)
    assert not np.isnan(new.upper).any()
    assert bool((new.lower <= new.upper).all())
    assert bool((new.upper <= published + slack).all())
    assert bool((np.diff(new.upper) <= slack[1:]).all())
    assert bool((least.upper <= new.upper + slack).all())
    assert bool((zeroed.backward.log_delta(epsilon).upper <= new.upper + slack).all())
    tails = pair.forward.log_tails(epsilon)
    assert bool((tails.log_p >= new.lower - 1e-2 - slack).all())  # P(L > ε) ≥ δ(ε), and a table drops near-ties


@pytest.mark.parametrize("times", [1, 3, 50])
@pytest.mark.parametrize(("draws", "population", "noise"), [(10, 1000, 2.0), (100, 1000, 1.0), (40, 60, 4.0)])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_a_composition_is_between_its_instance_and_the_published_theorem(
    relation: Any, draws: int, population: int, noise: float, times: int
) -> None:
    drawn = multiplicities(draws, population)
    assert drawn is not None
    curve = curve_of("with-replacement", draws, population, noise, relation, times=times)
    published = composed_pair([(dominating_pair(Gaussian(noise_multiplier=noise), drawn), times)], "default")
    known = curve.epsilon(math.log(1e-6))
    assert 0.0 < known.lower <= known.upper <= published.upper_epsilon(math.log(1e-6)) * (1.0 + 1e-6)


@pytest.mark.parametrize("times", [1, 50])
@pytest.mark.parametrize(("population", "noise"), [(5, 3.0), (1000, 0.5)])
def test_a_batch_of_one_record_has_the_pair_of_the_published_theorem(population: int, noise: float, times: int) -> None:
    """A record is drawn at most once. A table of the same bound would only make the composition larger."""
    drawn = multiplicities(1, population)
    assert drawn is not None
    curve = curve_of("with-replacement", 1, population, noise, "replace-one", times=times)
    published = composed_pair([(dominating_pair(Gaussian(noise_multiplier=noise), drawn), times)], "default")
    for log_delta in (math.log(1e-3), math.log(1e-6)):
        assert curve.epsilon(log_delta).upper <= published.upper_epsilon(log_delta) * (1.0 + 1e-9)


def adaptive_divergence(signs: tuple[float, float], rate: float, size: float, epsilon: float, rule: Any) -> float:
    """δ of two releases on one batch, the second drift being a function of the first output, by sums over a grid.

    Args:
        signs: 1 and −1 for the record's direction of the divergence, and −1 and 1 for the other one.
        rate: inclusion probability of the record.
        size: largest norm of a contribution, in standard deviations of the noise.
        epsilon: ε.
        rule: contributions of the record and of the one in its place, in units of `size`, at a first output.
    """
    points = np.linspace(-9.0, 11.0, 1201)
    first, cell = points[:, None], (points[1] - points[0]) ** 2
    started = np.broadcast_to(np.asarray(rule(np.zeros_like(first))), (2, *first.shape))
    then = rule(first)
    ratios = []
    for contributes in (1.0, 0.0):
        drifts = [size * (contributes * each[0] - each[1]) for each in (started, then)]
        exponent = drifts[0] * first - drifts[0] ** 2 / 2 + drifts[1] * points[None, :] - drifts[1] ** 2 / 2
        ratios.append(1.0 - rate + rate * np.exp(exponent))
    base = np.exp(-(first**2 + points[None, :] ** 2) / 2) / (2.0 * math.pi)
    larger, smaller = ratios if signs[0] > 0.0 else ratios[::-1]
    return float((base * np.maximum(larger - math.exp(epsilon) * smaller, 0.0)).sum() * cell)


@pytest.mark.parametrize("signs", [(1.0, -1.0), (-1.0, 1.0)])
@pytest.mark.parametrize("noise", [0.8, 1.6])
def test_two_releases_on_one_batch_that_adapt_are_bounded(noise: float, signs: tuple[float, float]) -> None:
    """Contributions to the second release depend on the first output. Constant opposite ones attain the bound."""
    spec = Subsampled(
        sampling="without-replacement",
        batch_size=1,
        population=3,
        mechanism=Repeated(times=2, mechanism=Gaussian(noise_multiplier=noise)),
    )
    upper = account(spec, relation="zero-out-one").guarantee.curve.upper
    profile = upper.forward if signs[0] > 0.0 else upper.backward
    generator = np.random.default_rng(5)

    def attaining(first: np.ndarray) -> list[np.ndarray]:
        return [np.ones_like(first), -signs[0] * np.ones_like(first)]

    for epsilon in (0.05, 0.5, 1.5):
        bound = math.exp(float(profile.log_delta(np.asarray([epsilon])).upper[0]))
        assert adaptive_divergence(signs, 1 / 3, 1 / noise, epsilon, attaining) == pytest.approx(bound, rel=1e-3)
        for _ in range(12):
            cut, low, high = generator.uniform(-1.0, 2.0), *generator.choice([-1.0, -0.5, 0.0, 1.0], size=(2, 2))

            def switching(first: np.ndarray, cut: float = cut, low: Any = low, high: Any = high) -> list[np.ndarray]:
                return [np.where(first < cut, low[each], high[each]) for each in (0, 1)]

            exact = adaptive_divergence(signs, 1 / 3, 1 / noise, epsilon, switching)
            assert exact <= bound * (1.0 + 1e-3)


UNSEEN_GOLDEN = [
    (10, 1000, 2.0, 0.5, -14.556983701447476),
    (100, 1000, 1.0, 5.0, -6.3748192760813074),
    (40, 60, 4.0, 1.0, -4.4876095648317264),
]
"""Draws, population, noise multiplier, ε and log δ of the theorem, in forty digits by `exact_bound`."""
ZEROED_GOLDEN = [
    (10, 1000, 2.0, 0.25, -13.213454044212056),
    (100, 1000, 1.0, 1.0, -4.8642983310729016),
    (500, 1000, 0.5, 6.0, -5.30105670877911),
    (1, 3, 0.1, 40.0, -1.3034501195511262),
]
"""Batch, population, noise multiplier, ε and log δ, by bisection for the half-line where the loss exceeds ε."""


@pytest.mark.parametrize(("draws", "population", "noise", "epsilon", "log_delta"), UNSEEN_GOLDEN)
def test_golden_values_with_replacement(
    draws: int, population: int, noise: float, epsilon: float, log_delta: float
) -> None:
    curve = curve_of("with-replacement", draws, population, noise, "replace-one")
    assert curve.log_delta(epsilon).upper == pytest.approx(log_delta, rel=1e-9)


@pytest.mark.parametrize(("draws", "population", "noise", "epsilon", "log_delta"), ZEROED_GOLDEN)
def test_golden_values_of_a_zeroed_record(
    draws: int, population: int, noise: float, epsilon: float, log_delta: float
) -> None:
    curve = curve_of("without-replacement", draws, population, noise, "zero-out-one")
    assert curve.log_delta(epsilon).upper == pytest.approx(log_delta, rel=1e-9)


def test_it_is_the_same_bound_for_equal_descriptions() -> None:
    """Bounds are compared and stored by value."""
    arguments = (0.5, (0.0,), (1.0,), (math.log(0.5),), (1.0,), 1e-15)
    assert DrawnSumBound(*arguments) == DrawnSumBound(*arguments)
    assert hash(DrawnSumBound(*arguments)) == hash(DrawnSumBound(*arguments))

"""Mixtures of Gaussian laws in the kernel, against their definition, two components, and the lattice (certificate, A10)."""

from __future__ import annotations

import itertools
import math
import random
import resource
from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.curve.enclosure import Interval
from epsilond.accountants.curve.facts import (
    Direction,
    DrawnGaussianLaw,
    DrawnMixtureLaw,
    GaussianLaw,
    GaussianMixtureLaw,
    Law,
    MixedLaw,
    SampledGaussianLaw,
)
from epsilond.accountants.engine import exact, kernel
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.weighted_groups import drawn_mixture_pair, gaussian_mixture_pair
from epsilond.accountants.theorems.sampling.multiplicities import multiplicities, round_probabilities
from tests.oracles import mixtures

pytestmark = pytest.mark.usefixtures("on")

DIRECTIONS: tuple[Direction, ...] = ("remove", "add", "replace")


def binomial(number: int, rate: float) -> tuple[float, ...]:
    return tuple(math.comb(number, k) * rate**k * (1.0 - rate) ** (number - k) for k in range(number + 1))


def meet(first: Interval, second: Interval) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


def solved(law: Law, count: int, log_delta: float) -> Interval | None:
    try:
        return exact.epsilon([(law, count)], log_delta)
    except exact.NO_CERTIFICATE:
        return None


def laws_with_replacement(draws: int, population: int, noise: float) -> tuple[MixedLaw, ...]:
    """What dominates a batch with replacement, and what neighbours attain, in all directions."""
    drawn = multiplicities(draws, population)
    assert drawn is not None
    shares = [weight - math.log(drawn.rate) for weight in drawn.log_weights]
    above = round_probabilities(shares, drawn.accuracy + 64 * UNIT_ROUNDOFF, upward=True)
    below = round_probabilities([drawn.log_absent, *drawn.log_weights], drawn.accuracy, upward=False)
    times = (0, *drawn.least)
    return (
        DrawnMixtureLaw(tuple(2.0 * k / noise for k in drawn.most), above, drawn.rate, -799.0),
        GaussianMixtureLaw(tuple(2.0 * k / noise for k in times), below, "remove"),
        GaussianMixtureLaw(tuple(2.0 * k / noise for k in times), below, "add"),
        GaussianMixtureLaw(tuple(k / noise for k in times), below, "replace"),
    )


def test_a10_the_bounds_off_the_axis_hold() -> None:
    generator = np.random.default_rng(1)
    for _ in range(2000):
        size = int(generator.integers(1, 6))
        shares, places = generator.dirichlet(np.full(size, 0.3)), generator.uniform(0.0, 1.0, size)
        places[0] = 1.0
        angle, other = generator.uniform(0.0, 2.33), generator.uniform(0.0, 1.57)
        mean, turned = float(shares @ places), complex(shares @ np.exp(1j * angle * places))
        square = math.sin(0.5 * angle) ** 2
        assert abs(turned) ** 2 >= 1.0 - 4.0 * min(mean, 0.25) * square - 1e-12
        assert 0.0 <= np.angle(turned) <= angle * (mean / (1.0 - 2.0 * mean) if mean < 1.0 / 3.0 else 1.0) + 1e-12
        half = min(angle, 1.57)
        high, low = (complex(shares @ np.exp(1j * (other + side * half) * places)) for side in (1.0, -1.0))
        assert (high * low.conjugate()).imag >= -1e-12


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("rate", "shift", "count"), [(0.01, 1.0, 1000), (0.3, 0.5, 100), (0.9, 2.0, 10), (1e-3, 0.3, 10**5)]
)
def test_a10_two_components_are_a_sampled_gaussian(direction: Direction, rate: float, shift: float, count: int) -> None:
    """A third component of the weight 1e-200 keeps the kernel from reading the same law."""
    sampled = SampledGaussianLaw(rate, shift, direction)
    mixed = GaussianMixtureLaw((0.0, shift, 0.5 * shift), (1.0 - rate, rate, 1e-200), direction)
    for log_delta in (-5.0, -14.0, -60.0):
        first, second = (kernel.epsilon([(law, count)], log_delta, 0.0) for law in (sampled, mixed))
        assert (first is None) == (second is None)
        if first is None or second is None:
            continue
        assert meet(first.bounds, second.bounds)
        assert second.width <= 2.0 * first.width + 1e-10
        ends = [kernel.log_delta([(law, count)], first.bounds.upper) for law in (sampled, mixed)]
        assert ends[0] is not None
        assert ends[1] is not None
        assert meet(ends[0].bounds, ends[1].bounds)


def test_a10_one_component_and_repeated_ones() -> None:
    for direction, distance in zip(DIRECTIONS, (0.4, 0.4, 0.8), strict=True):
        one = solved(GaussianMixtureLaw((3.0, 0.4), (0.0, 1.0), direction), 50, -14.0)
        assert one == solved(GaussianLaw(distance), 50, -14.0)
    whole = solved(GaussianMixtureLaw((0.0, 1.0), (0.75, 0.25), "remove"), 50, -14.0)
    parts = solved(GaussianMixtureLaw((1.0, 0.0, 1.0, 0.0), (0.125, 0.5, 0.125, 0.25), "remove"), 50, -14.0)
    assert whole is not None
    assert parts is not None
    assert meet(whole, parts)
    drawn = kernel.epsilon([(DrawnGaussianLaw(0.2, 0.5), 200)], -14.0, 0.0)
    twice = kernel.epsilon([(DrawnMixtureLaw((0.5, 0.5), (0.25, 0.75), 0.2), 200)], -14.0, 0.0)
    assert drawn is not None
    assert twice is not None
    assert meet(drawn.bounds, twice.bounds)


@pytest.mark.parametrize(("log_delta", "epsilon"), [(math.log(1e-5), 2.6859), (math.log(1e-6), 3.0300)])
def test_a_client_of_eight_records_each_drawn_with_one_percent(log_delta: float, epsilon: float) -> None:
    ends = [
        solved(GaussianMixtureLaw(tuple(k / 4.0 for k in range(9)), binomial(8, 0.01), direction), 1000, log_delta)
        for direction in DIRECTIONS[:2]
    ]
    assert max(each.upper for each in ends if each is not None) == pytest.approx(epsilon, abs=1e-4)
    assert None not in ends


def inverted(seed: int) -> bool | None:
    """Return whether a random run's enclosure holds what its inversion gives; None where one is missing."""
    generator = random.Random(seed)
    size, kind = generator.randint(2, 4), generator.choice([*DIRECTIONS, "drawn"])
    shifts = sorted(round(generator.uniform(0.1, 1.5), 3) for _ in range(size))
    weights = [generator.random() * 0.2**k for k in range(size)]
    probabilities = tuple(weight / math.fsum(weights) for weight in weights)
    count, log_delta, most_tilt = round(math.exp(generator.uniform(3.0, 7.0))), -generator.uniform(3.0, 20.0), 20.0
    law: MixedLaw = DrawnMixtureLaw(tuple(shifts), probabilities, 0.1)
    if kind != "drawn":
        law = GaussianMixtureLaw((0.0, *shifts[1:]), probabilities, next(each for each in DIRECTIONS if each == kind))
    found = kernel.epsilon([(law, count)], log_delta, 0.0)
    if found is None or found.bounds.upper == 0.0:
        return None
    there = kernel.log_delta([(law, count)], found.bounds.upper)
    with mp.workdps(34):
        nodes = (
            mixtures.drawn_nodes(law.components, law.rate, most_tilt)
            if isinstance(law, DrawnMixtureLaw)
            else mixtures.gaussian_nodes(law.components, law.direction, most_tilt)
        )
        truth = mixtures.log_delta(nodes, count, found.bounds.upper, most_tilt)
    if truth is None or there is None:
        return None
    return there.bounds.lower - 1e-12 <= truth <= there.bounds.upper + 1e-12 and truth <= log_delta + 1e-12


def test_a10_the_inversion_of_its_transform_lies_within() -> None:
    answers = [inverted(seed) for seed in (1, 2, 4, 5, 6, 7)]
    assert False not in answers
    assert answers.count(True) >= 4


@pytest.mark.slow
def test_a10_forty_inversions_of_transforms_lie_within() -> None:
    answers = [inverted(seed) for seed in range(100, 150)]
    assert False not in answers
    assert answers.count(True) >= 38


def log_uniform(generator: random.Random, low: float, high: float) -> float:
    return math.exp(generator.uniform(math.log(low), math.log(high)))


def meets_the_lattice(law: MixedLaw, count: int, log_delta: float) -> bool:
    """Return whether the kernel and the lattice both answer; where they do, they meet."""
    ends = solved(law, count, log_delta)
    if ends is None or ends.upper == 0.0:
        return False
    try:
        there = exact.log_delta([(law, count)], ends.upper)
    except exact.NO_CERTIFICATE:
        return False
    assert there.lower <= log_delta
    pair = drawn_mixture_pair(law) if isinstance(law, DrawnMixtureLaw) else gaussian_mixture_pair(law)
    bounds = compose([(replace(pair, law=None), count)]).forward.log_delta(np.asarray([ends.upper]))
    room = 1e-12 * (1.0 - log_delta)
    assert meet(there, Interval(float(bounds.lower[0]) - room, float(bounds.upper[0]) + room)), (law, count, log_delta)
    return True


def test_a10_enclosures_meet_the_lattice() -> None:
    generator, answered = random.Random(2), 0
    for _ in range(3):
        population = round(log_uniform(generator, 100.0, 1e6))
        draws = max(1, round(population * log_uniform(generator, 3e-3, 0.1)))
        noise, count = log_uniform(generator, 1.0, 8.0), round(log_uniform(generator, 300.0, 1e5))
        for law in laws_with_replacement(draws, population, noise):
            answered += meets_the_lattice(law, count, -generator.uniform(9.0, 25.0))
    assert answered >= 8


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_a10_hundreds_of_extreme_enclosures_meet_the_lattice(seed: int) -> None:
    """Rates from 1e-9, batches and rounds up to a million and a billion, noise from 0.05 to 100, δ from 1e-300."""
    generator = random.Random(seed)
    for _ in range(30):
        draws = round(log_uniform(generator, 1.0, 1e6))
        population = max(2, round(draws / log_uniform(generator, 1e-9, 1.0)))
        law = generator.choice(laws_with_replacement(draws, population, log_uniform(generator, 0.05, 100.0)))
        log_delta = -log_uniform(generator, 2.3, 690.0)
        meets_the_lattice(law, round(log_uniform(generator, 2.0, 1e9)), log_delta)


def test_a10_what_is_moved_is_charged() -> None:
    """A rare large component holds δ itself: without it δ would be far smaller."""
    compared = 0
    for direction in DIRECTIONS:
        law = GaussianMixtureLaw((0.0, 0.5, 6.0), (0.9, 0.1 - 1e-9, 1e-9), direction)
        short, log_excess = law.shorten(math.log(2e-9))
        assert [each for each, _ in short.components] == [0.0, 0.5]
        assert log_excess >= math.log(1e-9 * (1.0 + 1.0 / 0.9))
        for epsilon in (5.0, 20.0):
            known = exact.log_delta([(short, 100)], epsilon)
            whole = kernel.log_delta([(law, 100)], epsilon)
            if whole is None:
                continue
            compared += 1
            most = np.logaddexp(known.upper, math.log(100) + log_excess)
            assert known.lower <= whole.bounds.upper
            assert whole.bounds.lower <= most
            assert meet(exact.log_delta([(law, 100)], epsilon), whole.bounds)
    assert compared >= 3
    assert law.shorten(-1000.0) == (law, -math.inf)


def test_a10_rounded_probabilities_are_ordered() -> None:
    for draws, population in ((3, 2), (40, 10), (500, 70), (7, 10**9)):
        drawn = multiplicities(draws, population, single_groups=draws + 1)
        assert drawn is not None
        logs, times = [drawn.log_absent, *drawn.log_weights], (0, *drawn.least)
        below, above = (
            [Fraction(each) for each in round_probabilities(logs, drawn.accuracy, upward=side)]
            for side in (False, True)
        )
        share = Fraction(1, population)
        truth = {k: math.comb(draws, k) * share**k * (1 - share) ** (draws - k) for k in times}
        for place in range(1, len(times)):
            tails = [sum(weights[place:], Fraction(0)) for weights in (below, above)]
            assert tails[0] <= sum((truth[k] for k in times[place:]), Fraction(0)) <= tails[1] + Fraction(1, 10**299)


def test_larger_probabilities_of_large_sensitivities_lose_more() -> None:
    for direction in DIRECTIONS:
        ends = [
            solved(GaussianMixtureLaw((0.0, 0.3, 0.6), (0.9, 0.1 - share, share), direction), 300, -14.0)
            for share in (0.0, 1e-4, 1e-3, 1e-2)
        ]
        known = [each for each in ends if each is not None]
        assert len(known) == len(ends)
        assert all(first.upper < second.lower for first, second in itertools.pairwise(known))


def test_a10_worst_inputs_are_answered_or_refused() -> None:
    laws: list[MixedLaw] = [
        GaussianMixtureLaw(sensitivities, probabilities, direction)
        for direction in DIRECTIONS
        for sensitivities, probabilities in (
            ((0.0, 1e7), (0.5, 0.5)),
            ((0.0, 1.0, 1e7), (0.5, 0.4, 0.1)),
            ((0.0, 1e-12, 2e-12), (0.9, 0.05, 0.05)),
            ((1.0, 1.0, 1.0), (0.2, 0.3, 0.5)),
            ((0.0, 1.0, 5.0), (0.5, 0.5, 0.0)),
            (tuple(float(k) for k in range(100)), (0.01,) * 100),
        )
    ]
    laws += [DrawnMixtureLaw((1.0, 1e7), (0.5, 0.5), 0.5), DrawnMixtureLaw((0.0, 0.5), (0.5, 0.5), 0.5)]
    for law, count in itertools.product(laws, (1, 100, 10**9)):
        ends = solved(law, count, -14.0)
        assert ends is None or 0.0 <= ends.lower <= ends.upper
        for epsilon in (-2.0, 0.0, 3.0):
            try:
                lower, upper = exact.log_delta([(law, count)], epsilon)
                bound = exact.upper_log_delta([(law, count)], epsilon)
            except exact.NO_CERTIFICATE:
                continue
            assert lower <= upper <= 0.0
            assert lower <= bound
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 * 2**20  # in KiB


@pytest.mark.parametrize(
    ("pointer", "sensitivities", "probabilities"),
    [
        ("/sensitivities", (-1.0, 1.0), (0.5, 0.5)),
        ("/sensitivities", (math.inf, 1.0), (0.5, 0.5)),
        ("/probabilities", (0.0, 1.0), (0.5, 0.4)),
        ("/probabilities", (0.0, 1.0), (1.5, -0.5)),
        ("/probabilities", (0.0, 1.0), (1.0,)),
        ("/probabilities", (), ()),
    ],
)
def test_a_mixture_demands_probabilities(
    pointer: str, sensitivities: tuple[float, ...], probabilities: tuple[float, ...]
) -> None:
    with pytest.raises(InvalidInput) as raised:
        GaussianMixtureLaw(sensitivities, probabilities, "remove")
    assert raised.value.faults[0].pointer == pointer


def test_what_is_out_of_its_range_is_refused() -> None:
    for law in (
        GaussianMixtureLaw((0.0, 1e-101), (0.5, 0.5), "remove"),
        GaussianMixtureLaw((0.0, 1e101), (0.5, 0.5), "remove"),
        GaussianMixtureLaw(tuple(map(float, range(100))), (0.01,) * 100, "add"),
    ):
        assert kernel.epsilon([(law, 10)], -14.0, 0.0) is None

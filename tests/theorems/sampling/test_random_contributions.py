"""Contributions of random size and clients with several records, from the definitions of their outputs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import Gaussian, GaussianMixture, Laplace, Repeated, Shuffled, Subsampled
from epsilond.accountants.theorems.sampling.mixtures.record_counts import fixed_size_counts, independent_counts

EPSILONS = (0.0, 0.3, 1.0, 2.5)
REMOVED: tuple[Relation, ...] = ("add-or-remove-one", "zero-out-one")
EIGHT = tuple(math.comb(8, count) * 0.01**count * 0.99 ** (8 - count) for count in range(9))


def certified(spec: Any, relation: Relation, unit: Any = "record") -> Guarantee:
    return account(spec, relation=relation, unit=unit, observer="released-models").guarantee


def mixture(sensitivities: tuple[float, ...], probabilities: tuple[float, ...], noise: float = 1.0) -> GaussianMixture:
    return GaussianMixture(sensitivities=sensitivities, probabilities=probabilities, noise_multiplier=noise)


def records(**draw: Any) -> Subsampled:
    return Subsampled(level="records", mechanism=Gaussian(noise_multiplier=draw.pop("noise", 1.5)), **draw)


def in_the_plane(means: FloatArray, weights: FloatArray) -> FloatArray:
    """The density of a mixture of normal distributions on a grid of the plane."""
    x, y = np.meshgrid(GRID, GRID)
    squares = (x[..., None] - means[:, 0]) ** 2 + (y[..., None] - means[:, 1]) ** 2
    return np.asarray((np.exp(-0.5 * squares) / (2.0 * math.pi)) @ weights)


GRID = np.arange(-11.0, 11.0, 0.11)


def divergence(first: FloatArray, second: FloatArray, epsilon: float) -> float:
    """The larger of both directions at ε, by the rectangle rule."""
    cell, gamma = (GRID[1] - GRID[0]) ** 2, math.exp(epsilon)
    return float(
        max(np.maximum(first - gamma * second, 0.0).sum(), np.maximum(second - gamma * first, 0.0).sum()) * cell
    )


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
def test_vectors_in_the_plane_are_not_above_the_line(relation: Relation) -> None:
    generator = np.random.default_rng(7)
    for _ in range(12):
        sizes = generator.uniform(0.0, 2.5, 3)
        weights = generator.dirichlet(np.ones(3))
        guarantee = certified(mixture(tuple(sizes.tolist()), tuple(weights.tolist())), relation)
        angles = generator.uniform(0.0, 2.0 * math.pi, (2, 3))
        lengths = sizes * generator.uniform(0.3, 1.0, (2, 3)) ** 0.3
        means = lengths[..., None] * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        if relation != "replace-one":
            means[1] = 0.0
        first, second = (in_the_plane(vectors, weights) for vectors in means)
        for epsilon in EPSILONS:
            assert divergence(first, second, epsilon) <= math.exp(guarantee.curve.log_delta(epsilon).upper) + 1e-7


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_release_is_its_definition(relation: Relation, epsilon: float) -> None:
    guarantee = certified(mixture((0.0, 0.4, 1.7), (0.7, 0.2, 0.1), 0.8), relation)
    with mp.workdps(30):
        truth = float(mp.log(max(_divergence(relation, epsilon, 1), _divergence(relation, epsilon, -1))))
    lower, upper = guarantee.curve.log_delta(epsilon)
    assert lower - 1e-9 <= truth <= upper + 1e-9
    assert upper - lower < 1e-9


def _divergence(relation: Relation, epsilon: float, direction: int) -> Any:
    """The divergence of one release of the sizes 0, ½ and 17/8 in one direction, by quadrature in forty digits."""
    shifts = [mp.mpf(0), mp.mpf(0.4) / mp.mpf(0.8), mp.mpf(1.7) / mp.mpf(0.8)]
    chances = [1 - mp.mpf(0.2) - mp.mpf(0.1), mp.mpf(0.2), mp.mpf(0.1)]

    def density(x: Any, sign: int) -> Any:
        return mp.fsum(p * mp.npdf(x - sign * s) for p, s in zip(chances, shifts, strict=True))

    def excess(x: Any) -> Any:
        here, there = density(x, 1), density(x, -1) if relation == "replace-one" else mp.npdf(x)
        return here - mp.exp(epsilon) * there if direction == 1 else there - mp.exp(epsilon) * here

    # The loss is monotone, so that the excess is positive on one side of a point.
    low, high = (mp.mpf(-20), mp.mpf(20)) if direction == 1 else (mp.mpf(20), mp.mpf(-20))
    if excess(high * mp.mpf("0.6")) <= 0:
        return mp.mpf(0)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return abs(mp.quad(excess, [high, high + 3 * direction, high + 8 * direction, 20 * direction]))


@pytest.mark.parametrize(("log10_delta", "expected"), [(-5, 2.6858800), (-6, 3.0300130)])
def test_eight_records_as_a_mixture_and_as_records(log10_delta: int, expected: float) -> None:
    step = mixture(tuple(float(count) for count in range(9)), EIGHT, 4.0)
    drawn = records(sampling="poisson", rate=0.01, records_of_one_client=8, noise=4.0)
    for spec in (step, drawn):
        run = Repeated(times=1000, mechanism=spec)
        lower, upper = certified(run, "add-or-remove-one", "client").curve.epsilon(log10_delta * math.log(10))
        assert lower <= expected + 1e-6
        assert upper >= expected - 1e-6
        assert upper - lower < 1e-8


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
def test_one_size_is_the_gaussian_mechanism_and_a_zero_is_a_poisson_batch(relation: Relation) -> None:
    log_delta = math.log(1e-7)
    for times in (1, 300):
        whole = Repeated(times=times, mechanism=mixture((2.0,), (1.0,), 3.0))
        same = Repeated(times=times, mechanism=Gaussian(noise_multiplier=1.5))
        assert certified(whole, relation).curve.epsilon(log_delta) == pytest.approx(
            certified(same, relation).curve.epsilon(log_delta), rel=1e-9
        )
        sometimes = Repeated(times=times, mechanism=mixture((0.0, 1.0), (0.875, 0.125), 1.5))
        poisson = Subsampled(sampling="poisson", rate=0.125, mechanism=Gaussian(noise_multiplier=1.5))
        assert certified(sometimes, relation).curve.epsilon(log_delta) == pytest.approx(
            certified(Repeated(times=times, mechanism=poisson), relation).curve.epsilon(log_delta), rel=1e-8
        )


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
def test_a_poisson_batch_of_a_mixture_is_a_mixture(relation: Relation) -> None:
    inner = mixture((0.0, 0.5, 2.0), (0.25, 0.5, 0.25), 1.3)
    drawn = Subsampled(sampling="poisson", rate=0.1875, mechanism=inner)
    by_hand = mixture((0.0, 0.5, 2.0), (0.859375, 0.09375, 0.046875), 1.3)
    for times in (1, 200):
        found = certified(Repeated(times=times, mechanism=drawn), relation).curve.epsilon(-14.0)
        expected = certified(Repeated(times=times, mechanism=by_hand), relation).curve.epsilon(-14.0)
        assert found == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("count", "rate"), [(1, 0.3), (8, 0.01), (300, 0.9), (2000, 0.5)])
def test_counts_are_their_definition(count: int, rate: float) -> None:
    found = independent_counts(count, rate)
    assert found is not None
    with mp.workdps(40):
        chance = mp.mpf(rate)
        for least, most, weight in zip(found.least, found.most, found.log_weights, strict=True):
            truth = mp.fsum(
                mp.binomial(count, j) * chance**j * (1 - chance) ** (count - j) for j in range(least, most + 1)
            )
            if weight <= -799.0:  # all that is beyond e^−800, as an upper bound
                assert float(mp.log(truth)) <= weight
                continue
            assert abs(float(mp.log(truth)) - weight) <= found.accuracy * 2 + 1e-12
    fixed = fixed_size_counts(count, 40, 3 * count + 100)
    assert fixed is not None
    population = 3 * count + 100
    for least, most, weight in zip(fixed.least, fixed.most, fixed.log_weights, strict=True):
        whole = sum(
            math.comb(count, j) * math.comb(population - count, 40 - j) for j in range(least, min(most, 40, count) + 1)
        )
        with mp.workdps(40):
            truth = float(mp.log(mp.mpf(whole) / math.comb(population, 40)))
        assert abs(truth - weight) <= fixed.accuracy * 2 + 1e-12


def outputs(values: list[float], batches: list[tuple[int, ...]], chances: list[float], noise: float) -> FloatArray:
    """The density of the noisy sum over the batches."""
    density = np.zeros(LINE.size)
    for batch, chance in zip(batches, chances, strict=True):
        place = sum(values[index] for index in batch) / noise
        density += chance * np.exp(-0.5 * (LINE - place) ** 2) / math.sqrt(2.0 * math.pi)
    return density


LINE = np.arange(-14.0, 14.0, 0.001)


def on_the_line(first: FloatArray, second: FloatArray, epsilon: float) -> float:
    gamma, cell = math.exp(epsilon), LINE[1] - LINE[0]
    both = np.maximum(first - gamma * second, 0.0).sum(), np.maximum(second - gamma * first, 0.0).sum()
    return float(max(both) * cell)


def client_worlds(relation: Relation, others: float) -> tuple[list[float], list[float]]:
    """Five records, the first two of the client, in both data sets."""
    here = [1.0, 1.0, others, others, others]
    there = {"replace-one": [-1.0, -1.0], "zero-out-one": [0.0, 0.0], "add-or-remove-one": []}[relation]
    return here, [*there, others, others, others]


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
def test_clients_of_a_small_data_set_are_below_the_bound(relation: Relation, sampling: str) -> None:
    draw = {"rate": 0.25} if sampling == "poisson" else {"batch_size": 2, "population": 5}
    guarantee = certified(records(sampling=sampling, records_of_one_client=2, **draw), relation, "client")
    nearest = 0.0
    for others in (-1.0, 0.0, 1.0):
        densities = []
        for values in client_worlds(relation, others):
            indices = range(len(values))
            if sampling == "poisson":
                batches = [batch for size in range(len(values) + 1) for batch in itertools.combinations(indices, size)]
                chances = [0.25 ** len(batch) * 0.75 ** (len(values) - len(batch)) for batch in batches]
            else:
                batches = list(itertools.combinations(indices, 2))
                chances = [1.0 / len(batches)] * len(batches)
            densities.append(outputs(values, batches, chances, 1.5))
        for epsilon in EPSILONS:
            truth = on_the_line(densities[0], densities[1], epsilon)
            upper = math.exp(guarantee.curve.log_delta(epsilon).upper)
            assert truth <= upper * (1.0 + 1e-6) + 1e-9
            nearest = max(nearest, truth / upper)
    is_exact = sampling == "poisson" or relation != "zero-out-one"
    assert nearest > (0.99 if is_exact else 0.5)


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
def test_one_record_is_a_record(relation: Relation) -> None:
    one = records(sampling="poisson", rate=0.02, records_of_one_client=1)
    record = records(sampling="poisson", rate=0.02)
    found = certified(Repeated(times=100, mechanism=one), relation, "client").curve.epsilon(-14.0)
    assert found == pytest.approx(certified(Repeated(times=100, mechanism=record), relation).curve.epsilon(-14.0))
    if relation == "replace-one":
        fixed = records(sampling="without-replacement", batch_size=5, population=100, records_of_one_client=1)
        other = records(sampling="without-replacement", batch_size=5, population=100)
        assert certified(fixed, relation, "client").curve.epsilon(-14.0).upper == pytest.approx(
            certified(other, relation).curve.epsilon(-14.0).upper, rel=1e-4
        )


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
def test_all_records_of_a_client_are_one_large_contribution(relation: Relation) -> None:
    factor = 2.0 if relation == "replace-one" else 1.0
    for draw in ({"sampling": "full"}, {"sampling": "poisson", "rate": 1.0}):
        found = certified(records(records_of_one_client=6, noise=3.0, **draw), relation, "client")
        assert found.curve.upper.gaussian_dp_mu == factor * 2.0
        assert found.tight == "proved"


@pytest.mark.parametrize("sampling", ["poisson", "without-replacement"])
def test_more_records_cost_more(sampling: str) -> None:
    draw = {"rate": 0.05} if sampling == "poisson" else {"batch_size": 20, "population": 400}
    ends = [
        certified(
            Repeated(times=20, mechanism=records(sampling=sampling, records_of_one_client=count, **draw)),
            "add-or-remove-one",
            "client",
        ).curve.epsilon(-12.0)
        for count in (1, 2, 5, 17, 60)
    ]
    assert all(lower.upper < higher.lower for lower, higher in itertools.pairwise(ends))


@pytest.mark.parametrize(
    ("pointer", "build"),
    [
        ("/level", lambda: Subsampled(sampling="poisson", rate=0.1, records_of_one_client=2, mechanism=Gaussian(noise_multiplier=1.0))),
        ("/records_of_one_client", lambda: records(sampling="with-replacement", batch_size=2, population=4,
                                                   records_of_one_client=2)),
        ("/records_of_one_client", lambda: records(sampling="without-replacement", batch_size=2, population=4,
                                                   records_of_one_client=5)),
        ("/mechanism/records_of_one_client", lambda: Subsampled(
            sampling="poisson", rate=0.1, level="clients",
            mechanism=records(sampling="poisson", rate=0.1, records_of_one_client=2))),
        ("/mechanism/records_of_one_client", lambda: Shuffled(
            clients=3, mechanism=records(sampling="poisson", rate=0.1, records_of_one_client=2))),
        ("/sensitivities", lambda: mixture((), ())),
        ("/probabilities", lambda: mixture((1.0,), (0.5, 0.5))),
        ("/probabilities", lambda: mixture((1.0, 2.0), (0.5, 0.4))),
        ("/probabilities/0", lambda: mixture((1.0, 2.0), (-0.5, 1.5))),
        ("/sensitivities/1", lambda: mixture((1.0, math.inf), (0.5, 0.5))),
        ("/sensitivities/0", lambda: mixture((math.nan,), (1.0,))),
        ("/sensitivities", lambda: mixture((1e4,), (1.0,), 1e-3)),
    ],
)  # fmt: skip
def test_a_spec_that_says_nothing_is_rejected(pointer: str, build: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        build()
    assert caught.value.faults[0].pointer == pointer


@pytest.mark.parametrize(
    ("spec", "relation"),
    [
        (Subsampled(sampling="poisson", rate=0.1, level="records", records_of_one_client=2,
                    mechanism=Laplace(scale_multiplier=1.0)), "zero-out-one"),
        (Subsampled(sampling="full", level="records", records_of_one_client=2,
                    mechanism=Laplace(scale_multiplier=1.0)), "zero-out-one"),
        (records(sampling="without-replacement", batch_size=4, population=4, records_of_one_client=2),
         "add-or-remove-one"),
        (records(sampling="without-replacement", batch_size=3, population=4, records_of_one_client=2), "replace-one"),
        (records(sampling="without-replacement", rate=0.5, records_of_one_client=2), "replace-one"),
        (records(sampling="poisson", rate=1e-9, records_of_one_client=10**15, noise=1e10), "zero-out-one"),
        (records(sampling="poisson", rate=1e-9, records_of_one_client=10**15), "zero-out-one"),
    ],
)  # fmt: skip
def test_what_no_theorem_covers_is_refused(spec: Any, relation: Relation) -> None:
    with pytest.raises(NoCertificate):
        certified(spec, relation, "client")


@pytest.mark.parametrize("relation", [*REMOVED, "replace-one"])
@pytest.mark.parametrize(
    "spec",
    [
        mixture((0.0, 0.0), (0.5, 0.5)),
        mixture((1e6,), (1.0,), 1.0),
        mixture((1e-300, 1.0), (1.0, 1e-300), 1e-6),
        mixture((0.0, 1.0), (1.0 - 1e-12, 1e-12), 1e15),
        mixture(tuple(range(1000)), (0.001,) * 1000, 50.0),
        mixture((1.0, 1.0, 1.0), (0.3333333333, 0.3333333333, 0.3333333333), 2.0),
        Repeated(times=10**6, mechanism=mixture((0.0, 1.0, 3.0), (0.999, 0.0009, 0.0001), 9.0)),
    ],
)
def test_worst_inputs_have_ordered_bounds(spec: Any, relation: Relation) -> None:
    curve = certified(spec, relation).curve
    for log_delta in (-3.0, -40.0, -700.0):
        lower, upper = curve.epsilon(log_delta)
        assert 0.0 <= lower <= upper < math.inf
    lower, upper = curve.log_delta(0.5)
    assert lower <= upper <= 0.0


def test_a_very_rare_and_very_large_size_hides_no_other() -> None:
    """The boundary of a loss is found between components that are a million standard deviations apart."""
    many = records(
        sampling="without-replacement", batch_size=10**6, population=10**15, records_of_one_client=10**6, noise=1.0
    )
    few = mixture((0.0, 2.0, 4.0), (1.0 - 1e-3 - 5e-7, 1e-3, 5e-7), 1.0)
    found, other = (
        certified(spec, "add-or-remove-one", unit).curve.log_delta(0.5)
        for spec, unit in ((many, "client"), (few, "record"))
    )
    assert found.lower <= found.upper < found.lower + 1e-6
    assert found.upper == pytest.approx(other.upper, abs=0.01)

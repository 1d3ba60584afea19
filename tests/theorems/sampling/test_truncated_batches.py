"""Truncated Poisson batches: probabilities by summation, bounds against whole small data sets, and limits."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import epsilond
from epsilond.accountants.account import account
from epsilond.accountants.errors import InvalidInput, NoCertificate
from epsilond.accountants.guarantee import Guarantee
from epsilond.accountants.numerics.special import FloatArray
from epsilond.accountants.quantities import Observer, Relation
from epsilond.accountants.specs import Gaussian, Laplace, Repeated, Subsampled
from epsilond.accountants.theorems.sampling.truncated.batches import dominating_pair
from epsilond.accountants.theorems.sampling.truncated.masses import TruncatedMasses
from epsilond.accountants.theorems.sampling.truncated.symbol_renyi import ShownSymbol, SymbolRenyi
from epsilond.accountants.theorems.sampling.truncated.symbols import Symbol, symbol_pair

RELATIONS: tuple[Relation, ...] = ("add-or-remove-one", "zero-out-one", "replace-one")
EPSILONS = (0.0, 0.2, 0.7, 1.5, 3.0)


def truncated(most: int, population: int, rate: float, noise: float = 1.0, **more: Any) -> Subsampled:
    return Subsampled(
        sampling="poisson",
        rate=rate,
        largest_batch=most,
        population=population,
        mechanism=more.pop("mechanism", Gaussian(noise_multiplier=noise)),
        **more,
    )


def certified(spec: Any, relation: Relation) -> Guarantee:
    return account(spec, relation=relation, observer="released-models").guarantee


@pytest.mark.parametrize(
    ("population", "rate", "most"),
    [(2, 0.5, 1), (5, 0.5, 4), (10, 0.3, 1), (1000, 0.9, 950), (1000, 1 - 1e-9, 999), (10**6, 1e-9, 3),
     (100_000, 0.01, 1300), (100_000, 0.01, 900)],
)  # fmt: skip
def test_masses_are_sums_of_the_binomial_distribution(population: int, rate: float, most: int) -> None:
    found = TruncatedMasses.of(population=population, rate=rate, largest_batch=most)
    with mp.workdps(40):
        chance = mp.mpf(rate)

        def mass(trials: int, count: int) -> Any:
            return mp.binomial(trials, count) * chance**count * (1 - chance) ** (trials - count)

        def tail(trials: int, count: int) -> Any:
            total, term = mp.mpf(0), mass(trials, count)
            for value in range(count, trials + 1):
                total += term
                term *= mp.mpf(trials - value) / (value + 1) * chance / (1 - chance)
                if value > trials * rate and term < total * mp.mpf(10) ** -35:
                    break
            return total

        full, beside = tail(population - 1, most), mass(population - 1, most - 1)
        kept = mp.fsum(
            mass(population - 1, count) * chance * most / (count + 1)
            for count in range(most, min(population, most + 4000))
        )
        expected = (1 - full - beside, beside, 1 - full, full, kept)
        logs = (found.below, found.next_to_full, found.untruncated, found.full, found.retained)
        for truth, log in zip(expected, logs, strict=True):
            if truth > mp.mpf(10) ** -38:
                assert abs(float(mp.log(truth)) - log) <= found.margin


@pytest.mark.parametrize(("most", "upper"), [(1300, 2.69788), (1150, 2.69877), (1100, 3.24118)])
def test_published_figures(most: int, upper: float) -> None:
    """The bound of the second theorem is 2.698, 3.55 and 6.65; dp-accounting's is 2.698, 3.57 and 6.68."""
    run = Repeated(times=1000, mechanism=truncated(most, 100_000, 0.01))
    ends = certified(run, "add-or-remove-one").curve.epsilon(math.log(1e-8))
    assert 2.6978 < ends.lower <= ends.upper < upper
    if most == 1300:
        assert ends.upper - ends.lower < 1e-5


@pytest.mark.parametrize("relation", RELATIONS)
def test_it_is_poisson_where_truncation_is_rare(relation: Relation) -> None:
    poisson = Subsampled(sampling="poisson", rate=0.02, mechanism=Gaussian(noise_multiplier=1.1))
    expected = certified(Repeated(times=200, mechanism=poisson), relation).curve.epsilon(-16.0)
    ends = [
        certified(Repeated(times=200, mechanism=truncated(most, 5000, 0.02, 1.1)), relation).curve.epsilon(-16.0)
        for most in (120, 140, 160, 400, 4999, 5000, 10**9)
    ]
    uppers = [upper for _, upper in ends]
    assert all(later <= earlier + 1e-5 for earlier, later in itertools.pairwise(uppers))
    for lower, upper in ends[2:]:
        assert upper == pytest.approx(expected.upper, rel=1e-4)
        assert lower == pytest.approx(expected.lower, rel=1e-6)
    assert ends[-1] == pytest.approx(expected, rel=1e-12)


LINE = np.arange(-13.0, 13.0, 0.002)


def output(values: list[float], rate: float, most: int, noise: float) -> FloatArray:
    """The density of the noisy sum over a truncated batch of the values, by enumeration of all batches."""
    density = np.zeros(LINE.size)
    for taken in itertools.product((False, True), repeat=len(values)):
        drawn = [value for value, is_drawn in zip(values, taken, strict=True) if is_drawn]
        chance = rate ** len(drawn) * (1 - rate) ** (len(values) - len(drawn))
        kept = list(itertools.combinations(drawn, min(most, len(drawn))))
        for batch in kept:
            place = sum(batch) / noise
            density += chance / len(kept) * np.exp(-0.5 * (LINE - place) ** 2) / math.sqrt(2.0 * math.pi)
    return density


def divergence(first: FloatArray, second: FloatArray, epsilon: float) -> float:
    gamma, cell = math.exp(epsilon), LINE[1] - LINE[0]
    both = np.maximum(first - gamma * second, 0.0).sum(), np.maximum(second - gamma * first, 0.0).sum()
    return float(max(both) * cell)


CASES = [(2, 1, 0.5), (3, 1, 0.75), (4, 2, 0.3), (4, 3, 0.6), (5, 2, 0.9), (5, 4, 0.5), (3, 1, 1.0), (4, 2, 0.999)]


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("population", "most", "rate"), CASES)
def test_truncated_batches_of_a_small_data_set_are_below_the_bound(
    relation: Relation, population: int, most: int, rate: float
) -> None:
    noise = 1.2
    guarantee = certified(truncated(most, population, rate, noise), relation)
    nearest = 0.0
    for others in (-1.0, -0.5, 0.0, 1.0):
        rest = [others] * (population - 1)
        there = {"replace-one": [-1.0], "zero-out-one": [0.0], "add-or-remove-one": []}[relation]
        first, second = (output([*own, *rest], rate, most, noise) for own in ([1.0], there))
        for epsilon in EPSILONS:
            truth = divergence(first, second, epsilon)
            lower, upper = guarantee.curve.log_delta(epsilon)
            assert truth <= math.exp(upper) * (1.0 + 1e-5) + 1e-9
            if others == 0.0:
                assert math.exp(lower) <= truth * (1.0 + 1e-5) + 1e-9
            nearest = max(nearest, truth / math.exp(upper))
    assert nearest > 0.3


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("population", "most", "rate"), [(50, 20, 0.3), (50, 15, 0.3), (200, 10, 0.02)])
def test_one_release_is_the_sum_over_public_symbols(
    relation: Relation, population: int, most: int, rate: float
) -> None:
    """The divergence of the table in docs/mixtures.md, by quadrature over the noise."""
    masses = TruncatedMasses.of(population=population, rate=rate, largest_batch=most)
    pair = dominating_pair(masses, rate, 0.9, relation)
    counted = pair.alternatives[0] if pair.alternatives else pair
    below, beside, full, kept = (math.exp(x) for x in (masses.below, masses.next_to_full, masses.full, masses.retained))
    x = np.arange(-12.0, 14.0, 0.0005)
    normal, right, left = (np.exp(-0.5 * (x - mean) ** 2) / math.sqrt(2.0 * math.pi) for mean in (0.0, 0.9, -0.9))
    away = {"replace-one": left}.get(relation, normal)
    rows = [(below * (1 - rate) * normal, below * rate * right, below * (1 - rate) * normal, below * rate * away)]
    in_it = beside * rate + kept
    if relation == "add-or-remove-one":
        rows.append((beside * (1 - rate) * normal, in_it * right, beside * (1 - rate) * normal, beside * rate * normal))
        atoms = (full - kept, full)
    else:
        rows.append((beside * (1 - rate) * normal, in_it * right, beside * (1 - rate) * normal, in_it * away))
        atoms = (full - kept, full - kept)
    for epsilon in (0.0, 0.1, 0.6, 1.4):
        gamma = math.exp(epsilon)
        for direction, profile in ((1, counted.forward), (-1, counted.backward)):
            total = 0.0
            for a, b, c, d in rows:
                first, second = (a + b, c + d) if direction == 1 else (c + d, a + b)
                total += float(np.maximum(first - gamma * second, 0.0).sum()) * 0.0005
            first_atom, second_atom = atoms if direction == 1 else atoms[::-1]
            total += max(first_atom - gamma * second_atom, 0.0)
            bounds = profile.log_delta_bounds(epsilon)
            assert math.exp(bounds.lower) <= total + 1e-8
            assert total <= math.exp(bounds.upper) + 1e-8
            assert math.exp(bounds.upper) <= total * (1.0 + 1e-5) + 1e-8


WORST = (
    *((1, 2, 1e-12, 1.0), (1, 2, 1.0 - 1e-12, 1.0), (1, 10**15, 1e-15, 1.0), (10**6, 10**9, 1e-3, 0.5)),
    *((5, 1000, 0.9, 1e15), (5, 1000, 1e-3, 1e-6), (1, 10**6, 1.0, 2.0), (999_999, 10**6, 1.0, 2.0), (1, 1, 0.5, 2.0)),
)
"""Largest batch, population, rate and noise multiplier. A search for ε at noise 1e-6 takes seven seconds."""


@pytest.mark.parametrize(
    ("relation", "most", "population", "rate", "noise"),
    [
        pytest.param(relation, *case, marks=[pytest.mark.slow] * (case[-1] == 1e-6 and relation != RELATIONS[0]))
        for relation, case in itertools.product(RELATIONS, WORST)
    ],
)
def test_worst_inputs_have_ordered_bounds(
    relation: Relation, most: int, population: int, rate: float, noise: float
) -> None:
    for times in (1, 1000):
        curve = certified(Repeated(times=times, mechanism=truncated(most, population, rate, noise)), relation).curve
        for epsilon in (0.0, 1.0, 30.0):
            lower, upper = curve.log_delta(epsilon)
            assert lower <= upper <= 0.0
        lower, upper = curve.epsilon(-12.0)
        assert 0.0 <= lower <= upper


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_million_steps_are_answered(relation: Relation) -> None:
    run = Repeated(times=10**6, mechanism=truncated(150, 10**6, 1e-4, 2.0))
    lower, upper = certified(run, relation).curve.epsilon(-14.0)
    assert 0.0 < lower <= upper < lower * 1.01


def test_a_largest_batch_is_of_one_release_of_a_secret_draw() -> None:
    for spec in (truncated(3, 9, 0.1, mechanism=Laplace(scale_multiplier=1.0)), truncated(3, 9, 0.1, level="clients")):
        with pytest.raises(NoCertificate):
            account(spec, relation="add-or-remove-one", unit="client", observer="server")


@pytest.mark.parametrize("observer", ["server", "other-clients"])
def test_who_sees_the_other_members_of_a_full_batch_is_not_answered(observer: Observer) -> None:
    """All other clients together know how many of them were kept: with the largest number, the last one is not in."""
    with pytest.raises(NoCertificate, match="sees which clients are drawn"):
        account(truncated(3, 7, 0.3, level="clients"), relation="replace-one", unit="client", observer=observer)


def test_the_words_of_a_truncated_draw_say_that_a_subset_is_kept() -> None:
    for most, is_truncated in ((3, True), (7, False)):
        words = epsilond.account(
            truncated(most, 7, 0.3), relation="replace-one", unit="record", observer="server"
        ).guarantee.in_words
        assert ("of too many a uniform subset is kept" in words) == is_truncated


@pytest.mark.parametrize(
    ("pointer", "fields"),
    [
        ("/population", {"rate": 0.1}),
        ("/population", {"rate": 0.1, "population": 9, "batch_size": 3}),
        ("/population", {"batch_size": 3, "population": 9}),
        ("/largest_batch", {"sampling": "without-replacement", "batch_size": 3, "population": 9}),
        ("/largest_batch", {"sampling": "full"}),
    ],
)
def test_a_largest_batch_needs_a_rate_and_a_population(pointer: str, fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Subsampled(
            **({"sampling": "poisson", "largest_batch": 2, "mechanism": Gaussian(noise_multiplier=1.0)} | fields)
        )
    assert caught.value.faults[0].pointer == pointer


def test_it_is_not_inside_another_draw() -> None:
    with pytest.raises(InvalidInput) as caught:
        Subsampled(sampling="poisson", rate=0.5, mechanism=truncated(3, 9, 0.1))
    assert caught.value.faults[0].pointer == "/mechanism/largest_batch"


@pytest.mark.parametrize("margin", [1e-12, 1e-6])
def test_equal_doubles_of_two_probabilities_are_no_proof_that_they_are_equal(margin: float) -> None:
    """True probabilities (1 ± η)/4 and the rest, in both orders: δ(0) is η/2."""
    doubles = (math.log(0.25), math.log(0.75))
    apart = symbol_pair([Symbol(value, value, None, is_shared=False) for value in doubles], margin)
    truth = math.log(0.25 * (math.expm1(0.9 * margin) - math.expm1(-0.9 * margin)))
    assert apart.log_delta_bounds(0.0).upper >= truth
    assert not apart.symmetric
    shared = symbol_pair([Symbol(value, value, None, is_shared=True) for value in doubles], margin)
    assert shared.symmetric
    assert shared.log_delta_bounds(0.0).upper == -math.inf


def test_the_relation_and_not_the_doubles_decides_what_is_shared() -> None:
    """τ − t and τ are one double if the record is hardly ever kept; under add-or-remove-one they still differ."""
    masses = TruncatedMasses(-1e-3, -20.0, -1e-3, math.log(1e-3), math.log(1e-3) - 60.0, 2.0**-40)
    added, replaced = (
        dominating_pair(masses, 0.01, 1.0, relation) for relation in ("add-or-remove-one", "replace-one")
    )
    assert not added.symmetric
    assert replaced.symmetric or replaced.alternatives


@pytest.mark.parametrize("order", [1.5, 6.0])
def test_divergences_of_symbols_are_the_sum(order: float) -> None:
    """Three symbols in fifty digits; the pair of a symbol by quadrature."""
    symbols = ((0.6, 0.6, 0.1, 0.8), (0.3, 0.25, 0.4, 0.8), (0.1, 0.15, 0.0, 0.8))

    def moment(rate: float, shift: float, power: float) -> Any:
        return mp.quad(
            lambda x: mp.npdf(x) * (1 - rate + rate * mp.exp(shift * x - mp.mpf(shift) ** 2 / 2)) ** power,
            [-20, 0, 5, 10, 30],
        )

    with mp.workdps(30):
        totals = [
            mp.log(
                mp.fsum(
                    (mp.mpf(w) / v) ** order * v * moment(rate, shift, order)
                    if direction == 0
                    else (mp.mpf(v) / w) ** order * w * moment(rate, shift, 1.0 - order)
                    for w, v, rate, shift in symbols
                )
            )
            / (order - 1.0)
            for direction in (0, 1)
        ]
    shown = tuple(ShownSymbol(math.log(w), math.log(v), rate, shift) for w, v, rate, shift in symbols)
    upper = SymbolRenyi(shown, is_replaced=False, distance=10.0, margin=1e-14).divergence(order).upper
    assert float(max(totals)) <= upper * (1 + 1e-9)
    assert upper <= float(max(totals)) * (1.0 + 1e-6) + 0.05

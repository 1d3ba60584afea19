"""Witnesses of drawn batches against the divergence of the instance they stand for, written from its definition."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.profiles.binned import Mixture, Noise, cells_pair, finite_pair
from epsilond.accountants.specs import (
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    RandomizedResponse,
    Repeated,
    Shuffled,
    Subsampled,
)
from epsilond.accountants.theorems.shuffling.counts import two_counts
from tests.oracles.enclosure import log_of
from tests.oracles.finite import Law, response
from tests.oracles.finite import hockey_stick as finite_hockey_stick
from tests.oracles.hockey_stick import sign_changes

Density = Callable[[mp.mpf], mp.mpf]
SCALE = {"gaussian": Gaussian, "laplace": Laplace}


def density(kind: str, weights: Sequence[float], means: Sequence[float]) -> Density:
    def noise(x: mp.mpf) -> mp.mpf:
        return mp.npdf(x) if kind == "gaussian" else mp.exp(-abs(x)) / 2

    return lambda x: mp.fsum(mp.mpf(w) * noise(x - mp.mpf(m)) for w, m in zip(weights, means, strict=True))


def divergence(p: Density, q: Density, epsilon: float, kinks: Sequence[float]) -> mp.mpf:
    """∫ (p − e^ε q)₊, cut at kinks and sign changes."""
    gamma = mp.e ** mp.mpf(epsilon)

    def gap(x: mp.mpf) -> mp.mpf:
        return p(x) - gamma * q(x)

    low, high = min(kinks) - 40, max(kinks) + 40
    ends = sorted({mp.mpf(low), mp.mpf(high), *map(mp.mpf, kinks), *sign_changes(gap, low, high)})
    return mp.fsum(mp.quad(gap, mp.linspace(a, b, 9)) for a, b in itertools.pairwise(ends) if gap((a + b) / 2) > 0)


def lower_ends(pair: Pair, epsilon: float) -> tuple[float, float]:
    return tuple(float(side.log_delta(np.asarray([epsilon])).lower[0]) for side in (pair.forward, pair.backward))


def build(kind: str, noise: float) -> Gaussian | Laplace:
    return Gaussian(noise_multiplier=noise) if kind == "gaussian" else Laplace(scale_multiplier=noise)


def drawn(sampling: str, mechanism: object) -> Subsampled:
    return Subsampled(sampling=sampling, batch_size=2, population=8, mechanism=mechanism)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("epsilon", [0.05, 0.4])
def test_a_zeroed_record_in_a_batch_of_fixed_size(kind: str, epsilon: float) -> None:
    """Two of eight. All others at zero: (1 − q) ν₀ + q ν_s against ν₀. All others at −C: 2s against s."""
    shift, weights = 1 / 0.9, (0.75, 0.25)
    curve = account(drawn("without-replacement", build(kind, 0.9)), relation="zero-out-one").guarantee.curve
    with mp.workdps(25):
        instances = [
            (density(kind, weights, (0, shift)), density(kind, (1,), (0,)), (0, shift)),
            (density(kind, weights, (0, 2 * shift)), density(kind, weights, (0, shift)), (0, shift, 2 * shift)),
        ]
        for (p, q, kinks), pair in zip(instances, curve.witnesses, strict=True):
            ends = lower_ends(pair, epsilon)
            for (first, second), end in zip(((p, q), (q, p)), ends, strict=True):
                exact = divergence(first, second, epsilon, kinks)
                if exact < 1e-15:
                    assert end < -30.0
                    continue
                assert end <= float(mp.log(exact)) + 1e-12
                assert end >= float(mp.log(exact)) - 1e-2
    known = curve.log_delta(epsilon)
    assert -math.inf < known.lower <= known.upper


@pytest.mark.parametrize(("relation", "span"), [("replace-one", 2), ("zero-out-one", 1)])
def test_laplace_with_replacement_all_others_at_one_end(relation: str, span: int) -> None:
    """Two draws of eight: a contribution counts k times with probability C(2, k) 7^(2−k)/64."""
    curve = account(drawn("with-replacement", Laplace(scale_multiplier=1.3)), relation=relation).guarantee.curve  # type: ignore[arg-type]
    shift, weights = 1 / 1.3, (Fraction(49, 64), Fraction(14, 64), Fraction(1, 64))
    with mp.workdps(25):
        laws = [[float(w) for w in weights], [span * shift * k for k in range(3)]]
        for epsilon in (0.1, 0.5):
            exact = divergence(density("laplace", *laws), density("laplace", (1,), (0,)), epsilon, laws[1])
            end = lower_ends(curve.witnesses[0], epsilon)[0]
            assert float(mp.log(exact)) - 1e-2 <= end <= float(mp.log(exact)) + 1e-12
            assert curve.log_delta(epsilon).lower >= end
            if relation == "zero-out-one":
                p, q = (density("laplace", laws[0], [side * shift * k for k in range(3)]) for side in (2, 1))
                exact = divergence(p, q, epsilon, [shift * k for k in range(5)])
                end = lower_ends(curve.witnesses[1], epsilon)[0]
                assert float(mp.log(exact)) - 1e-2 <= end <= float(mp.log(exact)) + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 0.6])
def test_integers_with_replacement_against_zeros(epsilon: float) -> None:
    """Sensitivity 3: the record's 3 becomes a 0, all others are zero; P(y) ∝ 2^−|y|."""
    spec = drawn("with-replacement", DiscreteLaplace(decay_rate=math.log(2.0), sensitivity=3))
    curve = account(spec, relation="replace-one").guarantee.curve

    def noise(y: int) -> Fraction:
        return Fraction(1, 3) * Fraction(1, 2) ** abs(y)

    weights = (Fraction(49, 64), Fraction(14, 64), Fraction(1, 64))
    p: Law = {y: sum((w * noise(y - 3 * k) for k, w in enumerate(weights)), Fraction(0)) for y in range(-90, 97)}
    q: Law = {y: noise(y) for y in range(-90, 97)}
    for pair, first, second in ((curve.witnesses[0].forward, p, q), (curve.witnesses[0].backward, q, p)):
        exact = log_of(finite_hockey_stick(first, second, Fraction(math.exp(epsilon))))
        end = float(pair.log_delta(np.asarray([epsilon])).lower[0])
        assert exact - 1e-2 <= end <= exact + 1e-12 if math.isfinite(exact) else end == -math.inf
    assert curve.epsilon(math.log(1e-6)).lower > 0.0


def multiset(reports: Law) -> Law:
    """Reports without their order."""
    found: Counter[tuple[int, ...]] = Counter()
    for outcome, weight in reports.items():
        found[tuple(sorted(outcome))] += weight  # type: ignore[assignment]
    return found


def reports(held: Sequence[int], categories: int, odds: Fraction) -> Law:
    table: dict[tuple[int, ...], Fraction] = {}
    for outcome in itertools.product(range(categories), repeat=len(held)):
        weight = Fraction(1)
        for category, said in zip(held, outcome, strict=True):
            weight *= response(category, categories, odds)[said]
        table[outcome] = weight
    return multiset(table)


@pytest.mark.parametrize(("clients", "categories"), [(2, 3), (3, 3), (4, 3), (3, 4)])
def test_two_counts_are_the_shuffled_reports_of_their_instance(clients: int, categories: int) -> None:
    """The victim holds 0, or 1; all others hold 1, or all hold 2. Other categories are told together."""

    def told(law: Law) -> Law:
        found: Counter[tuple[int, ...]] = Counter()
        for outcome, weight in law.items():
            found[outcome.count(0), outcome.count(1)] += weight  # type: ignore[assignment]
        return found

    pairs = two_counts(clients, math.log(3), categories)
    for others, pair in zip((2, 1), pairs, strict=True):
        whole = [reports((victim, *[others] * (clients - 1)), categories, Fraction(3)) for victim in (0, 1)]
        p, q = map(told, whole)
        for epsilon in (0.0, 0.2, 0.7, 1.0):
            gamma = Fraction(math.exp(epsilon))
            for (first, second), end in zip(((p, q), (q, p)), lower_ends(pair, epsilon), strict=True):
                exact = finite_hockey_stick(first, second, gamma)
                assert end == pytest.approx(log_of(exact), abs=1e-9) if exact else end == -math.inf
                assert end <= log_of(exact) + 1e-15
            assert finite_hockey_stick(p, q, gamma) <= finite_hockey_stick(whole[0], whole[1], gamma)


def test_shuffled_responses_are_known_nearly_exactly() -> None:
    """An audit had proved 2.21 of the second; counting the victim's category alone gives 2.00."""
    for clients, local, categories, delta, width in ((50, 3.0, 4, 1e-5, 1e-3), (300, 1.0, 5, 1e-6, 0.01)):
        spec = Shuffled(clients=clients, mechanism=RandomizedResponse(epsilon=local, categories=categories))
        curve = account(spec, relation="replace-one", observer="shuffled-server").guarantee.curve
        found = curve.epsilon(math.log(delta))
        assert found.upper * (1 - width) <= found.lower <= found.upper


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_several_gaussian_releases_of_a_batch_are_one_along_a_line(relation: str) -> None:
    many = Composed(
        mechanisms=(Repeated(times=2, mechanism=Gaussian(noise_multiplier=3.0)), Gaussian(noise_multiplier=2.0))
    )
    one = Gaussian(noise_multiplier=1.0 / math.sqrt(2 / 9 + 1 / 4))
    for sampling in ("poisson", "without-replacement"):
        curves = [account(drawn(sampling, each), relation=relation).guarantee.curve for each in (many, one)]  # type: ignore[arg-type]
        for epsilon in (0.05, 0.3):
            several, single = (curve.log_delta(epsilon) for curve in curves)
            assert several.lower == pytest.approx(single.lower, abs=1e-9)
            assert several.upper == pytest.approx(single.upper, abs=1e-9)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_cells_compose_below_what_they_stand_for(kind: str) -> None:
    """Ten releases told in cells against the ten releases."""
    spec = Repeated(times=10, mechanism=build(kind, 3.0))
    exact = account(spec, relation="zero-out-one").guarantee.curve
    shift = 1 / 3.0
    pair = cells_pair(
        Mixture((shift,), (0.0,)), Mixture((0.0,), (0.0,)), Noise("gaussian" if kind == "gaussian" else "laplace")
    )
    from epsilond.accountants.composition.product import composed_pair

    composed = composed_pair([(pair, 10)], "default")
    for epsilon in (0.0, 0.5, 1.5):
        lower = composed.log_delta_bounds(epsilon).lower
        assert lower <= exact.log_delta(epsilon).upper
        assert lower >= exact.log_delta(epsilon).lower - 0.05


def test_many_outcomes_are_told_together_and_lose_little() -> None:
    places = np.linspace(-4.0, 4.0, 4001)
    log_p = -0.5 * (places - 0.5) ** 2
    log_q = -0.5 * places**2
    log_p, log_q = (each - np.logaddexp.reduce(each) for each in (log_p, log_q))
    pair = finite_pair(log_p, log_q)
    for epsilon in (0.0, 0.3, 1.0):
        exact = math.log(np.maximum(np.exp(log_p) - math.exp(epsilon) * np.exp(log_q), 0.0).sum())
        assert exact - 1e-2 <= lower_ends(pair, epsilon)[0] <= exact


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "two gaussians"])
@pytest.mark.parametrize("sampling", ["poisson", "without-replacement", "with-replacement"])
@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_no_lower_end_is_zero_where_one_line_gives_an_instance(kind: str, sampling: str, relation: str) -> None:
    mechanism = (
        Repeated(times=2, mechanism=Gaussian(noise_multiplier=1.0)) if kind == "two gaussians" else build(kind, 0.8)
    )
    if kind == "two gaussians" and sampling == "with-replacement":
        pytest.skip("no theorem covers it")
    curve = account(drawn(sampling, mechanism), relation=relation).guarantee.curve  # type: ignore[arg-type]
    found = curve.epsilon(math.log(1e-4))
    assert 0.0 < found.lower <= found.upper

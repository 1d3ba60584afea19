"""Compositions of few outcomes by enumeration, against direct convolution of laws written from their definitions."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.finite_law import FiniteLaw
from epsilond.accountants.curve.pair import Pair, unfold
from epsilond.accountants.engine import outcome_counts
from epsilond.accountants.engine.enumerated_profile import EnumeratedProfile
from epsilond.accountants.engine.enumeration import MOST_KINDS, enumerated_pair
from epsilond.accountants.engine.lattice.composition import compose
from epsilond.accountants.kinds.randomized_response import response_pair
from epsilond.accountants.numerics.special import UNIT_ROUNDOFF
from epsilond.accountants.profiles.amplification import subsample_at
from epsilond.accountants.profiles.geometric import geometric_pair
from tests.oracles.convolution import Law, delta

Masses = dict[int, tuple[mp.mpf, mp.mpf]]
"""Outcome to its masses under both laws."""


def response(epsilon: float, categories: int) -> Masses:
    high = mp.exp(mp.mpf(epsilon)) / (mp.exp(mp.mpf(epsilon)) + categories - 1)
    low = high * mp.exp(-mp.mpf(epsilon))
    return {0: (high, low), 1: (low, high)} | dict.fromkeys(range(2, categories), (low, low))


def noise(decay_rate: float, shift: int, levels: int) -> Masses:
    """Geometric noise cut off at some levels, against its shift."""
    total = mp.fsum(mp.exp(-mp.mpf(decay_rate) * abs(y)) for y in range(-levels, levels + 1))

    def mass(y: int) -> mp.mpf:
        return mp.exp(-mp.mpf(decay_rate) * abs(y)) / total if abs(y) <= levels else mp.mpf(0)

    return {y: (mass(y), mass(y - shift)) for y in range(-levels, levels + shift + 1)}


def drawn(base: Masses, rate: float) -> Masses:
    share = mp.mpf(rate)
    return {outcome: ((1 - share) * q + share * p, q) for outcome, (p, q) in base.items()}


def law_of(masses: Masses, *, backward: bool) -> Law:
    atoms: defaultdict[str, list[mp.mpf]] = defaultdict(list)
    infinite = mp.mpf(0)
    for first, second in masses.values():
        p, q = (second, first) if backward else (first, second)
        if p > 0 and q > 0:
            atoms[mp.nstr(mp.log(p / q), 30)].append(p)
        elif p > 0:
            infinite += p
    return tuple((mp.mpf(loss), mp.fsum(some)) for loss, some in atoms.items()), infinite


CASES = {
    "two categories": (response_pair(0.501, 2), lambda: response(0.501, 2)),
    "five categories": (response_pair(0.7, 5), lambda: response(0.7, 5)),
    "geometric noise": (geometric_pair(0.3, 2), lambda: noise(0.3, 2, 400)),
    "geometric noise cut off": (geometric_pair(0.3, 2, 9), lambda: noise(0.3, 2, 9)),
    "drawn": (subsample_at(geometric_pair(0.8, 1), 0.1), lambda: drawn(noise(0.8, 1, 150), 0.1)),
    "drawn nearly always": (subsample_at(response_pair(2.0, 3), 0.95), lambda: drawn(response(2.0, 3), 0.95)),
    "drawn and cut off": (subsample_at(geometric_pair(0.5, 1, 6), 0.25), lambda: drawn(noise(0.5, 1, 6), 0.25)),
}


def enumerated(pair: Pair, times: int) -> Pair:
    found = enumerated_pair([(pair, times)])
    assert found is not None
    return found


def orders(pair: Pair) -> list[tuple[EnumeratedProfile, bool]]:
    known = [(pair.forward, False), (pair.backward, True)]
    assert all(isinstance(profile, EnumeratedProfile) for profile, _ in known)
    return known


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("times", [2, 13])
@pytest.mark.parametrize("epsilon", [0.0, 0.37, 1.9, 5.0, 11.0])
def test_enumeration_against_direct_convolution(name: str, times: int, epsilon: float) -> None:
    pair, masses = CASES[name]
    for profile, backward in orders(enumerated(pair, times)):
        with mp.workdps(40):
            truth = delta(law_of(masses(), backward=backward), times, epsilon)
            log_truth = float(mp.log(truth)) if truth > 1e-25 else -math.inf
        lower, upper = (float(end[0]) for end in profile.log_delta(np.asarray([epsilon])))
        if math.isinf(log_truth):
            assert lower <= upper < math.log(1e-20)
            continue
        slack = 4 * UNIT_ROUNDOFF * (1 + abs(log_truth))
        assert lower - slack <= log_truth <= upper + slack
        assert upper - lower <= 1e-10 * (1 + abs(log_truth))


@pytest.mark.parametrize("name", CASES)
def test_tails_are_those_of_the_totals(name: str) -> None:
    """Between two totals both tails are sums of masses; a product of pairs has q = p e^{−loss}."""
    pair, masses = CASES[name]
    for profile, backward in orders(enumerated(pair, 5)):
        with mp.workdps(40):
            atoms, infinite = law_of(masses(), backward=backward)
            finite = 1 - (1 - infinite) ** 5
            level = 1e-3
            # δ at two nearby levels gives both tails: it is linear in e^ε between totals.
            here, there = (delta((atoms, infinite), 5, at) for at in (level, level + 1e-6))
            slope = (here - there) / (mp.exp(mp.mpf(level + 1e-6)) - mp.exp(mp.mpf(level)))
            expected_p, expected_q = float(here + slope * mp.exp(level)), float(slope)
        log_p, log_q = (float(tail[0]) for tail in profile.log_tails(np.asarray([level])))
        assert math.exp(log_p) == pytest.approx(expected_p, rel=1e-7)
        assert math.exp(log_q) == pytest.approx(expected_q, rel=1e-7)
        assert math.exp(profile.log_infinite_mass) == pytest.approx(float(finite), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("log_delta", [-2.0, -9.0, -25.0])
def test_the_epsilon_of_an_enumeration_is_certified_on_both_sides(name: str, log_delta: float) -> None:
    pair, masses = CASES[name]
    lower, upper = enumerated(pair, 13).epsilon(log_delta)
    assert 0.0 <= lower <= upper
    with mp.workdps(40):
        laws = [law_of(masses(), backward=backward) for backward in (False, True)]
        target = mp.exp(log_delta)
        if math.isinf(upper):
            assert max(1 - (1 - infinite) ** 13 for _, infinite in laws) > target
            return
        assert max(delta(law, 13, upper) for law in laws) <= target * (1 + mp.mpf(10) ** -13)
        if lower > 0.0:
            assert max(delta(law, 13, lower) for law in laws) >= target * (1 - mp.mpf(10) ** -13)
    assert upper - lower <= 1e-9 * (1.0 + upper)


@pytest.mark.parametrize("name", CASES)
def test_the_lattice_engine_encloses_the_same_truth(name: str) -> None:
    pair, _ = CASES[name]
    by_lattice = compose([(pair, 30)])
    for epsilon in (0.0, 0.8, 4.0):
        mine, other = enumerated(pair, 30).log_delta_bounds(epsilon), by_lattice.log_delta_bounds(epsilon)
        assert mine.lower <= other.upper
        assert other.lower <= mine.upper
        assert mine == other or mine.upper - mine.lower <= 1e-9


def test_different_laws_are_enumerated_together() -> None:
    """Ten reports and three noisy counts; the counts alone are the empty part of a convolution of both."""
    first, second = CASES["two categories"], CASES["geometric noise"]
    together = enumerated_pair([(first[0], 10), (second[0], 3)])
    assert together is not None
    with mp.workdps(30):
        counts = law_of(second[1](), backward=False)[0]
        reports = law_of(first[1](), backward=False)[0]
        steps = [reports] * 10 + [counts] * 3
        sums: dict[str, mp.mpf] = {"0": mp.mpf(1)}
        for atoms in steps:
            merged: defaultdict[str, mp.mpf] = defaultdict(mp.mpf)
            for place, mass in sums.items():
                for loss, weight in atoms:
                    merged[mp.nstr(mp.mpf(place) + loss, 25)] += mass * weight
            sums = merged
        truth = mp.fsum(m * (1 - mp.exp(mp.mpf("1.1") - mp.mpf(s))) for s, m in sums.items() if mp.mpf(s) > 1.1)
        expected = float(mp.log(truth))
    lower, upper = together.log_delta_bounds(1.1)
    assert lower <= expected <= upper
    assert upper - lower <= 1e-11


def test_what_has_too_many_kinds_of_runs_is_left_to_an_engine() -> None:
    pair = response_pair(0.1, 3)
    most = next(times for times in range(1, 1000) if math.comb(times + 2, 2) > MOST_KINDS)
    assert enumerated_pair([(pair, most - 1)]) is not None
    assert enumerated_pair([(pair, most)]) is None
    assert enumerated_pair([(pair, 100), (response_pair(0.2, 3), 100)]) is None
    assert enumerated_pair([(geometric_pair(0.1, 40), 2)]) is None


def test_composing_again_composes_the_parts() -> None:
    pair = response_pair(0.1, 2)
    once = composed_pair([(pair, 5)], "default")
    assert once.parts == ((pair, 5),)
    assert list(unfold([(once, 3), (pair, 1)])) == [(pair, 15), (pair, 1)]
    assert composed_pair([(once, 3), (pair, 1)], "default").log_delta_bounds(0.4) == composed_pair(
        [(pair, 16)], "default"
    ).log_delta_bounds(0.4)


def test_log_factorials_are_within_their_units() -> None:
    """What `enumeration` takes of scipy, for every count that it enumerates."""
    values = gammaln(np.arange(MOST_KINDS + 1) + 1.0)
    with mp.workdps(30):
        total = mp.mpf(0)
        for n in range(2, MOST_KINDS + 1):
            total += mp.log(n)
            assert abs(mp.mpf(float(values[n])) - total) <= 4 * UNIT_ROUNDOFF * total


@given(
    rate=st.one_of(st.floats(1e-12, 1.0 - 1e-12), st.sampled_from([0.5, 1e-3, 1.0 - 1e-9])),
    losses=st.lists(
        st.one_of(st.floats(-400.0, 400.0), st.floats(-1e-6, 1e-6)).filter(lambda loss: not 0 < abs(loss) < 1e-280),
        min_size=1,
        max_size=4,
    ),
)
def test_mixing_keeps_its_stated_accuracy(rate: float, losses: list[float]) -> None:
    law = FiniteLaw(tuple(losses), tuple(losses), (0.0,) * len(losses), accuracy=0.0)
    mixed = law.mix(rate, float(1 - Fraction(rate)))
    assert mixed is not None
    with mp.workdps(400):
        for loss, found, mass in zip(losses, mixed.losses, mixed.log_first, strict=True):
            truth = mp.log(1 - mp.mpf(rate) + mp.mpf(rate) * mp.exp(mp.mpf(loss)))
            assert abs(found - truth) <= mixed.accuracy * abs(truth)
            assert abs(mass - truth) <= mixed.accuracy * (1 + abs(truth))


@pytest.mark.parametrize("rate", [1e-12, 1e-4, 0.3, 1.0 - 1e-9])
def test_what_only_one_law_can_give_is_mixed_exactly(rate: float) -> None:
    """Noise that is cut off: an outcome of the second law alone becomes one of loss log(1 − q), of the first none."""
    base = geometric_pair(0.5, 2, 5).atoms
    assert base is not None
    mixed = base.mix(rate, float(1 - Fraction(rate)))
    assert mixed is not None
    with mp.workdps(40):
        expected = mp.log(1 - mp.mpf(rate))
        assert abs(mixed.losses[-1] - expected) <= mixed.accuracy * abs(expected)
        masses = drawn(noise(0.5, 2, 5), rate)
        alone = mp.fsum(q for p, q in noise(0.5, 2, 5).values() if p == 0)
        assert abs(mixed.log_second[-1] - mp.log(alone)) <= mixed.accuracy * (1 - mp.log(alone))
        infinite = mp.log(mp.fsum(p for p, q in masses.values() if q == 0))
        assert abs(mixed.log_infinite - infinite) <= mixed.accuracy * (1 - infinite)
    assert math.isinf(mixed.log_missing)


@pytest.mark.parametrize(("epsilon", "categories", "times"), [(30.0, 10**6, 5), (5.0, 2, 12), (2.0, 3, 40)])
def test_one_minus_delta_keeps_its_digits_where_delta_is_near_one(epsilon: float, categories: int, times: int) -> None:
    with mp.workdps(60):
        high = mp.exp(mp.mpf(epsilon)) / (mp.exp(mp.mpf(epsilon)) + categories - 1)
        low = high * mp.exp(-mp.mpf(epsilon))
        atoms = ((mp.mpf(epsilon), high), (-mp.mpf(epsilon), low), (mp.mpf(0), (categories - 2) * low))
        log_truth = mp.log(delta((atoms, mp.mpf(0)), times, 1.0))
        lower, upper = enumerated(response_pair(epsilon, categories), times).log_delta_bounds(1.0)
        assert lower <= log_truth <= upper
        assert upper - lower <= -1e-9 * log_truth


@pytest.mark.parametrize(("epsilon", "categories", "times"), [(1.0, 2, 10), (0.01, 3, 6), (4.0, 2, 300)])
def test_one_epsilon_without_arrays_is_as_one_of_an_array(epsilon: float, categories: int, times: int) -> None:
    pair = enumerated_pair([(response_pair(epsilon, categories), times)])
    assert pair is not None
    for at in (0.0, 1e-9, 0.3 * epsilon, 0.5 * times * epsilon, times * epsilon, 2.0 * times * epsilon):
        alone, among = pair.log_delta_bounds(at), pair.log_delta(np.asarray([at]))
        for one, other in zip(alone, among, strict=True):
            assert one == pytest.approx(float(other[0]), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 1e-15, 0.2, 1.9])
def test_one_epsilon_without_arrays_encloses(epsilon: float) -> None:
    pair = enumerated_pair([(response_pair(0.4, 3), 5)])
    assert pair is not None
    with mp.workdps(40):
        exact = mp.log(delta(law_of(response(0.4, 3), backward=False), 5, epsilon))
    assert pair.log_delta_bounds(epsilon).lower <= exact <= pair.log_delta_bounds(epsilon).upper
    assert pair.log_delta_bounds(epsilon).upper - pair.log_delta_bounds(epsilon).lower < 1e-12


def test_counts_that_are_kept_are_those_that_are_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def totals() -> tuple[list[float], list[float]]:
        pair = enumerated_pair([(response_pair(1.3, 3), 9), (response_pair(0.7, 2), 4)])
        assert pair is not None
        assert isinstance(pair.forward, EnumeratedProfile)
        return pair.forward.total_losses.tolist(), pair.forward.log_masses.tolist()

    kept = totals()
    monkeypatch.setattr(outcome_counts, "_MOST_STORED_ENTRIES", 0)
    assert totals() == kept

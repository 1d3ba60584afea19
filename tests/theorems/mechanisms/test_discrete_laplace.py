"""Geometric noise, whole and cut off, against sums over its support in 40 digits and against exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.composition.product import composed_pair
from epsilond.accountants.curve.pair import Pair
from epsilond.accountants.errors import InvalidInput
from epsilond.accountants.profiles.amplification import subsample_at
from epsilond.accountants.profiles.atoms import AtomicProfile
from epsilond.accountants.profiles.geometric import GeometricProfile, geometric_pair
from epsilond.accountants.specs import DiscreteLaplace, Repeated, Subsampled
from tests.oracles.enclosure import encloses, log_of
from tests.oracles.finite import hockey_stick, joint, mixture, truncated_laplace

RATES = (1e-9, 0.03, 0.7, 4.0)


def definition(rate: float, shift: int, levels: int, epsilon: float) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """δ, P(L > ε) and Q(L > ε) by summing over the support."""
    with mp.workdps(40):
        a, gamma = mp.mpf(rate), mp.e ** mp.mpf(epsilon)
        total = mp.fsum(mp.e ** (-a * abs(y)) for y in range(-levels, levels + 1))
        delta = first = second = mp.mpf(0)
        for y in range(-levels, levels + 1):
            p = mp.e ** (-a * abs(y)) / total
            common = abs(y - shift) <= levels
            q = mp.e ** (-a * abs(y - shift)) / total if common else mp.mpf(0)
            delta += max(p - gamma * q, 0)
            if not common or a * (abs(y - shift) - abs(y)) > mp.mpf(epsilon):
                first, second = first + p, second + q
        return delta, first, second


@pytest.mark.parametrize(("levels", "shift"), [(1, 1), (5, 2), (5, 5), (5, 6), (5, 10), (5, 11), (9, 4), (3, 40)])
def test_cut_off_noise_is_the_sum_over_its_support(levels: int, shift: int) -> None:
    for rate, share in itertools.product(RATES, (0.0, 0.13, 0.51, 0.99, 1.2)):
        epsilon = share * rate * shift
        profile = GeometricProfile(rate, shift, levels)
        delta, first, second = definition(rate, shift, levels, epsilon)
        assert encloses(profile, epsilon, delta)
        tails = profile.log_tails(np.asarray([epsilon]))
        for ours, truth in ((tails.log_p[0], first), (tails.log_q[0], second)):
            assert ours == pytest.approx(
                log_of(truth), abs=profile.tail_accuracy * (1 + abs(log_of(truth))) + 1e-15
            ) or (math.isinf(ours) and truth == 0)


@pytest.mark.parametrize(("rate", "shift"), [(0.3, 1), (0.3, 7), (2.0, 4), (0.05, 30)])
def test_whole_noise_is_the_limit(rate: float, shift: int) -> None:
    levels = shift + int(90 / rate)
    for share in (0.0, 0.4, 0.97):
        epsilon = share * rate * shift
        assert encloses(GeometricProfile(rate, shift), epsilon, definition(rate, shift, levels, epsilon)[0])
    assert np.isneginf(GeometricProfile(rate, shift).log_delta(np.asarray([rate * shift * (1 + 1e-14)])).upper).all()


def test_the_closed_form_is_the_list_of_its_atoms() -> None:
    rate, shift, levels = 0.2, 9, 25
    weights = np.exp(-rate * np.abs(np.arange(-levels, levels + 1)))
    law = dict(zip(range(-levels, levels + 1), weights / weights.sum(), strict=True))
    masses: dict[int, float] = {}
    for y, weight in law.items():
        if abs(y - shift) <= levels:
            masses[min(max(y, 0), shift)] = masses.get(min(max(y, 0), shift), 0.0) + weight
    atoms = sorted((rate * (shift - 2 * c), math.log(weight)) for c, weight in masses.items())
    escaped = math.log(sum(weight for y, weight in law.items() if abs(y - shift) > levels))
    listed = AtomicProfile(tuple(a for a, _ in atoms), tuple(w for _, w in atoms), escaped)
    at = np.linspace(0, 2.2, 200)
    closed = GeometricProfile(rate, shift, levels)
    assert np.allclose(listed.log_delta(at).upper, closed.log_delta(at).upper, rtol=1e-12)
    assert np.allclose(listed.log_tails(at).log_p, closed.log_tails(at).log_p, rtol=1e-12)
    assert np.allclose(listed.log_tails(at).log_q[:-40], closed.log_tails(at).log_q[:-40], rtol=1e-12)


def test_size_costs_nothing() -> None:
    huge = GeometricProfile(2.3e-9, 128, 295_741_987_601_114)
    assert huge.log_infinite_mass == pytest.approx(-680223.9, rel=1e-4)
    # So fine a lattice is Laplace noise: 1 − e^{(ε − 10)/2}.
    fine = GeometricProfile(1e-12, 10**13, 10**15).log_delta(np.asarray([5.0, 9.99]))
    assert np.exp(fine.upper) == pytest.approx([-math.expm1(-2.5), -math.expm1(-0.005)], rel=1e-9)


def test_a_release_is_tight_and_its_sensitivity_is_for_the_relation_asked() -> None:
    spec = DiscreteLaplace(decay_rate=0.5, sensitivity=3)
    curves = [account(spec, relation=r).guarantee.curve for r in ("replace-one", "add-or-remove-one", "zero-out-one")]  # type: ignore[arg-type]
    assert all(curve.tight and curve.log_delta(0.7) == curves[0].log_delta(0.7) for curve in curves)
    assert curves[0].epsilon(-1e5).upper == pytest.approx(1.5)


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(3, 2), Fraction(5, 2), Fraction(7)])
def test_three_releases_by_enumeration(gamma: Fraction) -> None:
    decay, levels, shift = Fraction(1, 2), 4, 2
    p, q = truncated_laplace(decay, levels), truncated_laplace(decay, levels, shift)
    one = GeometricProfile(math.log(2.0), shift, levels)
    assert encloses(one, math.log(gamma), hockey_stick(p, q, gamma))
    pair = composed_pair([(Pair(one, one), 3)], "default")
    truth = hockey_stick(joint([p] * 3), joint([q] * 3), gamma)
    assert encloses(pair.forward, math.log(gamma), truth, width=1e-4)


def test_one_axis_is_worst_for_integers_too() -> None:
    decay, levels = Fraction(2, 3), 3
    laws = [truncated_laplace(decay, levels, k) for k in range(5)]
    for gamma in (Fraction(1), Fraction(4, 3), Fraction(2), Fraction(4)):
        split = {k: hockey_stick(joint([laws[0], laws[0]]), joint([laws[k], laws[4 - k]]), gamma) for k in range(5)}
        assert split[0] >= split[1] >= split[2]
        assert split[0] == split[4]


def test_poisson_batches_by_enumeration() -> None:
    rate, gamma = Fraction(1, 5), Fraction(6, 5)
    without, with_record = truncated_laplace(Fraction(1, 2), 6), truncated_laplace(Fraction(1, 2), 6, 2)
    mixed = mixture([1 - rate, rate], [without, with_record])
    pair = subsample_at(geometric_pair(math.log(2.0), 2, 6), 0.2)
    assert encloses(pair.forward, math.log(gamma), hockey_stick(mixed, without, gamma))
    assert encloses(pair.backward, math.log(gamma), hockey_stick(without, mixed, gamma))


def test_numbers_given_for_one_relation_are_not_used_for_another() -> None:
    base = DiscreteLaplace(decay_rate=0.5, sensitivity=1)
    fixed = Subsampled(sampling="without-replacement", batch_size=2, population=9, mechanism=base)
    assert account(fixed, relation="replace-one").guarantee.tight == "witnessed"
    poisson = Subsampled(sampling="poisson", rate=0.1, mechanism=base)
    for spec, relation in ((fixed, "zero-out-one"), (poisson, "replace-one"), (poisson, "zero-out-one")):
        guarantee = account(spec, relation=relation).guarantee  # type: ignore[arg-type]
        assert guarantee.theorems()[0] == "epsilond.drawn-or-not"
        own = account(base, relation=relation).guarantee.curve.log_delta(0.2).upper  # type: ignore[arg-type]
        rate = math.log(spec.inclusion_probability)
        assert guarantee.curve.log_delta(0.2).upper == pytest.approx(own + rate, abs=1e-12)


def test_a_million_releases_cost_what_one_does() -> None:
    spec = Repeated(times=10**6, mechanism=DiscreteLaplace(decay_rate=1e-3, sensitivity=1))
    known = account(spec, relation="replace-one").guarantee.curve.log_delta(4.0)
    assert known.lower == pytest.approx(known.upper, rel=1e-3)


@pytest.mark.parametrize(
    "fields",
    [
        {"decay_rate": 0.0, "sensitivity": 1},
        {"decay_rate": 1.0, "sensitivity": 0},
        {"decay_rate": 1.0, "sensitivity": 1.5},
    ],
)
def test_noise_that_no_run_can_have(fields: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        DiscreteLaplace(**fields)  # type: ignore[arg-type]

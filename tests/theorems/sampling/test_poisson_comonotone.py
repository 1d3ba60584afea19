"""Poisson batches under replace-one from removal and replacement together: no contributions are worse than opposite ones."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.profiles.geometric import GeometricProfile
from epsilond.accountants.profiles.laplace import opposite_laplace_pair
from epsilond.accountants.specs import Composed, Gaussian, Laplace, Repeated, Subsampled
from tests.oracles.enclosure import log_of
from tests.oracles.finite import Law, hockey_stick, joint, mixture, truncated_laplace
from tests.theorems.sampling.test_batch_instances import density, divergence

RATE = Fraction(1, 5)
DECAY, LEVELS = Fraction(1, 2), 5


def moved(contribution: tuple[int, ...]) -> Law:
    return joint([truncated_laplace(DECAY, LEVELS, each) for each in contribution])


def release(contribution: tuple[int, ...]) -> Law:
    """The record's contribution drawn or not, noise of P(y) ∝ 2^−|y| on each coordinate."""
    return mixture([1 - RATE, RATE], [moved((0,) * len(contribution)), moved(contribution)])


BALL = [each for each in itertools.product(range(-2, 3), repeat=2) if sum(map(abs, each)) <= 2]


@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(6, 5), Fraction(3, 2), Fraction(19, 10)])
def test_in_two_dimensions_no_pair_within_the_l1_ball_is_worse(gamma: Fraction) -> None:
    """All pairs of integer contributions of ℓ1 norm at most 2, enumerated; the noise is log-concave, as the proof asks."""
    worst = hockey_stick(release((2, 0)), release((-2, 0)), gamma)
    for ours, theirs in itertools.combinations(BALL, 2):
        assert hockey_stick(release(ours), release(theirs), gamma) <= worst
        assert hockey_stick(release(theirs), release(ours), gamma) <= worst


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.25])
def test_on_a_line_no_pair_of_laplace_contributions_is_worse(epsilon: float) -> None:
    curve = account(
        Subsampled(sampling="poisson", rate=0.2, mechanism=Laplace(scale_multiplier=1.0)), relation="replace-one"
    ).guarantee.curve
    upper = curve.log_delta(epsilon).upper
    with mp.workdps(20):
        for ours, theirs in itertools.permutations((-1.0, -0.4, 0.0, 0.5, 1.0), 2):
            p, q = (density("laplace", (0.8, 0.2), (0, each)) for each in (ours, theirs))
            exact = divergence(p, q, epsilon, sorted({0.0, ours, theirs}))
            if exact > 1e-15:
                assert float(mp.log(exact)) <= upper + 1e-9
        attained = divergence(
            density("laplace", (0.8, 0.2), (0, 1)), density("laplace", (0.8, 0.2), (0, -1)), epsilon, (-1, 0, 1)
        )
        assert float(mp.log(attained)) == pytest.approx(upper, abs=1e-9)


@pytest.mark.parametrize("relation", ["replace-one"])
def test_a_laplace_batch_is_known_exactly_and_composes(relation: str) -> None:
    batch = Subsampled(sampling="poisson", rate=0.1, mechanism=Laplace(scale_multiplier=0.7))
    guarantee = account(batch, relation=relation).guarantee  # type: ignore[arg-type]
    assert guarantee.tight == "proved"
    assert guarantee.theorems()[0] == "epsilond.poisson-replace-one-comonotone"
    ten = account(Repeated(times=10, mechanism=batch), relation=relation).guarantee.curve.epsilon(math.log(1e-6))  # type: ignore[arg-type]
    assert ten.upper * (1 - 1e-3) < ten.lower <= ten.upper


def test_it_is_below_the_bound_by_convexity_that_stood_before() -> None:
    """q δ(log(1 + (e^ε' − 1)/q)) with the whole replacement's profile."""
    from epsilond.accountants.profiles.amplification import AmplifiedProfile
    from epsilond.accountants.profiles.laplace import LaplaceProfile

    pair, before = opposite_laplace_pair(0.1, 1.0), AmplifiedProfile(LaplaceProfile(2.0), 0.1)
    for epsilon in (0.01, 0.1, 0.2):
        at = np.asarray([epsilon])
        assert pair.forward.log_delta(at).upper[0] < before.log_delta(at).lower[0]


def test_a_run_of_gaussian_releases_is_as_one() -> None:
    run = Composed(
        mechanisms=(Repeated(times=3, mechanism=Gaussian(noise_multiplier=2.0)), Gaussian(noise_multiplier=4.0))
    )
    one = Gaussian(noise_multiplier=1.0 / math.sqrt(3 / 4 + 1 / 16))
    curves = [
        account(Subsampled(sampling="poisson", rate=0.01, mechanism=each), relation="replace-one").guarantee.curve
        for each in (run, one)
    ]
    for epsilon in (0.02, 0.5):
        several, single = (curve.log_delta(epsilon) for curve in curves)
        assert several.upper >= single.lower
        assert several.upper == pytest.approx(single.upper, abs=1e-9)
        assert several.lower == pytest.approx(single.upper, abs=1e-9)


def test_what_mixes_noises_keeps_the_bound_by_convexity() -> None:
    mixed = Composed(mechanisms=(Gaussian(noise_multiplier=2.0), Laplace(scale_multiplier=3.0)))
    guarantee = account(Subsampled(sampling="poisson", rate=0.01, mechanism=mixed), relation="replace-one").guarantee
    assert guarantee.theorems()[0] == "epsilond.poisson-replace-one-by-convexity"


def test_the_geometric_analogue_is_its_own_symmetric_pair() -> None:
    """Both ratios rise together along the line: the sum over thresholds is the divergence itself."""
    gamma = Fraction(6, 5)
    inner = 1 + (gamma - 1) / RATE
    beta = gamma / inner
    zero, there, away = (truncated_laplace(DECAY, LEVELS, each) for each in (0, 2, -2))
    blended = mixture([1 - beta, beta], [zero, away])
    direct = hockey_stick(release((2,)), release((-2,)), gamma)
    flat = {(y,): w for y, w in blended.items()}
    assert direct == RATE * hockey_stick({(y,): w for y, w in there.items()}, flat, inner)
    assert log_of(direct) < float(
        GeometricProfile(math.log(2.0), 4, LEVELS).log_delta(np.asarray([math.log(inner)])).upper[0]
    ) + math.log(RATE)

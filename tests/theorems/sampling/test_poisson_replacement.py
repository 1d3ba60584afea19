"""Poisson batches under replace-one, by enumerating batches and outputs of small mechanisms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from epsilond.accountants.account import account
from epsilond.accountants.errors import ConditionViolated
from epsilond.accountants.profiles.amplification import AmplifiedProfile
from epsilond.accountants.profiles.geometric import GeometricProfile
from epsilond.accountants.quantities import Relation
from epsilond.accountants.specs import (
    Approximate,
    Composed,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Repeated,
    Subsampled,
)
from epsilond.accountants.theorems.sampling.poisson_replacement import CONVEXITY
from tests.oracles.enclosure import log_of
from tests.oracles.finite import Law, hockey_stick, mixture, truncated_laplace

RATE = Fraction(1, 5)


def release(contributions: tuple[int, ...]) -> Law:
    """Noise of P(y) ∝ 2^−|y| on |y| ≤ 9 added to the sum of a Poisson batch of the contributions."""
    weights, laws = [], []
    for drawn in itertools.product((0, 1), repeat=len(contributions)):
        taken = sum(drawn)
        weights.append(RATE**taken * (1 - RATE) ** (len(drawn) - taken))
        laws.append(truncated_laplace(Fraction(1, 2), 9, sum(d * c for d, c in zip(drawn, contributions, strict=True))))
    return mixture(weights, laws)


@pytest.mark.parametrize("others", [(), (1,), (-1, 1), (1, 1, 1)])
@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(6, 5), Fraction(8, 5)])
def test_no_pair_of_contributions_exceeds_the_bound(others: tuple[int, ...], gamma: Fraction) -> None:
    """Contributions in {−1, 0, 1}: replacing moves by 2 at most, and removing by less."""
    bound = AmplifiedProfile(GeometricProfile(math.log(2.0), 2, 9), float(RATE))
    upper = float(bound.log_delta(np.asarray([math.log(gamma)])).upper[0])
    for ours, theirs in itertools.product((-1, 0, 1), repeat=2):
        truth = hockey_stick(release((*others, ours)), release((*others, theirs)), gamma)
        assert log_of(truth) <= upper + 1e-12


def test_where_removing_does_more_the_bound_would_be_false() -> None:
    """Contributions in {8, 9}: replacing moves by one, removing by nine. Hence the refusal."""
    gamma = Fraction(6, 5)
    truth = hockey_stick(release((8,)), release((9,)), gamma)
    bound = AmplifiedProfile(GeometricProfile(math.log(2.0), 1, 9), float(RATE))
    assert log_of(truth) > float(bound.log_delta(np.asarray([math.log(gamma)])).upper[0])


@pytest.mark.parametrize(
    "base",
    [
        DiscreteLaplace(decay_rate=1.0, sensitivity=1),
        Approximate(epsilon=1.0, delta=1e-6),
        Composed(mechanisms=(Laplace(scale_multiplier=1.0), DiscreteLaplace(decay_rate=1.0, sensitivity=1))),
    ],
)
def test_bases_whose_removal_is_no_replacement_are_thinned(base: object) -> None:
    spec = Subsampled(sampling="poisson", rate=0.1, level="records", mechanism=base)  # type: ignore[arg-type]
    accounted = account(spec, relation="replace-one")
    assert accounted.guarantee.theorems()[0] == "epsilond.drawn-or-not"
    reasons = {one.theorem: one.reason for one in accounted.considered}
    assert reasons[CONVEXITY.id] == "removing a record may do more than replacing it, and nothing bounds it here"
    for epsilon in (0.0, 0.5):
        own = account(base, relation="replace-one").guarantee.curve.log_delta(epsilon).upper
        assert accounted.guarantee.curve.log_delta(epsilon).upper == pytest.approx(own + math.log(0.1), abs=1e-9)


@pytest.mark.parametrize("relation", ["replace-one", "zero-out-one"])
def test_a_fixed_number_cannot_be_drawn_from_a_batch_of_random_size(relation: Relation) -> None:
    inner = Subsampled(
        sampling="without-replacement",
        batch_size=1,
        population=5,
        level="records",
        mechanism=Laplace(scale_multiplier=1.0),
    )
    for base in (inner, Composed(mechanisms=(inner, inner))):
        spec = Subsampled(sampling="poisson", rate=0.1, level="records", mechanism=base)
        with pytest.raises(ConditionViolated, match="the number drawn is random"):
            account(spec, relation=relation)


def test_several_releases_of_a_batch() -> None:
    base = Composed(
        mechanisms=(Repeated(times=2, mechanism=Gaussian(noise_multiplier=3.0)), Laplace(scale_multiplier=9.0))
    )
    spec = Subsampled(sampling="poisson", rate=0.1, mechanism=base)
    guarantee = account(spec, relation="replace-one").guarantee
    inside = account(base, relation="replace-one").guarantee.curve
    epsilon = 0.05
    inner = math.log1p(math.expm1(epsilon) / 0.1)
    assert guarantee.curve.log_delta(epsilon).upper == pytest.approx(
        inside.log_delta(inner).upper + math.log(0.1), abs=1e-9
    )
    assert "epsilond.poisson-replace-one-by-convexity" in guarantee.theorems()


def test_the_gaussian_keeps_its_own_pair() -> None:
    spec = Subsampled(sampling="poisson", rate=0.1, mechanism=Gaussian(noise_multiplier=1.0))
    assert account(spec, relation="replace-one").guarantee.theorems()[0] == "epsilond.poisson-replace-one"

"""Sampling with replacement: many groups and mixtures evaluated at once, against sums written from the definition."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import epsilond
from epsilond.accountants.profiles.gaussian import GaussianProfile
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture, mixture_pair
from epsilond.accountants.profiles.weighted_groups import (
    GaussianGroups,
    MultiplicityProfile,
    SeparateGroups,
)
from epsilond.accountants.theorems.sampling.multiplicities import multiplicities

EPSILONS = np.asarray([0.0, 1e-3, 0.4, 2.0, 9.0, 40.0])


def test_gaussian_groups_answer_as_their_profiles_do() -> None:
    mus = (0.02, 0.3, 1.0, 7.0)
    together, apart = GaussianGroups(mus), SeparateGroups(tuple(GaussianProfile(mu) for mu in mus))
    assert together.tail_accuracy == apart.tail_accuracy
    for name in ("lower_log_delta", "upper_log_delta"):
        assert np.array_equal(getattr(together, name)(EPSILONS), getattr(apart, name)(EPSILONS))
    for first, second in zip(together.log_tails(EPSILONS), apart.log_tails(EPSILONS), strict=True):
        assert np.array_equal(first, second)


@pytest.mark.parametrize(("draws", "population", "shift"), [(3, 5, 0.7), (40, 100, 0.25), (443, 1238, 0.2667)])
def test_the_weighted_sum_encloses_the_definition(draws: int, population: int, shift: float) -> None:
    drawn = multiplicities(draws, population, single_groups=draws + 1)
    assert drawn is not None
    assert drawn.least == drawn.most  # every multiplicity by itself, so that the sum is the theorem's
    groups = GaussianGroups(tuple(times * shift for times in drawn.most))
    ends = MultiplicityProfile(groups, drawn.log_weights, drawn.rate, drawn.accuracy).log_delta(EPSILONS)
    with mp.workdps(60):
        share = 1 - (1 - mp.mpf(1) / population) ** draws
        for place, epsilon in enumerate(EPSILONS.tolist()):
            inner = mp.log(1 + mp.expm1(mp.mpf(epsilon)) / share)
            truth = mp.fsum(
                mp.binomial(draws, k)
                * mp.mpf(population - 1) ** (draws - k)
                / mp.mpf(population) ** draws
                * _theta(inner, k * mp.mpf(shift))
                for k in range(1, draws + 1)
            )
            assert ends.lower[place] <= mp.log(truth) <= ends.upper[place] + 1e-300
            assert ends.upper[place] - ends.lower[place] < 1e-10 * (1.0 + abs(ends.upper[place]))


def _theta(epsilon: mp.mpf, mu: mp.mpf) -> mp.mpf:
    middle = epsilon / mu
    return mp.ncdf(mu / 2 - middle) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - middle)


@pytest.mark.parametrize("means", [(0.0, 1.0), (0.0, 0.1, 0.2, 0.3), (0.0, 2.0, 30.0)])
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mixture_is_cut_where_its_loss_is_epsilon(means: tuple[float, ...], *, mirrored: bool) -> None:
    weights = tuple(
        math.log(each) for each in np.linspace(1.0, 0.2, len(means)) / np.linspace(1.0, 0.2, len(means)).sum()
    )
    p = LineMixture(weights, means)
    q = LineMixture(weights, tuple(-mean for mean in means)) if mirrored else LineMixture((0.0,), (0.0,))
    for profile in mixture_pair(p, q).directions():
        tails, ends = profile.log_tails(EPSILONS), profile.log_delta(EPSILONS)
        for place, epsilon in enumerate(EPSILONS.tolist()):
            first, second = _cut(profile.p, profile.q, profile.side, epsilon)  # type: ignore[attr-defined]
            if first == 0:
                continue
            for found, truth in ((tails.log_p[place], first), (tails.log_q[place], second)):
                assert float(mp.log(truth)) == pytest.approx(found, abs=4 * profile.tail_accuracy * (1.0 + abs(found)))
            with mp.workdps(60):
                delta = first - mp.exp(epsilon) * second
            assert ends.lower[place] <= mp.log(delta) <= ends.upper[place]


def _cut(p: LineMixture, q: LineMixture, side: int, epsilon: float) -> tuple[mp.mpf, mp.mpf]:
    """Masses of {log P/Q > ε}, a half-line found by bisection; none where the loss never reaches ε within 60."""
    with mp.workdps(60):

        def density(mixture: LineMixture, x: mp.mpf) -> mp.mpf:
            return mp.fsum(
                mp.exp(weight) * mp.npdf(x - mean)
                for weight, mean in zip(mixture.log_weights, mixture.means, strict=True)
            )

        def rises(x: mp.mpf) -> bool:
            return bool(mp.log(density(p, x) / density(q, x)) > epsilon)

        low, high = mp.mpf(-60 * side), mp.mpf((60 + max(*p.means, *q.means)) * side)
        if not rises(high):
            return mp.mpf(0), mp.mpf(0)
        for _ in range(170):
            middle = (low + high) / 2
            low, high = (low, middle) if rises(middle) else (middle, high)
        return tuple(  # type: ignore[return-value]
            mp.fsum(
                mp.exp(weight) * mp.ncdf(-side * (low - mean))
                for weight, mean in zip(mixture.log_weights, mixture.means, strict=True)
            )
            for mixture in (p, q)
        )


def test_neighbours_told_apart_nearly_for_certain_have_rates_that_follow_from_the_advantage() -> None:
    """Drawn a thousand times on average, a record moves the release by 200 deviations."""
    drawn = {"kind": "subsampled", "sampling": "with-replacement", "batch_size": 10**6, "population": 1000}
    spec = {"kind": "repeated", "times": 2, "mechanism": {**drawn, "mechanism": _gaussian(10.0)}}
    meaning = epsilond.account(spec, relation="replace-one", delta=1e-6, unit="record", observer="server").meaning
    assert 1.0 - 1e-6 <= meaning.advantage.lower <= meaning.advantage.upper == 1.0
    for rate in meaning.true_positive_rates:
        assert meaning.advantage.lower <= rate.true_positive_rate.lower <= rate.true_positive_rate.upper == 1.0


@pytest.mark.parametrize("times", [10, 10**9])
def test_what_a_witness_realises_stays_below_the_bound_and_is_certified(times: int) -> None:
    """Both ends are read again where they were found, and stand on their sides of the target."""
    drawn = {"kind": "subsampled", "sampling": "with-replacement", "batch_size": 100, "population": 1000}
    spec = {"kind": "repeated", "times": times, "mechanism": {**drawn, "mechanism": _gaussian(1.0)}}
    curve = epsilond.account(spec, relation="replace-one", delta=1e-6, unit="record", observer="server").guarantee.curve
    found = curve.epsilon(delta=1e-6)
    assert 0.0 < found.lower < found.upper < 2.0 * found.lower
    assert curve.log10_delta(epsilon=found.upper).upper <= -6.0 + 1e-12
    assert curve.log10_delta(epsilon=found.lower).lower >= -6.0 - 1e-3


def _gaussian(multiplier: float) -> dict[str, object]:
    return {"kind": "gaussian", "noise_multiplier": multiplier}

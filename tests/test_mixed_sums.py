"""Sums of many terms of which few matter, against sums of all of them in multiple precision."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from epsilond.accountants.numerics.mixed_sums import blocks_of, log_sums, windows
from epsilond.accountants.profiles.gaussian_mixtures import LineMixture
from epsilond.accountants.profiles.weighted_groups import GaussianGroups, MultiplicityProfile
from epsilond.accountants.theorems.sampling.multiplicities import multiplicities

POINTS = 3000
SHARPNESS = {"few matter": 3.0, "all matter": 1e-3}
SEED = 7


def _mixture(spacing: float) -> LineMixture:
    """Forty components, weighted as a record's multiplicities are."""
    drawn = multiplicities(4000, 1000)
    assert drawn is not None
    weights = drawn.log_weights[:40]
    return LineMixture(weights, tuple(spacing * count for count in drawn.most[:40]))


@pytest.mark.parametrize("spacing", SHARPNESS.values(), ids=SHARPNESS)
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("mixed_up", [False, True], ids=["rising", "in no order"])
def test_a_tail_is_the_sum_of_all_components(spacing: float, side: int, mixed_up: bool) -> None:
    mixture = _mixture(spacing)
    x = np.linspace(-40.0, max(mixture.means) + 40.0, POINTS)
    if mixed_up:
        np.random.default_rng(SEED).shuffle(x)
    found = mixture.log_tail(x, side=side)
    for place in range(0, POINTS, 97):
        with mp.workdps(40):
            truth = mp.log(
                mp.fsum(
                    mp.exp(mp.mpf(weight)) * mp.ncdf(-side * (mp.mpf(float(x[place])) - mp.mpf(mean)))
                    for weight, mean in zip(mixture.log_weights, mixture.means, strict=True)
                )
            )
        assert found[place] == pytest.approx(float(truth), abs=1e-13 * (1.0 + abs(float(truth))))


@pytest.mark.parametrize("spacing", SHARPNESS.values(), ids=SHARPNESS)
def test_a_ratio_and_its_slope_are_those_of_all_components(spacing: float) -> None:
    mixture = _mixture(spacing)
    x = np.linspace(-40.0, max(mixture.means) + 40.0, POINTS)
    values, slopes = mixture.log_density_ratio_and_slope(x)
    assert values == pytest.approx(mixture.log_density_ratio(x), rel=1e-14, abs=1e-13)
    means, weights = np.asarray(mixture.means)[:, None], np.asarray(mixture.log_weights)[:, None]
    shares = np.exp(weights + means * (x - 0.5 * means) - values)
    assert slopes == pytest.approx((shares * means).sum(axis=0), rel=1e-11, abs=1e-13)


def test_a_weighted_sum_of_groups_is_the_same_at_many_points_as_at_one() -> None:
    drawn = multiplicities(10**6, 1000)
    assert drawn is not None
    groups = GaussianGroups(tuple(0.2 * count for count in drawn.most))
    profile = MultiplicityProfile(groups, drawn.log_weights, drawn.rate, drawn.accuracy)
    epsilon = np.concatenate(([0.0], np.geomspace(1e-3, 5e4, POINTS)))
    together = profile.log_tails(epsilon)
    for place in range(0, POINTS, 41):
        alone = profile.log_tails(epsilon[place : place + 1])
        for many, one in zip(together, alone, strict=True):
            assert many[place] == pytest.approx(one[0], abs=1e-15 * (1.0 + abs(one[0])))


def test_every_point_has_a_window_with_its_largest_term() -> None:
    generator = np.random.default_rng(SEED)
    x = generator.normal(size=2000)
    slopes, starts = generator.normal(size=(2, 50)) * 100.0
    blocks = blocks_of(50, x)
    assert blocks is not None
    terms = starts[:, None] + slopes[:, None] * x
    ends = tuple(starts[:, None] + slopes[:, None] * at for at in (blocks.least, blocks.largest))
    found = np.full(x.size, np.nan)
    for points, chosen in windows(blocks, (ends[0], ends[1])):
        found[points] = log_sums(terms[chosen, points])
    assert found == pytest.approx(np.logaddexp.reduce(terms, axis=0), abs=1e-13 * float(np.abs(terms).max()))


def test_a_sum_of_nothing_is_nothing() -> None:
    assert np.isneginf(log_sums(np.full((3, 2), -np.inf))).all()

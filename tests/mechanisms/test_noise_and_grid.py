"""Continuous noise, binomial noise, randomized response, and snapping to a grid."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from epsilond.accountants.errors import InvalidInput
from epsilond.mechanisms.binomial import centred_binomial
from epsilond.mechanisms.clipping import clip
from epsilond.mechanisms.continuous import gaussian, laplace
from epsilond.mechanisms.grid import ROUNDINGS, norm_in_steps, snap
from epsilond.mechanisms.randomness import secure, seeded
from epsilond.mechanisms.responses import _truth_or_lie, randomized_response

ONE = 1 << 64


def test_continuous_noise_has_its_law_and_its_scale(fixed_urandom):
    fixed_urandom(8)
    assert stats.kstest(gaussian(3.0, (50000,)) / 3.0, "norm").pvalue > 1e-3
    assert stats.kstest(laplace(0.25, (50000,)) / 0.25, "laplace").pvalue > 1e-3


def test_extreme_words_give_finite_laplace_noise(scripted):
    drawn = laplace(1.0, (4,), scripted(0, 1, ONE - 1, ONE - 2))
    assert drawn[:2] == pytest.approx([64 * math.log(2), -64 * math.log(2)])
    assert drawn[2:] == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("trials", [2, 6, 64, 130])
def test_binomial_counts_follow_the_law(fixed_urandom, trials):
    fixed_urandom(trials)
    drawn = centred_binomial(trials, (40000,))
    expected = stats.binom(trials, 0.5).pmf(np.arange(trials + 1)) * drawn.size
    counts = np.bincount(drawn + trials // 2, minlength=trials + 1)
    kept = expected > 5
    assert counts[~kept].sum() < 60
    assert stats.chisquare(counts[kept], expected[kept] * counts[kept].sum() / expected[kept].sum()).pvalue > 1e-3


def test_all_bits_are_counted(scripted):
    assert centred_binomial(64, (3,), scripted(0, ONE - 1, 0xF0F0)).tolist() == [-32, 32, -24]
    assert centred_binomial(66, (1,), scripted(ONE - 1, ONE - 1)).tolist() == [33]
    assert centred_binomial(66, (1,), scripted(0, (1 << 62) - 1)).tolist() == [-33]


@pytest.mark.parametrize(("epsilon", "categories"), [(0.0, 2), (1.0, 2), (2.0, 5), (1e-9, 100), (30.0, 3)])
def test_the_probability_of_the_truth_is_enclosed(epsilon, categories):
    with mp.workdps(60):
        truth = 1 / (1 + (categories - 1) * mp.e ** (-mp.mpf(epsilon)))
        table = _truth_or_lie(epsilon, categories)
        assert mp.mpf(int(table.low[0])) <= truth * ONE <= mp.mpf(int(table.high[0]) + 1)
        assert int(table.high[0]) - int(table.low[0]) <= 1


def test_responses_follow_the_law(fixed_urandom):
    fixed_urandom(5)
    own = np.repeat([0, 1, 3], 20000)
    drawn = randomized_response(own, epsilon=1.2, categories=4)
    for category in (0, 1, 3):
        counts = np.bincount(drawn[own == category], minlength=4)
        expected = np.ones(4)
        expected[category] = math.exp(1.2)
        assert stats.chisquare(counts, expected / expected.sum() * 20000).pvalue > 1e-3


# Snapping ---------------------------------------------------------------------------------------------------------
@settings(max_examples=150, deadline=None)
@given(
    values=arrays.arrays(np.float64, st.integers(1, 8), elements=st.floats(-1e6, 1e6)),
    bound=st.floats(0.01, 100.0),
    exponent=st.integers(-16, 3),
    rounding=st.sampled_from(ROUNDINGS),
)
def test_a_snapped_contribution_is_within_what_is_stated(values, bound, exponent, rounding):
    step = 2.0**exponent
    steps = snap(clip(values, bound).values, step, rounding, seeded(0))
    limit = norm_in_steps(bound, step, rounding, len(values))
    assert sum(Fraction(int(one)) ** 2 for one in steps) <= limit**2
    if rounding == "towards-zero":
        assert limit == Fraction(bound) / Fraction(step)


@settings(max_examples=150, deadline=None)
@given(value=st.floats(-1e3, 1e3), exponent=st.integers(-8, 3), rounding=st.sampled_from(ROUNDINGS))
def test_snapping_goes_to_a_neighbour_on_the_grid(value, exponent, rounding):
    step = 2.0**exponent
    (found,) = snap(np.array([value]), step, rounding, secure())
    exact = Fraction(value) / Fraction(step)
    if rounding == "towards-zero":
        assert found == math.trunc(exact)
    elif rounding == "nearest":
        assert abs(found - exact) <= Fraction(1, 2)
    else:
        assert found in {math.floor(exact), math.ceil(exact)}


def test_a_stochastic_rounding_is_unbiased_to_62_bits(scripted):
    share = int(Fraction(0.3) * (1 << 62))
    for sign in (1.0, -1.0):
        value = np.array([sign * 0.3])
        assert snap(value, 1.0, "stochastic", scripted(share - 1)).tolist() == [sign * 1]
        assert snap(value, 1.0, "stochastic", scripted(share)).tolist() == [0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: gaussian(0.0, (1,)),
        lambda: gaussian(math.inf, (1,)),
        lambda: laplace(math.nan, (1,)),
        lambda: centred_binomial(3, (1,)),
        lambda: centred_binomial(1 << 21, (1,)),
        lambda: randomized_response(np.array([2]), epsilon=1.0, categories=2),
        lambda: randomized_response(np.array([0.5]), epsilon=1.0, categories=2),
        lambda: randomized_response(np.array([0]), epsilon=-1.0, categories=2),
        lambda: randomized_response(np.array([0]), epsilon=1.0, categories=1),
        lambda: snap(np.array([1.0]), 0.3, "nearest", seeded(0)),
        lambda: snap(np.array([1e300]), 1.0, "nearest", seeded(0)),
        lambda: snap(np.array([math.nan]), 1.0, "nearest", seeded(0)),
        lambda: norm_in_steps(1.0, 1.0, "upwards", 3),
    ],
)
def test_parameters_out_of_range_are_refused(call):
    with pytest.raises(InvalidInput):
        call()

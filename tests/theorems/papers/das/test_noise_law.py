"""The truncated discrete Laplace law against sums, at every size of α and m."""

from __future__ import annotations

import math

import pytest
from mpmath import exp, expm1, log, log1p, mp, mpf

from epsilond.accountants.numerics.truncated_laplace import (
    bits_per_coordinate,
    cumulative,
    extra_bits,
    largest_rate,
    least_levels,
    log_escape,
    log_survival,
    log_top,
    probability,
    variance,
)
from epsilond.accountants.profiles.geometric import GeometricProfile
from epsilond.accountants.theorems.papers.das.noise_law import APPENDIX_F, BITS_AFTER_COROLLARY, LEMMA_1
from epsilond.accountants.theorems.papers.das.truncated_noise import PrintedInputs, true_delta

RATES = (0.0, 1e-12, 1e-6, 1e-3, 0.3, 5.0, 600.0)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("levels", [1, 2, 17, 300])
def test_the_law_by_summation(rate: float, levels: int) -> None:
    with mp.workdps(60):
        weights = {y: exp(-mpf(rate) * abs(y)) for y in range(-levels, levels + 1)}
        total = sum(weights.values())
        truth = sum(w * y * y for y, w in weights.items()) / total
        assert abs(mpf(variance(rate, levels)) / truth - 1) < 1e-15
        for shift in {0, 1, levels // 2, levels, levels + 1, 2 * levels, 2 * levels + 1, 3 * levels + 1}:
            kept = max(2 * levels + 1 - shift, 0)
            top = sum(weights[y] for y in range(levels, levels - min(shift, 2 * levels + 1), -1)) / total
            assert abs(mpf(str(log_top(rate, levels, shift).exp())) - top) <= mpf(10) ** -27 * max(top, mpf(10) ** -27)
            below = sum(weights[y] for y in range(-levels, -levels + kept)) / total
            left = log_survival(rate, levels, [(shift, 2)])
            assert left.is_infinite() if kept == 0 else abs(mpf(str(left)) - 2 * log(below)) < mpf(10) ** -25
        assert abs(mpf(str(cumulative(rate, levels, 0))) - sum(weights[y] for y in range(-levels, 1)) / total) < 1e-27
        assert abs(mpf(str(probability(rate, levels, 1))) * total - weights[1]) < 1e-26
    assert probability(rate, levels, levels + 1) == 0


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("log_each", [-1.0, -30.0, -58.0, -61.0, -150.0, -400.0])
def test_escapes_keep_their_digits(rate: float, log_each: float) -> None:
    """1 − Π (1 − e)^n cancels what e is small by, and survival is next to one: by expm1 and log1p at 250 digits."""
    parts = [(3, 10_000), (1, 1), (2, 10**12)]
    levels = max(int(-log_each / rate), 3)
    with mp.workdps(250):
        edge, ratio = exp(-mpf(rate) * (levels + 1)), mpf(rate)
        scaled = 1 + exp(-ratio) - 2 * edge
        each = [(edge * (exp(ratio * size) - 1) / scaled, count) for size, count in parts]
        survives = sum(count * log1p(-one) for one, count in each)
        truth = log(-expm1(survives))
        lower, upper = (mpf(str(end)) for end in log_escape(rate, levels, parts))
        assert lower <= truth <= upper
        assert upper - lower <= mpf("2.1e-40") + 2 * exp(truth)
        assert abs(mpf(str(log_survival(rate, levels, parts))) / survives - 1) < mpf(10) ** -20


@pytest.mark.erratum("D-6")
def test_the_variance_is_below_that_of_uniform_noise() -> None:
    for levels in (1, 10, 10**6, 10**15, 10**20):
        values = [variance(rate, levels) for rate in RATES]
        assert values == sorted(values, reverse=True)
        found = LEMMA_1.evaluate(LEMMA_1.request(noise_levels=levels, decay_rate=1e-9, quantization_levels=4)).outputs
        assert found["variance"] <= found["uniform_bound"] <= found["popoviciu_bound"]


def test_the_variance_where_the_closed_form_cancels() -> None:
    """α m near 1e-6: in doubles Lemma 1 has no digit left; by expansion V = m(m+1)/3 (1 − αm/4 + …)."""
    levels, rate = 10**6, 1e-12
    assert variance(rate, levels) == pytest.approx(levels * (levels + 1) / 3 * (1 - rate * levels / 4), rel=1e-9)


@pytest.mark.erratum("D-7")
@pytest.mark.compares("das.appendix-f")
def test_bits_in_integers() -> None:
    for s in (1, 4, 63, 64, 2**20, 2**60):
        for m in (1, 3, 9, s, 105205, 2**70):
            t = bits_per_coordinate(s, m)
            assert 2 ** (t - 1) < 2 * (s + m) + 1 <= 2**t
            found = APPENDIX_F.evaluate(APPENDIX_F.inputs(quantization_levels=min(s, 10**15), noise_levels=m)).outputs
            assert found["extra_bits"] <= found["extra_bits_bound"]
    assert extra_bits(2**20, 105205) == 0
    assert APPENDIX_F.evaluate(APPENDIX_F.inputs(**APPENDIX_F.examples[0])).outputs["extra_bits_bound"] == 1


@pytest.mark.erratum("D-1")
def test_the_bits_of_the_corollary_buy_no_privacy() -> None:
    dimension, s, n, ratio = 10000, 100, 1000, 2.0
    moved = 15 * math.exp(0.25) * ratio / n
    inputs = PrintedInputs(
        epsilon=0.1,
        dimension=dimension,
        l1_sensitivity=2 * dimension + moved * s * math.sqrt(dimension),
        linf_sensitivity=2 + moved * s,
    )
    levels = math.floor(6 + 50 * ratio * s / n)
    assert true_delta(inputs, levels).log_one_minus_delta < -100.0
    fails = BITS_AFTER_COROLLARY.inputs(**{**BITS_AFTER_COROLLARY.examples[0], "samples_per_client": 99})
    assert [one.holds for one in BITS_AFTER_COROLLARY.evaluate(fails).conditions] == ["no"]


@pytest.mark.parametrize("log_delta", [-0.7, -14.0, -700.0, -693147.1805599453])
@pytest.mark.parametrize("parts", [[(1, 1)], [(128, 10**9)], [(53, 84847), (50, 1)]])
def test_the_least_levels_are_the_least(log_delta: float, parts: list[tuple[int, int]]) -> None:
    rate = largest_rate(0.3, sum(size * count for size, count in parts))
    levels = least_levels(rate, parts, log_delta)
    assert log_escape(rate, levels, parts).upper <= log_delta < log_escape(rate, levels - 1, parts).lower


def test_levels_beyond_every_double_in_the_engine_too() -> None:
    """Escapes at m = 9e19, where m − 128 is not a double: integers are counted before anything is rounded."""
    parts = [(128, 1)]
    for levels in (2**53 + 1, 88722839022950177924):
        rate = 7e5 / levels
        truth = float(log_escape(rate, levels, parts).upper)
        found = GeometricProfile(rate, 128, levels).log_infinite_mass
        assert truth <= found <= truth + 1e-9


def test_the_rate_is_the_largest_double() -> None:
    for epsilon, total in ((0.3, 128), (10.0, 4496941), (1.0, 3), (7.0, 10**15 - 1)):
        rate = largest_rate(epsilon, total)
        exact = mpf(epsilon) / total
        with mp.workdps(40):
            assert mpf(rate) * total <= mpf(epsilon) < mpf(math.nextafter(rate, 1.0)) * total
            assert rate == pytest.approx(float(exact), rel=1e-15)
